// Package report prints a comparison for people: on a screen and as Markdown.
package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/compare"
	"github.com/inferometer/inferometer/internal/lib/number"
)

// line is a row of a table in words.
type line struct {
	name       string // with its unit, unless that goes without saying
	stat       string
	a, b       string
	difference string
	interval   string
	p          string
	verdict    string
	longer     string // how many times as long to run; empty: it was long enough
}

// columns are the titles of a line's parts.
func columns(c *compare.Comparison, t *compare.Table) line {
	confidence := number.Percent(c.Confidence)
	longer := "longer"
	if t.Method == compare.ByRuns || t.Method == compare.ByPairs {
		longer = "runs"
	}
	return line{
		a: c.Sides[0].Name, b: c.Sides[t.Side].Name, difference: "diff", interval: confidence + " interval", p: "p",
		longer: longer + " for " + number.Percent(c.Size),
	}
}

// lineOf puts a row into words.
func lineOf(r *compare.Row) line {
	l := line{name: r.Name, stat: r.Stat, verdict: r.Verdict}
	lo, hi := math.Inf(1), 0.0
	for _, f := range []*compare.SideStat{r.A, r.B} {
		if f != nil {
			lo, hi = min(lo, f.Value), max(hi, f.Value)
		}
	}
	scale := number.ScaleForAll(r.Unit, lo, hi)
	l.a, l.b = figure(scale, r.A), figure(scale, r.B)
	if u := scale.Unit; u != "" && u != "tokens" && !strings.HasSuffix(r.Name, "/s") && !strings.HasPrefix(r.Name, "$") {
		l.name += ", " + u
	}
	switch {
	case r.Client:
		l.verdict = "~!"
	case r.Verdict == compare.NoneSeen:
		l.verdict = "~"
	case r.Verdict == compare.NotKnown:
		l.verdict = "?"
	case r.Chance:
		l.verdict += "?"
	}
	d := r.Delta
	if d == nil {
		return l
	}
	value, unit := signed(d.Value, d.Relative, scale)
	l.difference = strings.TrimSpace(value + " " + unit)
	if i := d.Interval; i != nil {
		lo, unit := signed(i.Lo, i.RelativeLo, scale)
		hi, _ := signed(i.Hi, i.RelativeHi, scale)
		l.interval = strings.TrimSpace(lo + " to " + hi + " " + unit)
	}
	if d.P != nil {
		l.p = fmt.Sprintf("%.3f", *d.P)
		if *d.P < 0.0005 {
			l.p = "<0.001"
		}
	}
	if d.Longer != nil && *d.Longer > 1 {
		l.longer = times(*d.Longer)
	}
	return l
}

// figure is a value with how far runs are apart.
func figure(scale number.Scale, f *compare.SideStat) string {
	if f == nil {
		return "-"
	}
	text := number.AtLeast(scale.FormatOwn(f.Value), f.AtLeast)
	if f.Spread != nil && f.Value != 0 {
		text += " ±" + number.Percent(round(f.Spread.Std/math.Abs(f.Value)))
	}
	return text
}

// signed is a difference with its sign, and its unit: as a share of the first side or, where
// that is nothing or is itself a share, in the unit of the row.
func signed(v float64, relative *float64, scale number.Scale) (text, unit string) {
	if relative != nil && scale.Unit != "%" {
		return percent(*relative * 100), "%"
	}
	if scale.Unit == "%" {
		return percent(v * 100), "points"
	}
	if text = scale.FormatOwn(v); v > 0 {
		text = "+" + text
	}
	return text, scale.Unit
}

// percent is a number of per cent with its sign, and two digits or so.
func percent(p float64) string {
	digits := 1
	switch size := math.Abs(p); {
	case size < 0.005:
		return "0"
	case size < 1:
		digits = 2
	case size >= 100:
		digits = 0
	}
	return fmt.Sprintf("%+.*f", digits, p)
}

// round leaves two digits of a share.
func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }

