package metric

import (
	"math"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// The trends that are looked for.
const (
	LatencyTrend = "latency"
	TTFTTrend    = "ttft"
	TPOTTrend    = "tpot"
	FlowTrend    = "flow" // of requests that end well; closed loops only: in an open one the load sets it
)

// Trend is how one figure changed during a stage.
type Trend struct {
	Of       string
	Values   int           // requests that have the figure
	Blocks   int           // of neighbours; with fewer than two nothing can be said
	At       time.Duration // when the change that stands out most came
	Share    float64       // of the requests, or of the time, before it
	Change   float64       // from before it to after it, relative to before it
	Effect   float64       // how far it bends the figure of the whole: a change at half time bends it by its own size
	Noise    float64       // Effect that chance explains
	Resolved float64       // the smallest relative change at half time that would have stood out
}

// Found reports whether there is a trend that matters: beyond chance, and beyond the budget.
func (t *Trend) Found(budget float64) bool { return t.Effect > t.Noise && t.Effect > budget }

const (
	mostBlocks    = 16
	leastPerBlock = 3 // values, for a median that one outlier does not move
	// finest is the time below which differences are the noise of stamps rather than the
	// server's doing: events that arrive together are no time apart, or a fraction of it.
	finest = float64(50 * time.Microsecond)
	// habitual are the deviations of a steady server's blocks: relative ones of latencies, and of
	// the flow.
	habitualLatency = 0.13
	habitualFlow    = 0.1
)

// Trends looks at every figure that the requests have.
func (s *Series) Trends() []Trend {
	var out []Trend
	for _, of := range []struct {
		name  string
		value func(*Series, *arrival) (float64, bool)
	}{
		{LatencyTrend, (*Series).latency}, {TTFTTrend, (*Series).ttft}, {TPOTTrend, (*Series).tpot},
	} {
		look := func(s *Series) (Trend, bool) {
			return s.trend(of.name, func(v *arrival) (float64, bool) { return of.value(s, v) })
		}
		if t, ok := look(s); ok {
			out = append(out, s.unthinned(t, look))
		}
	}
	if s.closed {
		out = append(out, s.unthinned(s.flow(), func(s *Series) (Trend, bool) { return s.flow(), true }))
	}
	return out
}

// waves is how often as many requests as are in flight were sent.
func (s *Series) waves() float64 { return float64(len(s.kept)) * s.of / max(1, s.InFlight()) }

func (s *Series) latency(v *arrival) (float64, bool) {
	return float64(v.end-s.begin(v)) / v.work, !v.open
}

func (s *Series) ttft(v *arrival) (float64, bool) {
	if v.first == record.Never {
		return float64(v.end-s.begin(v)) / v.prompt, false
	}
	return float64(v.first-s.begin(v)) / v.prompt, true
}

func (s *Series) tpot(v *arrival) (float64, bool) { return float64(v.perToken), v.perToken >= 0 }

// trend looks at a figure of the requests, in blocks of neighbours. What was still open
// took at least so long: it counts as that, or as the median where that is more.
func (s *Series) trend(name string, value func(*arrival) (float64, bool)) (Trend, bool) {
	waves := s.waves()
	var known []float64
	for i := range s.kept {
		if v, ok := value(&s.kept[i]); ok {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return Trend{}, false
	}
	typical := medianOf(known)
	var vals []float64
	var at []time.Duration
	for i := range s.kept {
		v, ok := value(&s.kept[i])
		switch {
		case ok:
		case s.kept[i].open && v >= 0:
			v = max(v, typical)
		default:
			continue
		}
		vals, at = append(vals, max(v, finest)), append(at, s.kept[i].sent)
	}
	t := Trend{Of: name, Values: len(vals)}
	if t.rises(s, vals, at) {
		return t, true
	}
	t.Blocks = int(min(mostBlocks, waves+0.01, float64(len(vals)/leastPerBlock)))
	if t.Blocks < 2 {
		return t, true
	}
	blocks := make([]float64, t.Blocks)
	for k := range blocks {
		blocks[k] = math.Log(medianOf(slices.Clone(vals[edge(k, t.Blocks, len(vals)):edge(k+1, t.Blocks, len(vals))])))
	}
	shift := stat.FindShift(blocks, habitualLatency/calm(waves, t.Blocks))
	t.At = at[edge(shift.At, t.Blocks, len(vals))]
	t.Share = float64(shift.At) / float64(t.Blocks)
	t.Change = math.Expm1(shift.After - shift.Before)
	less := 2 * min(t.Share, 1-t.Share)
	d := shift.After - shift.Before
	if t.Share > 0.5 { // the part before is the greater: what comes after bends it
		d = -d
	}
	t.Effect = less * math.Abs(math.Expm1(-d))
	t.Noise = less * math.Abs(math.Expm1(-math.Copysign(shift.Noise, d)))
	t.Resolved = math.Expm1(shift.Least)
	return t, true
}

const (
	leastRising = 20  // values, for a rise all along to be no chance
	mostRanked  = 512 // values that are compared with one another
	risingAll   = 0.7 // by how much more pairs are in order than out of it, however they depend on one another
)

// rises reports whether a figure rose all along in an open loop, as it does where more is
// asked of a server than it can do. Most requests are then in flight at once, and no
// blocks of them that do not depend on one another are left to be compared.
func (t *Trend) rises(s *Series, vals []float64, at []time.Duration) bool {
	n := len(vals)
	if s.closed || n < leastRising {
		return false
	}
	few := make([]float64, min(n, mostRanked))
	for i := range few {
		few[i] = vals[i*n/len(few)]
	}
	if stat.Kendall(few) < risingAll {
		return false
	}
	before, after := medianOf(slices.Clone(vals[:n/2])), medianOf(slices.Clone(vals[n/2:]))
	t.Blocks, t.Share, t.At = 2, 0.5, at[n/2]
	t.Change = after/before - 1
	t.Effect = t.Change
	return true
}

// edge is where block k of n begins among so many values.
func edge(k, n, values int) int { return k * values / n }

// calm is by how much less blocks vary that have several independent waves in them.
func calm(waves float64, blocks int) float64 {
	return min(2, math.Sqrt(max(1, waves/float64(blocks))))
}

// flow looks at how much was answered per second, each request spread evenly over its
// time, so that requests which end in waves still give an even flow. One that was still
// open counts for as long as it was no later than others. Where sessions are the load, it is
// the flow for each request in flight: that they think and run out is no change of the server's.
func (s *Series) flow() Trend {
	t, waves := Trend{Of: FlowTrend}, s.waves()
	var took []float64
	for i := range s.kept {
		if v := &s.kept[i]; !v.open {
			took = append(took, float64(v.end-v.sent)/v.work)
		}
	}
	t.Values = len(took)
	if len(took) == 0 || s.to <= s.from {
		return t
	}
	typical := medianOf(took)
	t.Blocks = int(min(mostBlocks, waves+0.01, float64(len(took)/leastPerBlock)))
	if t.Blocks < 2 || typical <= 0 {
		t.Blocks = 0
		return t
	}
	blocks, edges := make([]float64, t.Blocks), evenEdges(s.from, s.to, t.Blocks)
	if s.load != nil {
		edges = s.load.edges(s.from, s.to, t.Blocks)
	}
	for _, part := range [][]arrival{s.warm, s.kept} {
		for i := range part {
			part[i].flowInto(blocks, edges, typical)
		}
	}
	whole := 0.0
	for _, v := range blocks {
		whole += v / float64(len(blocks))
	}
	if whole <= 0 {
		t.Blocks = 0
		return t
	}
	for k := range blocks {
		blocks[k] /= whole
	}
	shift := stat.FindShift(blocks, habitualFlow/calm(waves, t.Blocks))
	t.Share = float64(shift.At) / float64(t.Blocks)
	t.At = time.Duration(edges[shift.At])
	t.Change = (shift.After - shift.Before) / max(shift.Before, 1e-9)
	less := 2 * min(t.Share, 1-t.Share)
	t.Effect, t.Noise, t.Resolved = less*math.Abs(shift.After-shift.Before), less*shift.Noise, shift.Least
	return t
}

// flowInto adds a request to the blocks of a time, which have these edges.
func (v *arrival) flowInto(blocks, edges []float64, typical float64) {
	a, d := float64(v.sent), float64(v.end-v.sent)
	b := a + d
	if v.open {
		d = typical
		b = min(b, a+d)
	}
	first, found := slices.BinarySearch(edges, a)
	if !found {
		first--
	}
	for k := max(0, first); k < len(blocks) && edges[k] < b; k++ {
		if in := min(b, edges[k+1]) - max(a, edges[k]); in > 0 && d > 0 {
			blocks[k] += v.work * in / d
		}
	}
}

// medianOf is the median of values, which it sorts.
func medianOf(vals []float64) float64 {
	slices.Sort(vals)
	n := len(vals)
	if n%2 == 1 {
		return vals[n/2]
	}
	return (vals[n/2-1] + vals[n/2]) / 2
}
