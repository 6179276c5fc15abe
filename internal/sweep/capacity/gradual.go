package capacity

import (
	"fmt"
	"math"
)

const (
	// between: a level is between meeting an objective and missing it where at least this part of what is
	// allowed is bad, in so many parts of its time, and not all of any of them.
	betweenShare, betweenParts = 0.25, 3
	// betweenMargin is the same for a mean, as a share of the bound.
	betweenMargin = 0.3
	// betweenFigure is how far a figure is from its bound at most, as a share of it, that comes near it as the
	// load grows: at fartherLoad of that load, or less, it is fartherFigure times as far.
	betweenFigure, fartherLoad, fartherFigure = 0.15, 0.7, 2.0
	// sameTime is the ratio of two mean times that are taken for one.
	sameTime = 1.1
	// trusted is for how long an answer is held at least, in seconds, that needs no other proof.
	trusted = 60
	// patient is how long a search takes, in seconds, that sees whether a server breaks suddenly.
	patient = 900
)

// gradual reports whether the server was seen between meeting an objective and missing it, at a load
// about which the answer is: it does not break suddenly there.
func (s *Search) gradual(levels []Trial, value float64) bool {
	for i := range levels {
		l := &levels[i]
		if l.Over != "" || l.blank || math.Abs(math.Log(l.Load/value)) > near {
			continue
		}
		for j := range s.Objectives {
			o, seen := &s.Objectives[j], element(l.Seen, j)
			if seen != nil && (s.grows(levels, l, j) || !broken(l) && !endedBadly(l) && seen.between(o)) {
				return true
			}
		}
	}
	return false
}

// grows reports whether the figure of an objective was seen to come near its bound as the load grew: a server
// that breaks suddenly is far on the one side of it or on the other. At a rate, arrivals leave enough to chance.
func (s *Search) grows(levels []Trial, l *Trial, j int) bool {
	o, to := &s.Objectives[j], element(l.Seen, j).Value
	if !s.Whole || o.Unit == "share" || to == nil {
		return false
	}
	left := math.Abs(o.margin(*to))
	if left > betweenFigure {
		return false
	}
	for i := range levels {
		from := element(levels[i].Seen, j)
		if levels[i].Load <= fartherLoad*l.Load && from != nil && from.Value != nil && o.margin(*from.Value) >= fartherFigure*left {
			return true
		}
	}
	return false
}

// between reports whether a level shows the objective neither plainly met nor missed, all along.
func (s *Observation) between(o *Objective) bool {
	if o.Allowed == 0 {
		mean, _, ok := s.Mean()
		return ok && math.Abs(o.margin(mean)) < betweenMargin
	}
	parts := 0
	for _, b := range s.Batches {
		if b.Bad > 0 && b.Bad < b.N {
			parts++
		}
	}
	t := s.Total()
	return parts >= betweenParts && t.Bad >= betweenShare*o.Allowed*t.N
}

// abrupt reports whether all that was seen about the answer was either met or broke, in a search that
// ended before it knew more. Such a server may break suddenly, and what it was held for is all that is known.
func (s *Search) abrupt(st *story, e *estimate) bool {
	long := e.done && st.held != nil && st.held.Seconds >= trusted
	return s.Hold > 0 && !long && !s.gradual(st.counts, e.value)
}

// warmed says how much faster or slower the server has become at a load that it was well at before;
// empty: it has not. A level of a queue that is far from its limit takes as long as the one before it.
func (s *Search) warmed(st *story, l *Trial) string {
	for i := range st.counts {
		m := &st.counts[i]
		if m.Load != l.Load || !m.Meets() || !l.Meets() {
			continue
		}
		for j := range s.Objectives {
			o, was, is := &s.Objectives[j], element(m.Seen, j), element(l.Seen, j)
			if o.Unit == "share" || was == nil || is == nil {
				continue
			}
			a, aErr, ok := was.Mean()
			b, bErr, also := is.Mean()
			if ok && also && math.Abs(a-b) > contradiction*math.Hypot(aErr, bErr) && max(a, b) > sameTime*min(a, b) && min(a, b) > 0 {
				return fmt.Sprintf("at %s, %s were the average at first, and %s later", short(l.Load), Amount(a, o.Unit), Amount(b, o.Unit))
			}
		}
	}
	return ""
}

// unsettled reports whether the server changed, too short ago to tell that it does so no more.
func (st *story) unsettled() bool {
	seconds := 0.0
	for i := range st.counts {
		seconds += (1 + settling) * st.counts[i].Seconds
	}
	return st.changes > 0 && seconds < tenMinutes
}

// doubt fills in why an answer claims more than the search has seen, and how long one takes that sees it.
func (s *Search) doubt(a *Result, st *story, abrupt bool) {
	switch {
	case abrupt && a.Held > 0 && a.Held < tenMinutes && a.Value > s.lasting(st):
		a.Doubt = fmt.Sprintf("No load was seen at which the objectives were nearly missed: the server may break suddenly, and %s s do not show that it holds %s for longer.", short(a.Held), short(a.Value))
	case st.unsettled() && a.Value > 0:
		a.Doubt = "What was seen since the server changed is too short to tell that it changes no more."
	default:
		return
	}
	a.Needs = max(a.Needs, patient, 2*s.Seconds)
}
