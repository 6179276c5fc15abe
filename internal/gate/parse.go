package gate

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/inferometer/inferometer/internal/lib/pattern"
	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
)

// longest is the most characters of an expression; real ones are shorter.
const longest = 500

// example is the hint where an expression is not one.
const example = "write it as 'ttft.p99 > 200ms' or 'goodput < 95%'"

// Parse reads one expression.
func Parse(text string) (*Gate, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return nil, faultf(example, "is empty")
	case len(text) > longest:
		return nil, faultf(example, "has %d characters, more than %d", len(text), longest)
	case strings.ContainsFunc(text, unicode.IsControl):
		return nil, faultf(example, "%s has control characters", quote(text))
	}
	g := &Gate{Text: text}
	rest, err := g.level(text)
	if err != nil {
		return nil, err
	}
	left, right, err := g.compare(rest)
	if err != nil {
		return nil, err
	}
	if err := g.figure(left); err != nil {
		return nil, err
	}
	if err := g.value(right); err != nil {
		return nil, err
	}
	return g, nil
}

// Read reads a condition of a plan or of a command line.
func Read(c plan.Condition) (*Gate, error) {
	if c.Unless {
		return ParseUnless(c.Text)
	}
	return Parse(c.Text)
}

// ParseUnless reads an expression that must be shown to hold: all of its figure's interval must be
// on the side of the bound that it says.
func ParseUnless(text string) (*Gate, error) {
	g, err := Parse(text)
	if err != nil {
		return nil, err
	}
	if g.Interval {
		return nil, faultf("use --fail-if", "%s is about an interval, of which nothing is to be shown", quote(g.Text))
	}
	if err := g.estimable(); err != nil {
		return nil, err
	}
	g.Unless = true
	return g, nil
}

// level reads "at rate 40:" and gives what follows it.
func (g *Gate) level(text string) (string, error) {
	word, rest, _ := strings.Cut(text, " ")
	if !strings.EqualFold(word, "at") {
		return text, nil
	}
	const usage = "write it as 'at rate 40: ttft.p99 > 200ms', with concurrency or stage for rate"
	kind, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
	rest = strings.TrimSpace(rest)
	var name string
	if quoted, err := strconv.QuotedPrefix(rest); err == nil && quoted[0] != '`' {
		name, err = strconv.Unquote(quoted)
		if err != nil { // a name in single quotes of more than one character
			return "", faultf(usage, "%s is not a name", quote(quoted))
		}
		rest = strings.TrimSpace(rest[len(quoted):])
		if !strings.HasPrefix(rest, ":") {
			return "", faultf(usage, "missing ':' after the level")
		}
		rest = rest[1:]
	} else {
		var ok bool
		if name, rest, ok = strings.Cut(rest, ":"); !ok {
			return "", faultf(usage, "missing ':' after the level")
		}
		name = strings.TrimSpace(name)
	}
	if name == "" {
		return "", faultf(usage, "the level has no value")
	}
	kinds := []string{"rate", "concurrency", "stage"}
	switch kind = strings.ToLower(kind); kind {
	case "rate":
		v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(name, "/s")), 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return "", faultf(usage, "%s is not a rate", quote(name))
		}
		g.At.Rate = v
	case "concurrency":
		n, err := strconv.Atoi(name)
		if err != nil || n < 1 {
			return "", faultf(usage, "%s is not a concurrency", quote(name))
		}
		g.At.Concurrency = n
	case "stage":
		g.At.Stage = name
	default:
		return "", faultf(suggest.Hint(kind, kinds), "%s is not a kind of level", quote(kind))
	}
	return strings.TrimSpace(rest), nil
}

