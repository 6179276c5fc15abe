package metric

import (
	"math"
	"math/bits"
	"time"
)

// timeline keeps what successful requests add up to in short spans of time, so that
// the halves of a window can be compared although its ends become known late. The
// spans are as short as a bounded number of them allows.
//
// Its sums are integers, so that they come out the same in whatever order the
// requests come: a report from records agrees with its run to the last digit.
type timeline struct {
	shift uint // spans are 1<<shift nanoseconds long
	lo    int64
	spans []span
}

// span is a part of a timeline.
type span struct {
	// Of requests that ended in it.
	ended   int64
	latency int64 // Σ nanoseconds
	squares wide  // Σ nanoseconds²
	// Of all requests, the part of each that lies in it, in units of 1/fullPart: so
	// that requests which end in waves still give an even flow.
	requests int64
	tokens   int64
}

// fullPart is how many parts a request or a token has.
const fullPart = 1 << 20

// wide is an integer of 128 bits.
type wide struct{ hi, lo uint64 }

func (w *wide) add(o wide) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, o.lo, 0)
	w.hi, _ = bits.Add64(w.hi, o.hi, carry)
}

func (w wide) float() float64 { return float64(w.hi)*(1<<64) + float64(w.lo) }

// share is n × part ÷ of, rounded down, for part ≤ of. Differences of shares add up,
// however finely the way from 0 to of is cut.
func share(n, part, of int64) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(of))
	return int64(q)
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
	d := int64(end - sent)
	at := &tl.spans[int64(end)>>tl.shift-tl.lo]
	at.ended++
	at.latency += d
	hi, lo := bits.Mul64(uint64(d), uint64(d))
	at.squares.add(wide{hi, lo})
	if d == 0 {
		at.requests += fullPart
		at.tokens += fullPart * int64(tokens)
		return
	}
	var requests, output int64 // up to the spans before
	for i := int64(sent) >> tl.shift; i <= int64(end)>>tl.shift; i++ {
		upTo := min(int64(end), (i+1)<<tl.shift) - int64(sent)
		r, o := share(fullPart, upTo, d), share(fullPart*int64(tokens), upTo, d)
		s := &tl.spans[i-tl.lo]
		s.requests += r - requests
		s.tokens += o - output
		requests, output = r, o
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
		out[(tl.lo+int64(i))>>1-lo].add(s)
	}
	tl.lo, tl.spans = lo, out
	tl.shift++
}

// add adds another span.
func (s *span) add(o span) {
	s.ended += o.ended
	s.latency += o.latency
	s.squares.add(o.squares)
	s.requests += o.requests
	s.tokens += o.tokens
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
		tl.spans[o.lo+int64(i)-tl.lo].add(s)
	}
}

// sums are what spans add up to, in requests, seconds, seconds² and tokens.
type sums struct{ ended, latency, squares, requests, tokens float64 }

// add adds a part of a span.
func (s *sums) add(o span, part float64) {
	s.ended += float64(o.ended) * part
	s.latency += float64(o.latency) / 1e9 * part
	s.squares += o.squares.float() / 1e18 * part
	s.requests += float64(o.requests) / fullPart * part
	s.tokens += float64(o.tokens) / fullPart * part
}

// between sums up a window; spans at its ends count by the part that lies in it.
func (tl *timeline) between(from, to time.Duration) sums {
	var sum sums
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
func (s *sums) mean() (mean, err float64) {
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
