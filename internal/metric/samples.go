package metric

import (
	"math"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// samples are those of a metric, with what bounds them.
type samples struct {
	pool   *stat.Pool
	extent extent
	exact  *stat.Column // those that are as good as exact
	// The others: as taken, and their ends. nil means there are none.
	taken, least, most *stat.Column
	part               stat.Part // to which what is added to taken belongs
}

func newSamples(pool *stat.Pool) samples { return samples{pool: pool, exact: pool.Column()} }

// in says to which part of the stage what is added from now on belongs.
func (s *samples) in(part stat.Part) {
	s.exact.In(part)
	if s.part = part; s.taken != nil {
		s.taken.In(part)
	}
}

func (s *samples) one(v, below, above int64, in stat.Set) {
	below = min(below, max(v, 0)) // no sample is less than nothing
	s.extent.sum(below, above, in)
	if s.extent.nearly(v, below, above) {
		s.exact.Append(v, in)
		return
	}
	s.open()
	s.taken.Append(v, in)
	s.least.Append(v-below, in)
	s.most.Append(v+above, in)
}

// all adds samples whose sum can be so much less and more, with the ends of each.
func (s *samples) all(values, least, most []int64, below, above int64, in stat.Set) {
	s.extent.sum(below, above, in)
	for i := 0; i < len(values); {
		// Neighbours are mostly of a kind: those of one late read.
		from := i
		for i < len(values) && s.extent.nearly(values[i], values[i]-least[i], most[i]-values[i]) {
			i++
		}
		s.exact.AppendAll(values[from:i], in)
		from = i
		for i < len(values) && !s.extent.nearly(values[i], values[i]-least[i], most[i]-values[i]) {
			i++
		}
		if from < i {
			s.open()
			s.taken.AppendAll(values[from:i], in)
			s.least.AppendAll(least[from:i], in)
			s.most.AppendAll(most[from:i], in)
		}
	}
}

// tail adds the samples of the part of a stream that was not kept event by event.
func (s *samples) tail(t *record.Tail, in stat.Set) {
	s.open()
	for i, part := range []*record.TailHistogram{&t.Gaps, &t.Least, &t.Greatest} {
		part.Each(func(values []int64) { s.ends()[i].AppendAll(values, in) })
	}
}

// open makes the columns of samples that are not exact.
func (s *samples) open() {
	if s.taken == nil {
		s.taken, s.least, s.most = s.pool.Column(), s.pool.Column(), s.pool.Column()
		s.taken.In(s.part)
	}
}

// ends are the columns of the samples that are not exact; none where all are.
func (s *samples) ends() []*stat.Column {
	if s.taken == nil {
		return nil
	}
	return []*stat.Column{s.taken, s.least, s.most}
}

func (s *samples) close() {
	s.exact.Close()
	for _, c := range s.ends() {
		c.Close()
	}
}

func (s *samples) merge(o *samples) error {
	s.extent.widen(&o.extent)
	if err := s.exact.Merge(o.exact); err != nil || o.taken == nil {
		return err
	}
	s.open()
	from := o.ends()
	for i, c := range s.ends() {
		if err := c.Merge(from[i]); err != nil {
			return err
		}
	}
	return nil
}

// near is the width up to which a sample's bounds are kept as the widest of them and not one by
// one: so many nanoseconds, or the share 1/nearShare of the sample.
const (
	near      = 25_000
	nearShare = 512
)

// extent is how far the truth of samples can lie from them.
type extent struct {
	below, above [2]int64 // Σ of how much less and more they can be, by set
	// The widest bounds of samples that are nearly exact, by side: of those up to near, and of the
	// others in steps and as a share.
	steps, large [2]int64
	share        [2]float64
	unbounded    bool // the sums are more than can be counted
}

// nearly reports whether a sample within such bounds is as good as exact, and notes it.
func (e *extent) nearly(v, below, above int64) bool {
	if below|above == 0 {
		return true
	}
	widest := max(below, above)
	switch {
	case widest <= near:
		e.steps[0], e.steps[1] = max(e.steps[0], below), max(e.steps[1], above)
	case widest <= v/nearShare:
		e.large[0], e.large[1] = max(e.large[0], below), max(e.large[1], above)
		e.share[0], e.share[1] = max(e.share[0], float64(below)/float64(v)), max(e.share[1], float64(above)/float64(v))
	default:
		return false
	}
	return true
}

// off is by how much a figure of nearly exact samples can be off, on one side.
func (e *extent) off(side int, v float64) float64 {
	return float64(e.steps[side]) + min(float64(e.large[side]), e.share[side]*v)
}

// sum adds what the sum of samples can be less and more.
func (e *extent) sum(below, above int64, in stat.Set) {
	if below|above == 0 {
		return
	}
	for set := range e.below {
		if in&(1<<set) != 0 {
			e.below[set] += below
			e.above[set] += above
			e.unbounded = e.unbounded || e.above[set] > math.MaxInt64/2
		}
	}
}

func (e *extent) widen(o *extent) {
	e.unbounded = e.unbounded || o.unbounded
	for i := range e.below {
		e.below[i] += o.below[i]
		e.above[i] += o.above[i]
		e.unbounded = e.unbounded || e.above[i] < 0
		e.steps[i] = max(e.steps[i], o.steps[i])
		e.large[i] = max(e.large[i], o.large[i])
		e.share[i] = max(e.share[i], o.share[i])
	}
}
