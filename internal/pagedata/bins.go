package pagedata

import (
	"math"
	"time"
)

const (
	// mostBins bounds the bins of time: a bin is twice as wide where there would be more.
	mostBins = 600
	// fewBins and perBin: where there are few requests, bins are widened until they have so
	// many each on average, but no more than to so few bins.
	fewBins, perBin = 40, 8
	// leastBin is the width of the first bins, of which a second has a whole number.
	leastBin = time.Second / 512
)

// bins are what happened in each bin of time. They widen as a run gets longer, so that
// nothing need be known ahead of it.
type bins struct {
	begin time.Duration // of the first
	end   time.Duration // of what happened
	width time.Duration
	list  []bin
}

type bin struct {
	asked           int64   // requests of open loops that were due
	due, sent, over tally   // requests
	ok, failed      int64   // requests that ended
	kinds           []int64 // those that failed, by kind
	tokens          int64   // in shares
	first, gap      spread  // times to the first token of requests sent; gaps before tokens that came
}

// share is how many parts a token is counted in, of which an event brings some where its own number
// is not known: sums of whole numbers do not depend on their order.
const share = 1 << 20

// tally counts moments, with the sum of their distances from the begin of their bin.
type tally struct {
	n   int64
	sum time.Duration
}

func (t *tally) add(after time.Duration) {
	t.n++
	t.sum += after
}

// merge takes in those of a bin that begins so much later.
func (t *tally) merge(o tally, later time.Duration) {
	t.n += o.n
	t.sum += o.sum + later*time.Duration(o.n)
}

func newBins(begin time.Duration) *bins { return &bins{begin: begin, end: begin, width: leastBin} }

// bin is the bin of a moment, and how long after its begin that is.
func (b *bins) bin(moment time.Duration) (*bin, time.Duration) {
	after := max(moment-b.begin, 0)
	b.end = max(b.end, b.begin+after)
	for after/b.width >= mostBins {
		b.widen()
	}
	i := int(after / b.width)
	for len(b.list) <= i {
		b.list = append(b.list, bin{})
	}
	return &b.list[i], after - time.Duration(i)*b.width
}

func (b *bins) widen() {
	half := b.list[:0]
	for i := 0; i < len(b.list); i += 2 {
		one := b.list[i]
		if i+1 < len(b.list) {
			one.merge(&b.list[i+1], b.width)
		}
		half = append(half, one)
	}
	clear(b.list[len(half):])
	b.list = half
	b.width *= 2
}

// merge takes in the bins of another that begins at the same time. The other is of no use afterwards.
func (b *bins) merge(o *bins) {
	for b.width < o.width {
		b.widen()
	}
	for o.width < b.width {
		o.widen()
	}
	b.end = max(b.end, o.end)
	for len(b.list) < len(o.list) {
		b.list = append(b.list, bin{})
	}
	for i := range o.list {
		b.list[i].merge(&o.list[i], 0)
	}
}

// widenFor widens bins that have too few of so many requests to draw a line through.
func (b *bins) widenFor(requests int64) {
	for len(b.list) > fewBins && requests < perBin*int64(len(b.list)) {
		b.widen()
	}
}

// close ends the last bin where the run did. What is left of less than half a bin goes to
// the one before: a rate over next to no time says nothing.
func (b *bins) close() {
	last := len(b.list) - 1
	if last > 0 && b.end-b.begin-time.Duration(last)*b.width < b.width/2 {
		b.list[last-1].merge(&b.list[last], b.width)
		b.list = b.list[:last]
	}
}

func (b *bin) merge(o *bin, later time.Duration) {
	b.asked += o.asked
	b.due.merge(o.due, later)
	b.sent.merge(o.sent, later)
	b.over.merge(o.over, later)
	b.ok += o.ok
	for i, n := range o.kinds {
		b.fail(i, n)
	}
	b.tokens += o.tokens
	b.first.merge(&o.first)
	b.gap.merge(&o.gap)
}

// edges are the seconds at which bins begin, and at which the last ends.
func (b *bins) edges() []float64 {
	var out []float64
	for i := range b.list {
		out = append(out, (b.begin + time.Duration(i)*b.width).Seconds())
	}
	return append(out, max(b.end, b.begin+time.Duration(max(len(b.list)-1, 0))*b.width+1).Seconds())
}

