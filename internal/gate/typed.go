package gate

import (
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/pattern"
	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/metric"
)

// typed takes a figure as users type it apart: ttft.p99, ttft_p99, "ttft p99", "p99 ttft" and
// p99(ttft) are all the same. dot: a statistic was given, which may be one that there is not.
func typed(text string) (name, stat string, dot bool) {
	if _, ok := Named(text); ok {
		return text, "", false
	}
	if name, stat, dot = strings.Cut(text, "."); dot {
		if _, ok := Named(name); ok {
			return name, stat, true
		}
	}
	if inner, ok := strings.CutSuffix(text, ")"); ok {
		if stat, name, ok := strings.Cut(inner, "("); ok && isStat(stat) {
			return strings.TrimSpace(name), strings.TrimSpace(stat), true
		}
	}
	const between = "_- :."
	if i := strings.IndexAny(text, between); i > 0 && isStat(text[:i]) {
		return strings.Trim(text[i:], between), text[:i], true
	}
	// The last part; that of p99.9 has a point.
	for i := len(text) - 1; i > 0; i-- {
		if strings.IndexByte(between, text[i]) >= 0 && isStat(text[i+1:]) {
			return strings.Trim(text[:i], between), text[i+1:], true
		}
	}
	return strings.Cut(text, ".")
}

// percentile is what one looks like, whether it is measured or not.
var percentile = pattern.New(`^[pP][0-9]+(?:\.[0-9]+)?$`)

// isStat reports whether a word is a statistic, or looks like one.
func isStat(word string) bool {
	word = strings.TrimSpace(word)
	return statOf(word) != "" || percentile().MatchString(word)
}

// unknownStat says which statistic was probably meant.
func unknownStat(name string) error {
	if !percentile().MatchString(name) {
		return faultf(suggest.Hint(name, Stats()), "%s is not a statistic", quote(name))
	}
	list := metric.Percentiles()
	digits := strings.ReplaceAll(name[1:], ".", "")
	if i := slices.IndexFunc(list, func(p metric.Percentile) bool { return strings.ReplaceAll(p.Name[1:], ".", "") == digits }); i >= 0 {
		return faultf("did you mean "+list[i].Name+"?", "%s is not measured", quote(name)) // p999
	}
	var names []string
	for _, p := range list {
		names = append(names, p.Name)
	}
	return faultf("measured are "+strings.Join(names, ", "), "%s is not measured", quote(name))
}

// shareOfAll refuses a plain 1 as a share: it is all of them to this program and one in a hundred to
// whoever leaves the per cent sign out.
func (g *Gate) shareOfAll(n float64, suffix string) error {
	switch {
	case g.Unit != Share || g.Interval:
		return nil
	case suffix == "" && n == 1 && g.signed:
		return faultf("write +1% of the first side's share, or +1pp for a percentage point", "1 is all of them")
	case suffix == "" && n == 1 && (g.Metric.Lower || g.Op == More):
		return faultf("did you mean 1%? write 100% for all", "1 is all of them")
	case !g.signed && g.Op == More && (suffix == "%" && n >= 100):
		return faultf("use a bound below 100%", "no share is more than all of them")
	}
	return nil
}
