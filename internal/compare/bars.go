package compare

import (
	"fmt"
	"math"

	"github.com/inferometer/inferometer/internal/lib/number"
)

// doubt takes a difference back that is no larger than what the clients can have made: the error
// bars of both sides overlap.
func (r *Row) doubt(p *pair, f figure) {
	belowA, aboveA := bent(p.first.side.levels(p.a), f)
	belowB, aboveB := bent(p.other.side.levels(p.b), f)
	r.bent = max(aboveA+belowB, belowA+aboveB)
	if r.Verdict == NoneSeen || r.Verdict == NotKnown {
		return
	}
	by := aboveA + belowB // B can be lower than it looks, and A higher
	if r.Delta.Value < 0 {
		by = belowA + aboveB
	}
	if math.Abs(r.Delta.Value) > by {
		return
	}
	r.Verdict, r.Client = NoneSeen, true
	r.Why = fmt.Sprintf("the clients' own delays can have made it: the error bars of both sides overlap (they come to %s)", number.Value(by, r.Unit))
}

// bent is how far below and above a figure of a side the truth can be, whatever its clients did, on
// average over its runs.
func bent(levels []*MeasuredLoad, f figure) (below, above float64) {
	n := float64(max(1, len(levels)))
	for _, l := range levels {
		s := l.Metrics[f.metric]
		if bar, ok := s.Error[f.stat]; ok {
			below += max(0, s.Values[f.stat]-bar.Lo) / n
			above += max(0, bar.Hi-s.Values[f.stat]) / n
		}
	}
	return below, above
}
