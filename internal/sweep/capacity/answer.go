package capacity

import (
	"fmt"
	"math"
	"slices"
)

// Result is what a search has found.
type Result struct {
	By       string      `json:"by"`   // Rate or Concurrency
	Unit     string      `json:"unit"` // of loads
	Outcome  string      `json:"outcome"`
	Sentence string      `json:"sentence"`
	Value    float64     `json:"value"` // the highest load that meets all objectives; 0: there is none
	Lo       float64     `json:"lo"`    // between what it lies with 95 % confidence
	Hi       float64     `json:"hi"`    // 0: no load was missed
	Precise  bool        `json:"precise"`
	Requests float64     `json:"requests_per_s,omitempty"` // of sessions, at the value
	Held     float64     `json:"held,omitempty"`           // seconds for which the value was held; 0: it was not
	Needs    float64     `json:"needs,omitempty"`          // seconds that a search takes that knows enough; 0: this one does
	Doubt    string      `json:"doubt,omitempty"`          // why the answer is more than was seen; empty: it is not
	Unsteady string      `json:"unsteady,omitempty"`       // why the server was not; empty: it was
	Changed  string      `json:"changed,omitempty"`        // how the server did during the search; empty: it did not
	Misses   *Miss       `json:"misses,omitempty"`
	Relapse  *Relapse    `json:"recovery,omitempty"` // what an overload does to the server for longer than it lasts
	Flat     *Flat       `json:"flat,omitempty"`     // what is missed whatever the load
	Goals    []Objective `json:"objectives"`
	Levels   []Trial     `json:"levels"` // in the order they were run
}

// Miss is the lowest load above the answer at which an objective is missed.
type Miss struct {
	Load   float64 `json:"load"`
	Figure string  `json:"figure,omitempty"` // empty: the server did not keep up
	By     float64 `json:"by,omitempty"`     // how far beyond the bound
	Unit   string  `json:"unit,omitempty"`
	text   string
	breaks bool // the server does not keep up
}

// The kinds of load.
const (
	Rate        = "rate"
	Concurrency = "concurrency"
)

// The outcomes of a search.
const (
	Found   = "found"
	Never   = "missed at every load"
	Always  = "met at every load"
	Unknown = "not known"
)

type estimate struct {
	value, lo, hi float64
	near          int  // levels around it
	done          bool // precise enough
	belief        *posterior
}

// together is how many intervals make one that ends a search: those after the last levels.
const together = 3

// estimate works out the capacity from levels of which some meet the objectives and some do not.
// A search ends when its interval is narrow, and some are so by chance: one that is narrow spans
// what was believed after the last few levels.
func (s *Search) estimate(levels []Trial) *estimate {
	a := s.after(levels)
	if !s.narrow(a) {
		return a
	}
	for k := 1; k < min(together, len(levels)); k++ {
		before := levels[:len(levels)-k]
		if lo, hi := bracket(before); lo == nil || hi == nil {
			return a
		}
		b := s.after(before)
		a.lo, a.hi = min(a.lo, b.lo), max(a.hi, b.hi)
	}
	a.done = s.narrow(a)
	return a
}

// narrow reports whether an interval is as narrow as is asked for.
func (s *Search) narrow(a *estimate) bool {
	if a.near < fewest {
		return false
	}
	return (a.hi-a.lo)/2 <= s.Precision*a.value || s.Whole && math.Floor(a.lo) == math.Floor(a.hi)
}

// after is what is known of the capacity after the last of these levels.
func (s *Search) after(levels []Trial) *estimate {
	b := s.believe(levels)
	a := &estimate{value: b.quantile(0.5), lo: b.quantile(0.025), hi: b.highest(0.975), belief: b}
	for i := range levels {
		if math.Abs(math.Log(levels[i].Load/a.value)) < near/2 {
			a.near++
		}
	}
	// How far levels differ is itself known from a few levels only, as with Student's t.
	w := widen(a.near)
	a.lo, a.hi = a.value*math.Pow(a.lo/a.value, w), a.value*math.Pow(a.hi/a.value, w)
	return a
}

// widen is how many times as wide an interval is because so few levels are near the answer.
func widen(near int) float64 { return 1 + 3.3/float64(near+1) }

// Answer is what the levels show, which Judge has seen.
func (s *Search) Answer(levels []Trial) *Result {
	a := &Result{By: Rate, Unit: "requests/s", Outcome: Unknown, Goals: s.Objectives, Levels: slices.Clone(levels)}
	switch {
	case s.Whole:
		a.By, a.Unit = Concurrency, "requests in flight"
	case s.Sessions:
		a.Unit = "sessions/s"
	}
	st := s.story(levels)
	for i := range a.Levels {
		a.Levels[i].Unused = st.unused[a.Levels[i].Stage]
	}
	a.Relapse, a.Changed = st.relapse, st.changed
	lo, hi := bracket(st.counts)
	a.Flat = s.flat(st.counts)
	switch {
	case a.Flat != nil:
		s.never(a, st)
	case lo == nil && hi == nil:
		a.Sentence = "The capacity is not known: " + a.unseen(levels) + "."
	case lo == nil:
		a.Outcome, a.Hi, a.Misses = Never, hi.Load, s.miss(st.counts, 0)
		a.Sentence = fmt.Sprintf("No load was found that meets the objectives: even at %s, the lowest that was tried, %s.", a.loads(hi.Load), a.Misses.text)
	case hi == nil:
		s.always(a, st, lo)
	default:
		s.found(a, st)
	}
	if a.Doubt != "" {
		a.Sentence += " " + a.Doubt
	}
	a.Sentence += s.also(a, st)
	return a
}

