package sample

import (
	"slices"
	"sync"

	"github.com/inferometer/inferometer/internal/stat"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// Prompts are requests of two stages with the same prompt at the same place, in the order sent.
type Prompts struct {
	a, b  *StageSamples
	pairs [][2]uint32 // requests of a and of b
	ok    int         // pairs that both sides answered
}

// leastPaired is the share of the requests of either side that must have their like on the other:
// with fewer, what pairs gain is less than what leaving out the others loses.
const leastPaired = 0.8

// Match finds the prompts that two stages have in common; nil means too few of them for a comparison by
// prompt.
//
// Places are those in the run, or those in the stage where an earlier stage of one run was longer.
// Prompts that are the same at different places are no pairs: the requests of both sides would not
// be in the same order then, and how they depend on their neighbours could not be told.
func Match(a, b *StageSamples) *Prompts {
	best := &Prompts{}
	byA, byB := onBoth(a, b, (*StageSamples).byPlace)
	for _, shift := range slices.Compact([]int64{0, b.first - a.first}) {
		if p := match(a, b, byA, byB, shift); p.ok > best.ok {
			best = p
		}
	}
	if best.ok == 0 || float64(best.ok) < leastPaired*float64(max(answered(a), answered(b))) {
		return nil
	}
	best.sort()
	return best
}

// onBoth works something out of both sides at a time.
func onBoth(a, b *StageSamples, of func(*StageSamples) []uint32) (ofA, ofB []uint32) {
	var other sync.WaitGroup
	other.Go(func() { ofB = of(b) })
	ofA = of(a)
	other.Wait()
	return ofA, ofB
}

// Count is how many prompts both sides answered.
func (p *Prompts) Count() int { return p.ok }

// byPlace is the order of requests by their place in the run.
func (s *StageSamples) byPlace() []uint32 {
	keys := make([]uint64, len(s.order))
	for i, at := range s.order {
		keys[i] = signed(s.seq[at])
	}
	order := stat.Ascending(keys)
	for i, at := range order {
		order[i] = s.order[at]
	}
	return order
}

func answered(s *StageSamples) (n int) {
	for _, ok := range s.ok {
		if ok {
			n++
		}
	}
	return n
}

// match pairs the requests of b that are at the place of one of a, shifted by so much.
func match(a, b *StageSamples, byA, byB []uint32, shift int64) *Prompts {
	p := &Prompts{a: a, b: b, pairs: make([][2]uint32, 0, min(len(byA), len(byB)))}
	at := 0
	for _, i := range byA {
		for at < len(byB) && b.seq[byB[at]] < a.seq[i]+shift {
			at++
		}
		if at == len(byB) {
			break
		}
		j := byB[at]
		if b.seq[j] != a.seq[i]+shift {
			continue
		}
		at++
		if a.prompt[i] != b.prompt[j] || a.prompt[i] == 0 {
			continue
		}
		p.pairs = append(p.pairs, [2]uint32{i, j})
		if a.ok[i] && b.ok[j] {
			p.ok++
		}
	}
	return p
}

// sort puts pairs into the order they were sent: by the mean of their ranks on both sides,
// which is not that of their places where sessions have several turns.
func (p *Prompts) sort() {
	ranks := func(s *StageSamples) []uint32 {
		out := make([]uint32, len(s.order))
		for rank, i := range s.order {
			out[i] = uint32(rank)
		}
		return out
	}
	ra, rb := onBoth(p.a, p.b, ranks)
	keys := make([]uint64, len(p.pairs))
	for i, pair := range p.pairs {
		keys[i] = uint64(ra[pair[0]]) + uint64(rb[pair[1]])
	}
	sorted := make([][2]uint32, len(p.pairs))
	for i, at := range stat.Ascending(keys) {
		sorted[i] = p.pairs[at]
	}
	p.pairs = sorted
}

// Between are the differences of statistics of a metric by prompt; none where single requests do not
// tell, or only their rate over time does.
func (p *Prompts) Between(id string, statistics []string, confidence float64) []estimate.Difference {
	figures := figuresOf(id, statistics)
	if figures == nil || isFlow(id) {
		return nil
	}
	several, ofA, ofB := p.a.several(id), p.a.columns[id], p.b.columns[id]
	a, b := estimate.Samples{Values: p.room(p.a, id)}, estimate.Samples{Values: p.room(p.b, id)}
	for _, pair := range p.pairs {
		x, y := len(a.Values), len(b.Values)
		a.Values, b.Values = p.a.appendSamples(a.Values, id, ofA, pair[0]), p.b.appendSamples(b.Values, id, ofB, pair[1])
		if len(a.Values) == x || len(b.Values) == y { // what one side lacks, the other's is not compared with
			a.Values, b.Values = a.Values[:x], b.Values[:y]
		} else if several {
			a.Ends, b.Ends = append(a.Ends, len(a.Values)), append(b.Ends, len(b.Values))
		}
	}
	return estimate.BetweenPrompts(&a, &b, figures, confidence)
}

// room is for the samples of a metric that the requests of a side have.
func (p *Prompts) room(s *StageSamples, id string) []float64 {
	n := len(p.pairs)
	if c := s.columns[id]; c != nil {
		n = len(c.values)
	}
	return make([]float64, 0, n)
}
