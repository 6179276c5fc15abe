package metric

import "github.com/inferometer/inferometer/internal/plan"

// goodness is whether a request succeeded and met every objective: as its times are taken to be,
// for certain, and possibly. One that lies on a bound within its error bar is good possibly alone.
type goodness struct{ taken, certain, possible bool }

func (g goodness) and(o goodness) goodness {
	return goodness{g.taken && o.taken, g.certain && o.certain, g.possible && o.possible}
}

type objective struct {
	plan.SLO
	own     func(*Request) (int64, bool)
	bounds  func(*Request) (below, above int64) // nil means own is exact, or unknown
	follows bool
}

// metBy says whether a successful request meets the objective. One that has no value does not,
// unless there was nothing to measure behind its only token.
func (o *objective) metBy(r *Request) goodness {
	v, ok := o.own(r)
	if !ok {
		met := o.follows && r.Stream && r.gapCount == 0 && !r.Sparse
		return goodness{met, met, met}
	}
	var below, above int64
	if o.bounds != nil {
		below, above = o.bounds(r)
	}
	most := int64(o.Max)
	return goodness{v <= most, v+above <= most, v-below <= most}
}

// ownBounds is how much less and more the truth of what an objective is compared with can be.
func (d *Def) ownBounds() func(*Request) (below, above int64) {
	if d.PerRequest != nil {
		return d.OwnBounds
	}
	return d.Bounds
}

// flowBounds are those of the mean of a stream's n gaps: its two ends bound it.
func (r *Request) flowBounds(n int64) (below, above int64) {
	below, above = r.blur.last.since(r.blur.first)
	return perUnit(below, n), perUnit(above, n)
}
