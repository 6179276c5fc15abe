// Package ci tells systems for continuous integration which gates a run has missed: as JUnit XML,
// which all of them read, and in the log of a job as GitHub Actions and GitLab show it best.
package ci

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/result"
)

// Suite is one run, or one comparison, as a suite of tests: its verdict and its gates.
type Suite struct {
	Name    string
	Started time.Time
	Seconds float64
	Verdict *result.Verdict // nil means it has none
	Gates   []result.Gate
	// Result is that of a search for the capacity, whose response is a test; nil means it was none.
	Result *result.Result
	Broken string // why there is no result; empty: there is one
}

// SuiteOf is the suite of a result.
func SuiteOf(name string, res *result.Result) Suite {
	s := Suite{Name: name, Started: res.Started, Seconds: res.Duration, Verdict: &res.Verdict, Gates: res.Gates}
	if res.Capacity != nil {
		s.Result = res
	}
	return s
}

// Missed reports whether a gate of any suite is missed.
func Missed(suites []Suite) bool {
	return slices.ContainsFunc(suites, func(s Suite) bool { return result.CountMissed(s.Gates) > 0 })
}

// name is what a gate is called among those of its suite.
func (s *Suite) name(g *result.Gate) string {
	if result.SeveralLevels(s.Gates) && g.Where != "" {
		return g.Condition() + " [" + g.Where + "]"
	}
	return g.Condition()
}

func found(g *result.Gate) string {
	notes := strings.Join(g.Notes(), "; ")
	if g.Absent {
		return line(notes)
	}
	text := "measured " + g.Found()
	if g.Where != "" {
		text += " at " + g.Where
	}
	if notes != "" {
		text += " (" + notes + ")"
	}
	return line(text)
}

// invalid says what is wrong with a verdict; empty: nothing.
func invalid(v *result.Verdict) (title, text string) {
	if v == nil || v.Valid {
		return "", ""
	}
	texts := slices.Concat(v.Reasons, v.Undecided)
	if v.Summary != "" {
		texts = append([]string{v.Summary}, texts...)
	}
	return strings.ToUpper(v.Status), strings.Join(texts, "\n")
}

func line(text string) string { return strings.Join(strings.Fields(text), " ") }

func more(n int) string { return number.Plural(int64(n), "more gate") + " missed: see the log" }

// xmlProperties are what else there is to know of a suite, by name.
type xmlProperties struct {
	List []xmlProperty `xml:"property"`
}

type xmlProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// properties are the figures of a search for the capacity.
func properties(r *result.Result) *xmlProperties {
	p := &xmlProperties{}
	for _, f := range r.CapacityFigures() {
		name := "capacity"
		if f.Stat != "value" {
			name += "." + f.Stat
		}
		p.List = append(p.List, xmlProperty{name, strconv.FormatFloat(f.Value, 'f', -1, 64)})
	}
	p.List = append(p.List, xmlProperty{"capacity.unit", r.Capacity.Unit}, xmlProperty{"capacity.outcome", r.Capacity.Outcome})
	return p
}

// searched is the response of a search as a test: it fails where no load meets the objectives, which
// is an objective that is missed.
func searched(r *result.Result) xmlCase {
	text := line(r.Capacity.Sentence)
	c := xmlCase{Name: "capacity", Time: "0", Out: text}
	if r.Capacity.Value == 0 {
		c.Failure = &xmlText{Message: text, Type: "capacity", Text: r.Capacity.Outcome + ": " + text}
	}
	return c
}