// perSecond is a number of each bin by the time that it lasted.
func (b *bins) perSecond(of func(*bin) float64) []float64 {
	out := make([]float64, len(b.list))
	edges := b.edges()
	for i := range b.list {
		out[i] = of(&b.list[i]) / (edges[i+1] - edges[i])
	}
	return out
}

// between is how many requests were past one moment and not at another, on average.
func (b *bins) between(from, to func(*bin) tally) []float64 {
	out := make([]float64, len(b.list))
	edges := b.edges()
	var open int64
	for i := range b.list {
		span := edges[i+1] - edges[i]
		f, t := from(&b.list[i]), to(&b.list[i])
		held := float64(open)*span + (float64(f.n)*span - f.sum.Seconds()) - (float64(t.n)*span - t.sum.Seconds())
		out[i] = max(held/span, 0)
		open += f.n - t.n
	}
	return out
}

// quantile is a quantile of each bin's spread, in milliseconds.
func (b *bins) quantile(of func(*bin) *spread, q float64) []float64 {
	out := make([]float64, len(b.list))
	for i := range b.list {
		out[i] = of(&b.list[i]).quantile(q)
	}
	return out
}

// spread counts time spans in cells that grow with them, so that a quantile is within 3 % of
// the exact one.
type spread struct {
	first  int // the cell of the first count
	counts []uint32
	n      int64
	// The extremes are exact, in nanoseconds.
	least, most int64
}

// spreadBits: each power of two has 1<<spreadBits cells.
const spreadBits = 4

// cellOf is the cell of a time span: what is below a microsecond is in the first.
func cellOf(v int64) int {
	if v <= 0 {
		return 0
	}
	f, e := math.Frexp(float64(v) / 1000)
	if e <= 0 {
		return 0
	}
	return (e-1)<<spreadBits + int((f*2-1)*(1<<spreadBits)) + 1
}

// cellMS is where a cell begins, in milliseconds.
func cellMS(cell int) float64 {
	if cell <= 0 {
		return 0
	}
	cell--
	return math.Ldexp(1+float64(cell&(1<<spreadBits-1))/(1<<spreadBits), cell>>spreadBits) / 1000
}

// add counts a time span in nanoseconds, n times.
func (s *spread) add(v int64, n int) {
	c := cellOf(v)
	s.reach(c, c)
	s.counts[c-s.first] += uint32(n)
	if s.n == 0 {
		s.least, s.most = v, v
	}
	s.least, s.most = min(s.least, v), max(s.most, v)
	s.n += int64(n)
}

// reach makes room for the cells from lo to hi.
func (s *spread) reach(lo, hi int) {
	if len(s.counts) == 0 {
		s.first, s.counts = lo, make([]uint32, hi-lo+1)
		return
	}
	if lo < s.first {
		s.counts = append(make([]uint32, s.first-lo, s.first-lo+len(s.counts)), s.counts...)
		s.first = lo
	}
	for len(s.counts) <= hi-s.first {
		s.counts = append(s.counts, 0)
	}
}

func (s *spread) merge(o *spread) {
	if o.n == 0 {
		return
	}
	if s.n == 0 {
		*s = *o
		return
	}
	s.reach(o.first, o.first+len(o.counts)-1)
	for i, n := range o.counts {
		s.counts[o.first-s.first+i] += n
	}
	s.n += o.n
	s.least, s.most = min(s.least, o.least), max(s.most, o.most)
}

// quantile is about the quantile q in milliseconds; NaN for none.
func (s *spread) quantile(q float64) float64 {
	if s.n == 0 {
		return math.NaN()
	}
	rank := q * float64(s.n-1)
	var below float64
	for i, n := range s.counts {
		if n > 0 && below+float64(n) > rank {
			lo, hi := cellMS(s.first+i), cellMS(s.first+i+1)
			v := lo + (hi-lo)*(rank-below+0.5)/float64(n)
			return min(max(v, float64(s.least)/1e6), float64(s.most)/1e6)
		}
		below += float64(n)
	}
	return cellMS(s.first + len(s.counts))
}
