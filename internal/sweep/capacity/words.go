package capacity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

func (a *Result) unseen(levels []Trial) string {
	if len(levels) == 0 {
		return "no level was measured"
	}
	if f := a.failures(); f != "" {
		return f
	}
	return "no level had enough requests"
}

func (s *Search) sentence(a *Result, st *story, e *estimate) string {
	var b strings.Builder
	b.WriteString(a.loads(a.Value))
	if a.Requests > 0 {
		fmt.Fprintf(&b, " (%s requests/s)", short(a.Requests))
	}
	if a.Held > 0 {
		fmt.Fprintf(&b, " held for %s s; 95 %% between %s and %s", short(a.Held), short(a.Lo), short(a.Hi))
	} else {
		fmt.Fprintf(&b, ", 95 %% between %s and %s", short(a.Lo), short(a.Hi))
	}
	if a.Value == 0 { // of integers: less than one
		b.Reset()
		fmt.Fprintf(&b, "Less than %s, 95 %% below %s", a.loads(1), short(a.Hi+1))
	}
	switch m := a.Misses; {
	case m == nil:
	case m.breaks:
		fmt.Fprintf(&b, "; breaks at %s", short(m.Load))
	default:
		fmt.Fprintf(&b, "; at %s %s", short(m.Load), m.text)
	}
	b.WriteString(".")
	if a.Held == 0 && s.Hold > 0 && a.Value > 0 {
		if last := element(st.failed, len(st.failed)-1); last != nil {
			fmt.Fprintf(&b, " It was not held: %s was tried, and missed.", short(last.Load))
		} else {
			b.WriteString(" It was not held: there was no time left for that.")
		}
	}
	if c := st.contrary; c != nil {
		fmt.Fprintf(&b, " %s met the objectives for %s s, and %s missed them: what is met for a short time is not held.", short(c.met.Load), short(c.met.Seconds), short(c.missed.Load))
	}
	if !a.Precise {
		fmt.Fprintf(&b, " The search ended before the interval was within %s %%.", strconv.FormatFloat(100*s.Precision, 'g', 3, 64))
	}
	switch a.Unsteady = s.unsteady(st.counts, e); {
	case a.Unsteady != "":
	case st.lost:
		a.Unsteady = "it did not come back after an overload"
	case st.changes > 1:
		a.Unsteady = "it changed again and again"
	}
	if a.Unsteady != "" {
		fmt.Fprintf(&b, " The server was not steady: %s.", a.Unsteady)
	}
	return b.String()
}

func (s *Search) also(a *Result, st *story) string {
	var b strings.Builder
	if a.Changed != "" {
		fmt.Fprintf(&b, " The server changed during the search: %s. Only what came after that counts.", a.Changed)
	}
	if r := a.Relapse; r != nil {
		fmt.Fprintf(&b, " After %s it did not recover at %s", a.loads(r.Load), short(r.Stays))
		switch {
		case r.Lost:
			b.WriteString(", nor after a rest.")
		case r.Recovers > 0:
			fmt.Fprintf(&b, "; it recovered below that, at %s.", short(r.Recovers))
		default:
			fmt.Fprintf(&b, "; it recovered after %s s without requests.", short(r.Rest))
		}
	}
	if f := a.failures(); f != "" && a.Outcome != Unknown {
		fmt.Fprintf(&b, " %s.", f)
	}
	return b.String()
}

// failures says how requests failed most, and how often.
func (a *Result) failures() string {
	var worst *Trial
	for i := range a.Levels {
		if l := &a.Levels[i]; l.Failed > 0 && (worst == nil || l.Failed > worst.Failed) {
			worst = l
		}
	}
	if worst == nil {
		return ""
	}
	return fmt.Sprintf("%d of %d requests failed at %s: %s", worst.Failed, worst.Requests, a.loads(worst.Load), worst.Failure)
}

func (a *Result) loads(v float64) string {
	if v == 1 {
		return "1 " + strings.Replace(a.Unit, "requests", "request", 1)
	}
	return short(v) + " " + a.Unit
}

// short writes a load with the digits that matter.
func short(v float64) string {
	if v >= 1000 {
		return strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// Amount writes a figure with its unit.
func Amount(v float64, unit string) string {
	switch unit {
	case "share":
		return short(100*v) + " %"
	case "":
		return short(v)
	}
	return short(v) + " " + unit
}

// Says is what a level showed, in a few words: whether it meets the objectives, the share of samples
// that missed, and what it was for.
func (l *Trial) Says(goals []Objective) string {
	parts := []string{l.Met}
	worst, share := 0.0, 0.0
	for j := range l.Seen {
		if o := element(goals, j); o != nil && o.Allowed > 0 && l.Met != Yes && l.Seen[j].Share/o.Allowed > max(worst, 1) {
			worst, share = l.Seen[j].Share/o.Allowed, l.Seen[j].Share
		}
	}
	if worst > 0 {
		parts = append(parts, Amount(share, "share")+" missed")
	}
	if l.Cut {
		parts = append(parts, "ended early")
	}
	switch {
	case l.Unused != "":
		parts = append(parts, "not counted")
	case l.Kind == Hold:
		parts = append(parts, "hold")
	case l.Kind == Recovery:
		parts = append(parts, "after an overload")
	}
	return strings.Join(parts, ", ")
}
