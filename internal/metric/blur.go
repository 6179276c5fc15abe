package metric

import (
	"math"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// blur is how far the truth of a moment can lie before and behind what is taken for it.
type blur struct{ below, above time.Duration }

// since is the same of the time from another moment to this one: how much shorter and how much
// longer it can be.
func (to blur) since(from blur) (below, above int64) {
	return int64(to.below + from.above), int64(to.above + from.below)
}

// blurs are those of a request's moments. The zero value is of one that is exact.
type blurs struct {
	sent, due                            blur
	byte                                 blur // of the first read
	opened, first, second, last, visible blur
	end                                  blur
	events                               bool // of the events there is one that is not exact
}

// fitsBuffer is how much a socket takes at once: what is longer waits for the other side.
const fitsBuffer = 64 << 10

// loadBlur reads how well the moments of a request are known, but for those of its events.
func (r *Request) loadBlur() {
	r.blur = blurs{}
	b := &r.blur
	if written := r.Written - r.Sent; r.Sent != record.Never && r.Written != record.Never && written > 0 && r.Retries == 0 && (r.Size <= fitsBuffer || r.Resent > 0) {
		// It went at some moment from its stamp on; where it went twice, from the first time on.
		b.sent.above = written
	}
	b.due.above = b.sent.above
	if own, ok := ownDelay(r); ok {
		b.due.above += time.Duration(own)
	}
	if n := len(r.Marks); n > 0 {
		b.byte.below = r.Marks[0].Blur
		if last := &r.Marks[n-1]; last.Time() == r.End {
			b.end.below = last.BlurOf(true)
		}
	}
}

// prompt is how soon after its last segment a read must come to show that nothing had waited
// there for long.
const prompt = time.Millisecond / 4

// loadBlurred gives each event the moments between which it came. The one that is taken for it lies
// between them: where a read came late and holds several events, they are taken to have come evenly
// since the socket was last seen empty; of a prompt one, all with its last segment. None came before
// the request had gone, or before the event ahead of it.
func (r *Request) loadBlurred() {
	r.at, r.bounds = r.at[:0], r.bounds[:0]
	events, before, earliest := r.Record.Events, r.Sent, r.Sent
	for i := 0; i < len(events); {
		mark := events[i].Mark
		n := i + 1
		for n < len(events) && events[n].Mark == mark {
			n++
		}
		var m record.Read
		if uint(mark) < uint(len(r.Marks)) {
			m = r.Marks[mark]
		}
		late := m.Kernel == record.Never || m.User-m.Kernel > prompt
		for k := i; k < n; k++ {
			at, width := m.Time(), m.BlurOf(!events[k].Merged)
			lo := at - width
			if late {
				at -= width * time.Duration(n-1-k) / time.Duration(n-i)
			}
			before = min(max(before, at), m.Time())
			earliest = min(max(earliest, lo), before)
			r.at = append(r.at, before)
			r.bounds = append(r.bounds, blur{below: before - earliest, above: m.Time() - before})
		}
		i = n
	}
}

// addGap adds the gap between two token events, with its least and its most where one of them is
// not exact.
func (r *Request) addGap(at time.Duration, b blur) int64 {
	gap := int64(at - r.Last)
	r.gaps = append(r.gaps, gap)
	if r.blur.events {
		below, above := b.since(r.blur.last)
		r.gapLeast = append(r.gapLeast, max(gap-below, 0))
		r.gapMost = append(r.gapMost, gap+above)
	}
	return gap
}

// longestBounds are how much less and more the longest gap can have been.
func (r *Request) longestBounds() (below, above int64) {
	if !r.blur.events {
		return 0, 0
	}
	var least, most int64
	for i := range r.gapLeast {
		least, most = max(least, r.gapLeast[i]), max(most, r.gapMost[i])
	}
	if t := r.Tail; t != nil && t.Blurred() {
		least, most = max(least, t.Least.Max()), max(most, t.Greatest.Max())
	} else if t != nil {
		least, most = max(least, t.Gaps.Max()), max(most, t.Gaps.Max())
	}
	return max(r.longest-least, 0), max(most-r.longest, 0)
}

// pace are the tokens per second of a stream after its first. Where all of it may have come at once,
// it is taken to have come as slowly as it can.
func (r *Request) pace() (int64, bool) {
	span := int64(r.Last - r.First)
	if span <= 0 {
		_, span = r.blur.last.since(r.blur.first)
	}
	if r.Tokens < 2 || span <= 0 {
		return 0, false
	}
	return r.paceOver(span), true
}

// paceBounds are how much less and more that can have been.
func (r *Request) paceBounds() (below, above int64) {
	v, ok := r.pace()
	if !ok {
		return 0, 0
	}
	shorter, longer := r.blur.last.since(r.blur.first)
	span := int64(r.Last - r.First)
	return v - r.paceOver(span+longer), r.paceOver(max(span-shorter, 1)) - v
}

func (r *Request) paceOver(span int64) int64 {
	return min(ratio(float64(r.Tokens-1), time.Duration(span).Seconds()), mostPace)
}

// mostPace is faster than any stream: ten million tokens a second.
const mostPace = 10_000_000 * micro

// near is the width up to which a sample's bounds are kept as the widest of them and not one by
// one: so many nanoseconds, or the share 1/nearShare of the sample.
const (
	near      = int64(25 * time.Microsecond)
	nearShare = 512
)

// bounded is what bounds the samples of a metric.
type bounded struct {
	below, above [2]int64 // Σ of how much less and more they can be, by set
	// The widest bounds of samples that are nearly exact, by side: of those up to near, and of the
	// others in steps and as a share.
	steps, large [2]int64
	share        [2]float64
	unbounded    bool // the sums are more than can be counted
	// The others: as taken, and their ends. nil: there are none. Those that are nearly exact are
	// in the metric's own column.
	taken, least, most *stat.Column
	part               stat.Part // to which what is added to taken belongs
}

// in says to which part of the stage what is added from now on belongs.
func (b *bounded) in(part stat.Part) {
	if b.part = part; b.taken != nil {
		b.taken.In(part)
	}
}

// nearly reports whether a sample that can be so much less and more is as good as exact, and notes
// it.
func (b *bounded) nearly(v, below, above int64) bool {
	if below|above == 0 {
		return true
	}
	widest := max(below, above)
	switch {
	case widest <= near:
		b.steps[0], b.steps[1] = max(b.steps[0], below), max(b.steps[1], above)
	case widest <= v/nearShare:
		b.large[0], b.large[1] = max(b.large[0], below), max(b.large[1], above)
		b.share[0], b.share[1] = max(b.share[0], float64(below)/float64(v)), max(b.share[1], float64(above)/float64(v))
	default:
		return false
	}
	return true
}

// off is by how much a figure of nearly exact samples can be off, on one side.
func (b *bounded) off(side int, v float64) float64 {
	return float64(b.steps[side]) + min(float64(b.large[side]), b.share[side]*v)
}

// sum adds what the sum of samples can be less and more.
func (b *bounded) sum(below, above int64, in stat.Set) {
	for set := range b.below {
		if in&(1<<set) != 0 {
			b.below[set] += below
			b.above[set] += above
			b.unbounded = b.unbounded || b.above[set] > math.MaxInt64/2
		}
	}
}

// open makes the columns.
func (b *bounded) open(pool *stat.Pool) {
	if b.taken == nil {
		b.taken, b.least, b.most = pool.Column(), pool.Column(), pool.Column()
		b.taken.In(b.part)
	}
}

// one adds a sample to a metric's column, or to those of its bounds.
func (b *bounded) one(pool *stat.Pool, col *stat.Column, v, below, above int64, in stat.Set) {
	below = min(below, max(v, 0)) // no sample is less than nothing
	b.sum(below, above, in)
	b.add(pool, col, v, below, above, in)
}

// all adds samples whose sum can be so much less and more, with the ends of each.
func (b *bounded) all(pool *stat.Pool, col *stat.Column, values, least, most []int64, below, above int64, in stat.Set) {
	b.sum(below, above, in)
	for i := 0; i < len(values); {
		// Neighbours are mostly of a kind: those of one late read.
		from := i
		for i < len(values) && b.nearly(values[i], values[i]-least[i], most[i]-values[i]) {
			i++
		}
		col.AppendAll(values[from:i], in)
		from = i
		for i < len(values) && !b.nearly(values[i], values[i]-least[i], most[i]-values[i]) {
			i++
		}
		if from < i {
			b.open(pool)
			b.taken.AppendAll(values[from:i], in)
			b.least.AppendAll(least[from:i], in)
			b.most.AppendAll(most[from:i], in)
		}
	}
}

// tail adds the samples of the part of a stream that was not kept event by event.
func (b *bounded) tail(pool *stat.Pool, t *record.Tail, in stat.Set) {
	b.open(pool)
	for i, s := range []*record.TailHistogram{&t.Gaps, &t.Least, &t.Greatest} {
		s.Each(func(values []int64) { b.columns()[i][0].AppendAll(values, in) })
	}
}

func (b *bounded) add(pool *stat.Pool, col *stat.Column, v, below, above int64, in stat.Set) {
	if b.nearly(v, below, above) {
		col.Append(v, in)
		return
	}
	b.open(pool)
	b.taken.Append(v, in)
	b.least.Append(v-below, in)
	b.most.Append(v+above, in)
}

// columns are the columns of one lot of bounds.
func (b *bounded) columns() (lots [][]*stat.Column) {
	if b == nil || b.taken == nil {
		return nil
	}
	return [][]*stat.Column{{b.taken}, {b.least}, {b.most}}
}

func (b *bounded) close() {
	for _, lot := range b.columns() {
		lot[0].Close()
	}
}

// merge moves what o holds into b.
func (b *bounded) merge(pool *stat.Pool, o *bounded) error {
	for i := range b.below {
		b.below[i] += o.below[i]
		b.above[i] += o.above[i]
		b.unbounded = b.unbounded || o.unbounded || b.above[i] < 0
		b.steps[i] = max(b.steps[i], o.steps[i])
		b.large[i] = max(b.large[i], o.large[i])
		b.share[i] = max(b.share[i], o.share[i])
	}
	if o.taken == nil {
		return nil
	}
	b.open(pool)
	from := o.columns()
	for i, lot := range b.columns() {
		if err := lot[0].Merge(from[i][0]); err != nil {
			return err
		}
	}
	return nil
}
