package metric

import (
	"math"
	"time"
)

// timeline keeps what successful requests add up to in short spans of time, so that
// the halves of a window can be compared although its ends become known late. The
// spans are as short as a bounded number of them allows.
type timeline struct {
	shift uint // spans are 1<<shift nanoseconds long
	lo    int64
	spans []span
}

// span is a part of a timeline.
type span struct {
	// Of requests that ended in it.
	ended   float64
	latency float64 // Σ seconds
	squares float64 // Σ seconds²
	// Of all requests, the part of each that lies in it: so that requests which end
	// in waves still give an even flow.
	requests float64
	tokens   float64
}

const (
	firstShift = 28 // spans of 0.27 s
	maxSpans   = 4096
)

// add takes a successful request into account.
func (tl *timeline) add(sent, end time.Duration, tokens int) {
	if sent < 0 || end < sent {
		return
	}
	if tl.spans == nil {
		tl.shift, tl.lo = firstShift, int64(end)>>firstShift
	}
	tl.cover(sent, end)
	d := (end - sent).Seconds()
	at := &tl.spans[int64(end)>>tl.shift-tl.lo]
	at.ended++
	at.latency += d
	at.squares += d * d
	if end == sent {
		at.requests++
		at.tokens += float64(tokens)
		return
	}
	per := 1 / float64(end-sent)
	for i := int64(sent) >> tl.shift; i <= int64(end)>>tl.shift; i++ {
		part := float64(min(int64(end), (i+1)<<tl.shift)-max(int64(sent), i<<tl.shift)) * per
		s := &tl.spans[i-tl.lo]
		s.requests += part
		s.tokens += part * float64(tokens)
	}
}

// cover makes the spans reach from one moment to another, making them longer where
// there would be too many.
func (tl *timeline) cover(from, to time.Duration) {
	for {
		lo := min(tl.lo, int64(from)>>tl.shift)
		hi := max(tl.lo+int64(len(tl.spans)), int64(to)>>tl.shift+1)
		if hi-lo <= maxSpans {
			if add := tl.lo - lo; add > 0 {
				tl.spans = append(make([]span, add, hi-lo), tl.spans...)
				tl.lo = lo
			}
			for int64(len(tl.spans)) < hi-lo {
				tl.spans = append(tl.spans, span{})
			}
			return
		}
		tl.coarsen()
	}
}

// coarsen makes spans twice as long.
func (tl *timeline) coarsen() {
	lo := tl.lo >> 1
	n := 0
	if len(tl.spans) > 0 {
		n = int((tl.lo+int64(len(tl.spans))-1)>>1-lo) + 1
	}
	out := make([]span, n)
	for i, s := range tl.spans {
		out[(tl.lo+int64(i))>>1-lo].add(s, 1)
	}
	tl.lo, tl.spans = lo, out
	tl.shift++
}

// add adds a part of another span.
func (s *span) add(o span, part float64) {
	s.ended += o.ended * part
	s.latency += o.latency * part
	s.squares += o.squares * part
	s.requests += o.requests * part
	s.tokens += o.tokens * part
}

// merge adds another timeline, which it may change.
func (tl *timeline) merge(o *timeline) {
	if o.spans == nil {
		return
	}
	if tl.spans == nil {
		*tl = *o
		return
	}
	for tl.shift < o.shift {
		tl.coarsen()
	}
	for o.shift < tl.shift {
		o.coarsen()
	}
	was := tl.shift
	tl.cover(time.Duration(o.lo<<o.shift), time.Duration((o.lo+int64(len(o.spans)))<<o.shift-1))
	for ; was < tl.shift; was++ {
		o.coarsen()
	}
	for i, s := range o.spans {
		tl.spans[o.lo+int64(i)-tl.lo].add(s, 1)
	}
}

// between sums up a window; spans at its ends count by the part that lies in it.
func (tl *timeline) between(from, to time.Duration) span {
	var sum span
	for i, s := range tl.spans {
		a := (tl.lo + int64(i)) << tl.shift
		b := a + 1<<tl.shift
		in := min(b, int64(to)) - max(a, int64(from))
		if in > 0 {
			sum.add(s, float64(in)/float64(b-a))
		}
	}
	return sum
}

// Drift says how the second half of a window differs from the first.
type Drift struct {
	// Latency is the change of mean request latency, Flow that of output tokens
	// per second, or of requests where tokens are not counted, relative to the mean
	// of both halves.
	Latency, Flow float64
	// LatencyNoise and FlowNoise are how much change chance alone explains: three
	// standard errors.
	LatencyNoise, FlowNoise float64
	Tokens                  bool // Flow is of tokens
}

const (
	leastPerHalf = 30 // requests, for halves to be compared
	noiseErrors  = 3  // standard errors that chance is given
)

// drift compares the halves of a window, where they hold enough requests.
func (tl *timeline) drift(from, to time.Duration) (Drift, bool) {
	mid := from + (to-from)/2
	a, b := tl.between(from, mid), tl.between(mid, to)
	if a.ended < leastPerHalf || b.ended < leastPerHalf || a.requests <= 0 || b.requests <= 0 {
		return Drift{}, false
	}
	ma, ea := a.mean()
	mb, eb := b.mean()
	d := Drift{
		Latency:      change(ma, mb),
		LatencyNoise: noiseErrors * math.Hypot(ea, eb) / ((ma + mb) / 2),
		Flow:         change(a.requests, b.requests),
		FlowNoise:    noiseErrors * math.Sqrt(1/a.ended+1/b.ended),
	}
	if a.tokens > 0 && b.tokens > 0 {
		d.Flow, d.Tokens = change(a.tokens, b.tokens), true
	}
	if math.IsNaN(d.LatencyNoise) || math.IsInf(d.LatencyNoise, 0) {
		return Drift{}, false
	}
	return d, true
}

// mean is the mean latency and its standard error.
func (s *span) mean() (mean, err float64) {
	mean = s.latency / s.ended
	variance := max(0, s.squares/s.ended-mean*mean)
	return mean, math.Sqrt(variance / s.ended)
}

// change is the difference from a to b relative to their mean.
func change(a, b float64) float64 {
	if a+b == 0 {
		return 0
	}
	return (b - a) / ((a + b) / 2)
}