// times is a factor in a table.
func times(n float64) string {
	switch {
	case n >= 1000:
		return ">1000x"
	case n >= 10:
		return fmt.Sprintf("%.0fx", n)
	}
	return fmt.Sprintf("%.1fx", n)
}

// about says what is compared at a load: "8 in flight: 64 requests in 5.4 s, 63 requests in 5.3 s".
func about(c *compare.Comparison, l *compare.Load, t *compare.Table) string {
	var parts []string
	for _, s := range l.Sides {
		if s.Side != 0 && s.Side != t.Side {
			continue
		}
		text := c.Sides[s.Side].Name + " " + number.Plural(s.OK+s.Failed+s.UserCancelled, "request")
		if s.Seconds > 0 {
			text += " in " + number.Seconds(s.Seconds)
		}
		if s.UserCancelled > 0 {
			text += ", " + number.Count(s.UserCancelled) + " cancelled by their users"
		}
		if s.Failed > 0 {
			text += ", " + number.Count(s.Failed) + " failed"
		}
		if n := runs(s.Stages); len(s.Stages) > 1 {
			text += fmt.Sprintf(" (%d runs)", n)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

func runs(stages []int) (n int) {
	for _, s := range stages {
		if s >= 0 {
			n++
		}
	}
	return n
}

func legend(t *compare.Table) string {
	var none, client, unknown bool
	for i := range t.Rows {
		none = none || t.Rows[i].Verdict == compare.NoneSeen && !t.Rows[i].Client
		client = client || t.Rows[i].Client
		unknown = unknown || t.Rows[i].Verdict == compare.NotKnown
	}
	var parts []string
	if none {
		parts = append(parts, "~ no difference found")
	}
	if client {
		parts = append(parts, "~! the interval leaves out 0, but the clients' own delays can have made the difference (the error bars of both sides overlap)")
	}
	if unknown {
		parts = append(parts, "? not known")
	}
	return strings.Join(parts, ", ")
}

// method says what intervals are made of, where that has to be known.
func method(t *compare.Table) string {
	switch t.Method {
	case compare.ByRequests:
		return "Intervals are made of the requests of these runs. What changes from one run to the next is not in them: repeat runs (--repeat), or alternate the sides (--ab)."
	case compare.ByPrompts:
		return fmt.Sprintf("Both sides answered the same %s: differences are those prompt by prompt, not those of the figures of all requests beside them, and what the prompts themselves make of a figure is in no interval but those of rates. What changes from one run to the next is not in them: repeat runs (--repeat), or alternate the sides (--ab).",
			number.Plural(int64(t.Prompts), "prompt"))
	case compare.ByRuns:
		return "Figures are means over the runs of a side, ± their standard deviation; intervals are made of the runs (Welch)."
	case compare.ByPairs:
		return "Figures are means over rounds, ± their standard deviation; intervals are made of the differences within rounds."
	}
	return ""
}

// notes are what has to be known of sides, each once with the sides that it is about.
func notes(c *compare.Comparison) []string {
	var texts []string
	about := map[string][]string{}
	for _, s := range c.Sides {
		for _, r := range s.Runs {
			for _, n := range r.Notes {
				if about[n] == nil {
					texts = append(texts, n)
				}
				if !slices.Contains(about[n], s.Name) {
					about[n] = append(about[n], s.Name)
				}
			}
		}
	}
	for i, n := range texts {
		texts[i] = "note on " + strings.Join(about[n], ", ") + ": " + n
	}
	return texts
}

// clash is a difference between plans in words.
func clash(c *compare.Comparison, d compare.Clash) string {
	return fmt.Sprintf("%s: %s for %s, %s for %s", d.Field, d.First, c.Sides[0].Name, d.Other, c.Sides[d.Side].Name)
}

// first is how many doubts stand ahead of everything: that loads differ.
func first(c *compare.Comparison) int {
	if c.SameLoads() || len(c.Doubts) == 0 {
		return 0
	}
	return 1
}

// more is a number of runs that are not listed.
func more(n int) string {
	if n == 1 {
		return "1 more run"
	}
	return fmt.Sprintf("%d more runs", n)
}
