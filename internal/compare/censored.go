package compare

import (
	"fmt"
	"slices"
)

// bounds notes which sides of a row are lower bounds, because requests did not end. Those are not
// compared.
func (r *Row) bounds(p *pair, f figure) {
	r.A.AtLeast, r.B.AtLeast = openAt(p.first.side.levels(p.a), f), openAt(p.other.side.levels(p.b), f)
	if side := map[[2]bool]string{{true, false}: "the first side", {false, true}: "the other side", {true, true}: "both sides"}[[2]bool{r.A.AtLeast, r.B.AtLeast}]; side != "" {
		r.Why = fmt.Sprintf("known only to be at least that on %s: requests did not end", side)
	}
}

// openAt reports whether a figure is a lower bound at one of several levels.
func openAt(levels []*MeasuredLoad, f figure) bool {
	return slices.ContainsFunc(levels, func(l *MeasuredLoad) bool { return slices.Contains(l.Metrics[f.metric].AtLeast, f.stat) })
}

// unfinished takes a difference back whose interval, made of the requests that ended, does not hold
// the difference of the figures, which are made of all.
func (r *Row) unfinished(p *pair) {
	d := r.Delta
	if !within(p.method) || d == nil || d.Interval == nil || d.Interval.Lo <= d.Value && d.Value <= d.Interval.Hi {
		return
	}
	for _, l := range slices.Concat(p.first.side.levels(p.a), p.other.side.levels(p.b)) {
		if l.Metrics[r.Metric].Censored > 0 {
			d.Interval, d.P, d.Least, d.Longer = nil, nil, nil, nil
			r.Verdict, r.Why = NotKnown, neverEnded
			return
		}
	}
}