// never fills in an answer where the load does not matter.
func (s *Search) never(a *Result, st *story) {
	f := a.Flat
	o := &s.Objectives[f.j]
	a.Outcome, a.Hi, a.Misses = Never, f.Lo, s.miss(st.counts, 0)
	what := fmt.Sprintf("%s of all samples miss %s", Amount(f.Share, "share"), o.Text)
	switch {
	case o.Allowed == 0:
		what = fmt.Sprintf("%s is %s", o.Figure, Amount(f.Value, o.Unit))
	case o.Unit == "share" && !o.Above:
		what = fmt.Sprintf("%s of all requests failed, %s may", Amount(f.Share, "share"), Amount(o.Allowed, "share"))
	case o.Text == "":
		what = fmt.Sprintf("%s of all samples miss %s, %s may", Amount(f.Share, "share"), o.Figure, Amount(o.Allowed, "share"))
	}
	a.Sentence = fmt.Sprintf("Missed at every load from %s to %s: %s. It does not depend on the load.", short(f.Lo), a.loads(f.Hi), what)
}

// always fills in an answer where no load was missed.
func (s *Search) always(a *Result, st *story, lo *Trial) {
	a.Outcome, a.Value, a.Lo = Always, lo.Load, lo.Load
	a.Precise = s.Most > 0 && lo.Load >= s.Most
	a.Sentence = fmt.Sprintf("At least %s: all objectives are met at the highest load that was tried.", a.loads(lo.Load))
	if st.held != nil {
		a.Value, a.Lo, a.Held = st.held.Load, st.held.Load, st.held.Seconds
		a.Sentence = fmt.Sprintf("At least %s, held for %s s: all objectives are met at the highest load that was tried.", a.loads(a.Value), short(a.Held))
	}
	s.doubt(a, st, false)
}

// found fills in an answer that lies between levels.
func (s *Search) found(a *Result, st *story) {
	e := s.estimate(st.counts)
	a.Outcome, a.Value, a.Lo, a.Hi, a.Precise = Found, e.value, e.lo, e.hi, e.done
	if s.breaks(st) {
		_, second := st.bounds()
		a.Lo, a.Hi, a.Precise = min(a.Lo, s.lasting(st)), max(a.Hi, min(s.enduring(st, hardly), second)), false
	}
	abrupt := s.abrupt(st, e)
	if abrupt {
		a.Lo = min(a.Lo, s.lasting(st))
	}
	switch load, ok := s.target(st); {
	case st.held != nil:
		a.Value, a.Held = st.held.Load, st.held.Seconds
	case s.Hold > 0 && ok:
		a.Value = load
	}
	if s.Whole {
		a.Value, a.Lo, a.Hi = math.Floor(a.Value), math.Floor(a.Lo), math.Floor(a.Hi)
	}
	a.Lo, a.Hi = min(a.Lo, a.Value), max(a.Hi, a.Value)
	a.Misses = s.miss(st.counts, a.Value)
	a.Requests = s.requests(st.counts, a.Value)
	if a.Lo <= 0 || a.Hi/a.Lo > tooWide {
		a.Needs = s.needs(st.counts, a)
	}
	s.doubt(a, st, abrupt)
	a.Sentence = s.sentence(a, st, e)
}

const (
	// tooWide is how many times as high the upper end of an interval may be as the lower, for an answer.
	tooWide = 2
	// longest bounds the time that a search is said to take, in seconds.
	longest = 24 * 3600
)

// needs is about how long a search takes to know the capacity as well as asked: twice as well takes
// fourfold.
func (s *Search) needs(levels []Trial, a *Result) float64 {
	spent := 0.0
	for i := range levels {
		spent += (1 + settling) * levels[i].Seconds
	}
	width := math.Log(a.Hi / max(a.Lo, a.Hi/100))
	times := width / math.Log(tooWide)
	return min(max(s.Seconds, spent)*max(times*times, 2), longest)
}

// requests is how many requests per second a load of sessions comes to; 0: it is not one.
func (s *Search) requests(levels []Trial, load float64) float64 {
	if !s.Sessions {
		return 0
	}
	sum, at := 0.0, 0.0
	for i := range levels {
		if l := &levels[i]; l.met() && math.Abs(math.Log(l.Load/load)) < near {
			sum, at = sum+l.Answered*l.Seconds, at+l.Load*l.Seconds
		}
	}
	if at == 0 {
		return 0
	}
	return sum / at * load
}

// miss is the lowest level above a load that misses an objective, clearly if there is one.
func (s *Search) miss(levels []Trial, above float64) *Miss {
	var at *Trial
	for _, clear := range []bool{true, false} {
		for i := range levels {
			l := &levels[i]
			if l.Load > above && !l.met() && (!clear || l.Met == No) && (at == nil || l.Load < at.Load) {
				at = l
			}
		}
		if at != nil {
			return s.missOf(at)
		}
	}
	return nil
}

// missOf says what a level misses most.
func (s *Search) missOf(l *Trial) *Miss {
	m := &Miss{Load: l.Load, text: "the server does not keep up", breaks: l.Grew}
	if l.Over == "" {
		m.text = "the objectives are missed"
	}
	worst := 0.0
	for j := range s.Objectives {
		o := &s.Objectives[j]
		seen := element(l.Seen, j)
		if seen == nil || seen.Value == nil {
			continue
		}
		if by := -o.margin(*seen.Value); by > worst {
			worst = by
			m.Figure, m.By, m.Unit = o.Figure, math.Abs(*seen.Value-o.Bound), o.Unit
			m.text = fmt.Sprintf("%s misses by %s", o.Figure, Amount(m.By, o.Unit))
		}
	}
	return m
}