// compare takes an expression apart at its comparison.
func (g *Gate) compare(text string) (left, right string, err error) {
	i := strings.IndexAny(text, "<>=!≤≥")
	if i < 0 {
		return "", "", faultf(example, "%s has no right-hand side", quote(text))
	}
	left, right = strings.TrimSpace(text[:i]), text[i:]
	n := len(right) - len(strings.TrimLeft(right, "<>=!≤≥"))
	op := right[:n]
	right = strings.TrimSpace(right[n:])
	switch op {
	case "≤", "=<":
		op = string(AtMost)
	case "≥", "=>":
		op = string(AtLeast)
	case "=", "==", "!=", "<>":
		return "", "", faultf("use >, >=, < or <=", "%s: measured figures are never quite equal", quote(op))
	}
	switch g.Op = Op(op); {
	case g.Op != More && g.Op != AtLeast && g.Op != Less && g.Op != AtMost:
		return "", "", faultf("use >, >=, < or <=", "%s is not a comparison", quote(op))
	case strings.ContainsAny(right, "<>=!≤≥"):
		return "", "", faultf("give one for each", "%s compares more than once", quote(text))
	case left == "" || right == "":
		return "", "", faultf(example, "%s lacks a side", quote(text))
	}
	return left, right, nil
}

// figure reads "ttft.p99", "goodput" or "ci(ttft.p99)".
func (g *Gate) figure(text string) error {
	if inner, ok := strings.CutPrefix(strings.ToLower(text), "ci"); ok && strings.HasPrefix(strings.TrimSpace(inner), "(") {
		inner = strings.TrimSpace(inner)
		if !strings.HasSuffix(inner, ")") {
			return faultf("write it as 'ci(ttft.p99) > 5%'", "%s has no closing bracket", quote(text))
		}
		g.Interval = true
		text = strings.TrimSpace(inner[1 : len(inner)-1])
	}
	name, stat, dot := typed(text)
	var ok bool
	if g.Metric, ok = Named(name); !ok {
		if startsNumber(text) {
			return faultf(example, "%s is not a metric; write METRIC OP VALUE", quote(text))
		}
		return unknownMetric(name)
	}
	g.Unit = g.Metric.Unit
	g.Stat = statOf(stat)
	switch {
	case !g.Metric.Spread && (!dot || g.Stat == "avg"):
		g.Stat = "avg"
	case !g.Metric.Spread:
		return faultf("leave ."+stat+" out", "%s is one number and has no %s", g.Metric.Short, quote(stat))
	case stat == "":
		return faultf("such as "+g.Metric.Short+".p99 or "+g.Metric.Short+".avg", "%s needs a statistic", g.Metric.Short)
	case g.Stat == "":
		return unknownStat(stat)
	}
	if g.Interval {
		return g.estimable()
	}
	return nil
}

// estimable finds whether the gate is about a figure that has no confidence interval.
func (g *Gate) estimable() error {
	switch {
	case g.Stat == "min" || g.Stat == "max" || g.Stat == "std":
		return faultf("use avg or a percentile", "there is no confidence interval of %s", g.Stat)
	case g.Metric.ID == Capacity && !g.Interval:
	case !g.Metric.Spread && !slices.Contains(estimated(), g.Metric.ID):
		return faultf("of the metrics that are one number, rps, tps, goodput and errors have one", "there is no confidence interval of %s", g.Metric.Short)
	}
	return nil
}

// digits are what a value begins with.
var digits = pattern.New(`^[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?`)

func startsNumber(text string) bool { return digits().MatchString(strings.TrimLeft(text, "+-$ ")) }

func (g *Gate) value(text string) error {
	rest, sign := text, 1.
	if c := rest[0]; c == '+' || c == '-' {
		g.signed = true
		if c == '-' {
			sign = -1
		}
		rest = strings.TrimSpace(rest[1:])
	}
	rest, dollar := strings.CutPrefix(rest, "$")
	figure := digits().FindString(rest)
	if figure == "" {
		return faultf(example, "%s is not a value", quote(text))
	}
	n, err := strconv.ParseFloat(figure, 64)
	if err != nil || math.IsInf(n, 0) {
		return faultf(example, "%s is not a value", quote(text))
	}
	suffix := strings.TrimSpace(rest[len(figure):])
	switch {
	case dollar:
		suffix = "$" + suffix
	case strings.HasPrefix(suffix, ","):
		return faultf("write thousands without commas, and one gate for each condition", "%s is not a value", quote(text))
	}
	points := g.signed && suffix == "pp" && g.Unit == Share // percentage points
	switch percent := suffix == "%"; {
	case g.Interval && g.signed:
		return faultf("leave the sign out", "an interval has no direction")
	case g.Interval || g.signed && percent:
		g.Unit = Share
	case percent && g.Unit != Share:
		unit := g.Unit
		if unit == load {
			unit = "requests/s or in flight"
		}
		return faultf("give a value in "+unit+", or a sign (+"+plain(n)+"%) to compare two runs", "%s of what?", quote(text))
	}
	if err := g.shareOfAll(n, suffix); err != nil {
		return err
	}
	g.percent = g.signed && suffix == "%"
	if points {
		suffix = "%"
	}
	g.Bound, err = inUnit(sign*n, suffix, g.Unit)
	return err
}

// plain writes a number with no more digits than it has.
func plain(v float64) string {
	if math.Abs(v) >= 1e15 {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// quote shows a piece of an expression, cut to a length that fits a line.
func quote(s string) string { return strconv.Quote(truncate.Text(s, 60)) }

// scales are the ways to write a value of a unit: what is behind the number, and what it makes
// of it. The empty one is a plain number.
func scales(unit string) map[string]float64 {
	switch unit {
	case metric.Milliseconds:
		return map[string]float64{"ms": 1, "s": 1e3, "us": 1e-3, "µs": 1e-3, "μs": 1e-3, "min": 60e3}
	case Share:
		return map[string]float64{"": 1, "%": 0.01}
	case metric.RequestRate:
		return map[string]float64{"": 1, "/s": 1, "rps": 1, "req/s": 1, "requests/s": 1, unit: 1, "/min": 1. / 60}
	case load:
		return map[string]float64{"": 1, "/s": 1, "rps": 1, "req/s": 1, "requests/s": 1, "sessions/s": 1, "in flight": 1, "requests in flight": 1}
	case metric.TokenRate:
		return map[string]float64{"": 1, "/s": 1, "tps": 1, "tok/s": 1, "tokens/s": 1, unit: 1}
	case metric.UserRate:
		return map[string]float64{"": 1, "/s": 1, "tokens/s": 1, "tokens/s/user": 1, unit: 1}
	}
	// Any other unit is written as it stands, by its first part ("$" of "$/1M tokens"), or left
	// out; joules and watts have their thousands.
	list := map[string]float64{"": 1, unit: 1}
	base, _, _ := strings.Cut(unit, "/")
	if rate, _, cut := strings.Cut(unit, "/sec"); cut {
		list["/s"], list[rate+"/s"] = 1, 1
	} else {
		list[base] = 1
	}
	if base == "J" || base == "W" {
		list["k"+base], list["M"+base] = 1e3, 1e6
	}
	return list
}

// inUnit is a number with what was written behind it, in the unit of a metric.
func inUnit(n float64, suffix, unit string) (float64, error) {
	all := scales(unit)
	scale, ok := all[suffix]
	if !ok {
		scale, ok = all[strings.ToLower(suffix)]
	}
	ways := slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(s string) bool { return s == "" || s == "μs" })
	switch {
	case !ok && suffix == "":
		return 0, faultf("such as "+plain(n)+"ms", "%s has no unit", plain(n))
	case !ok:
		return 0, faultf("one of "+strings.Join(ways, ", "), "%s is not a unit of %s", quote(suffix), unit)
	case unit == Share && suffix == "" && (n > 1 || n < -1):
		return 0, faultf("write "+plain(n)+"% for per cent", "%s is more than 1, which is all of them", plain(n))
	}
	return n * scale, nil
}
