package metric

import (
	"cmp"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

const (
	// stallFactor: a gap of more than this many median gaps is a stall.
	stallFactor = 5
	// apart is from how long on it matters that a read may have come earlier.
	apart = time.Millisecond
)

// Request is one request as the formulas see it: its record, and what is read off
// its events once for all of them.
//
// A token event is an event of a stream that carries output tokens.
type Request struct {
	*record.Record

	Opened  time.Duration // stamp of the first event of any label; Never without one
	First   time.Duration // stamp of the first token event
	Second  time.Duration
	Last    time.Duration
	Visible time.Duration // stamp of the first token event with visible text
	Stream  bool          // it has token events
	Tokens  int           // output tokens; -1: not known
	Good    bool          // it counts, succeeded and met every objective

	events    int     // token events
	gaps      []int64 // between adjacent token events
	gapCount  int     // of those and of the ones that were not kept
	perToken  []int64 // the same for each token; nil means not known
	tokensIn  int64   // tokens in the events after the first, where perToken is known
	longest   int64   // the longest of gaps
	stalled   int64   // time in gaps over stallFactor × the median
	unstamped int64   // reads without a kernel stamp
	unbounded int64   // those of them whose earliest time is unknown
	merged    int64   // reads of which a part can have come more than apart before
	delays    []int64 // of reads with one

	blur                        blurs
	at                          []time.Duration // of its events, where one of them is not exact
	bounds                      []blur          // of those
	gapLeast, gapMost           []int64         // of gaps, where one of its events is not exact
	perTokenLeast, perTokenMost []int64         // of perToken

	local  bool          // Tokens is this side's count, where the server has one too
	closed bool          // the stage is a closed loop
	from   time.Duration // when its measured part begins

	spread  [3][]int64 // backing of perToken and its ends where it is not gaps
	scratch []int64
}

// load reads rec. The slices of the last record are used again.
func (r *Request) load(rec *record.Record) {
	r.Record = rec
	r.Tokens = -1
	if rec.Out.Source != record.Uncounted {
		r.Tokens = rec.Out.N
	}
	if r.local {
		r.Tokens = rec.Out.Local
	}
	r.loadBlur()
	r.loadReads()
	r.Opened, r.First, r.Second, r.Last, r.Visible = record.Never, record.Never, record.Never, record.Never, record.Never
	r.events, r.longest, r.stalled, r.tokensIn = 0, 0, 0, 0
	r.gaps, r.gapCount, r.perToken = r.gaps[:0], 0, nil
	r.gapLeast, r.gapMost, r.perTokenLeast, r.perTokenMost = r.gapLeast[:0], r.gapMost[:0], nil, nil
	if rec.Failure == nil {
		r.loadEvents()
	}
	r.Stream = r.events > 0
}

// silent reports whether the response was a stream that carried no token.
func (r *Request) silent() bool {
	return r.Streamed && r.events == 0 && len(r.Events) > 0 && r.Events[0].Label != record.Whole
}

// loadReads takes the delay of each read.
func (r *Request) loadReads() {
	r.delays, r.unstamped, r.unbounded, r.merged = r.delays[:0], 0, 0, 0
	if r.Tail != nil {
		r.unstamped = r.Tail.Reads - r.Tail.Delays.Len()
	}
	for i := range r.Marks {
		m := &r.Marks[i]
		if m.Blur != 0 {
			r.blur.events = true
			if m.Blur > apart {
				r.merged++
			}
		}
		if m.Kernel == record.Never {
			r.unstamped++
			if m.Blur == 0 {
				r.unbounded++
			}
			continue
		}
		r.delays = append(r.delays, int64(m.User-m.Kernel))
	}
}

func (r *Request) loadEvents() {
	marks := r.Marks
	if r.blur.events {
		r.loadBlurred()
	}
	if ev := r.Record.Events; len(ev) > 0 && uint(ev[0].Mark) < uint(len(marks)) {
		r.Opened, r.blur.opened = r.moment(0)
	}
	known, single := true, true // token counts of all events; one token in each after the first
	var tokens int64
	for i := range r.Record.Events {
		e := &r.Record.Events[i]
		if !r.carries(e) {
			continue
		}
		at, b := r.moment(i)
		known = known && e.Tokens > 0
		if r.events == 0 {
			r.First, r.blur.first = at, b
		} else {
			r.longest = max(r.longest, r.addGap(at, b))
			single = single && e.Tokens == 1
			tokens += int64(e.Tokens)
		}
		if r.events == 1 {
			r.Second, r.blur.second = at, b
		}
		if r.Visible == record.Never && e.Label == record.Content {
			r.Visible, r.blur.visible = at, b
		}
		r.events++
		r.Last, r.blur.last = at, b
	}
	if r.Sparse {
		r.gaps, r.longest, r.Second = r.gaps[:0], 0, record.Never
		return
	}
	r.gapCount = len(r.gaps)
	if r.Tail != nil {
		r.loadTail()
		known = known && r.Tail.Tokens == 1
		tokens += r.Tail.Gaps.Len()
	}
	if r.gapCount == 0 {
		return
	}
	if r.Tail != nil {
		r.stalled = r.tailStalls()
	} else {
		r.stalled = r.stalls()
	}
	if known {
		r.tokensIn = tokens
		r.perToken, r.perTokenLeast, r.perTokenMost = r.gaps, r.gapLeast, r.gapMost
		if !single {
			r.spreadGaps()
		}
	}
}

// moment is when an event came, and how well that is known.
func (r *Request) moment(event int) (time.Duration, blur) {
	if r.blur.events {
		return r.at[event], r.bounds[event]
	}
	return r.Marks[r.Record.Events[event].Mark].Time(), blur{}
}

// even reports whether the gaps between tokens are the gaps between events.
func (r *Request) even() bool {
	return r.Tail == nil && len(r.perToken) > 0 && &r.perToken[0] == &r.gaps[0]
}

// spreadGaps gives each token its share of the gap before its event.
func (r *Request) spreadGaps() {
	r.perToken = r.share(0, r.gaps)
	if r.blur.events {
		r.perTokenLeast, r.perTokenMost = r.share(1, r.gapLeast), r.share(2, r.gapMost)
	}
}

// share deals gaps out among the tokens of the events behind them, in whole nanoseconds.
func (r *Request) share(to int, gaps []int64) []int64 {
	shares := r.spread[to][:0]
	i := -1
	for k := range r.Record.Events {
		e := &r.Record.Events[k]
		if !r.carries(e) {
			continue
		}
		if i >= 0 {
			n := int64(e.Tokens)
			each, rest := gaps[i]/n, gaps[i]%n
			if rest < 0 {
				each, rest = each-1, rest+n
			}
			for j := range n {
				v := each
				if j < rest {
					v++
				}
				shares = append(shares, v)
			}
		}
		i++
	}
	r.spread[to] = shares
	return shares
}

// stalls is the time in gaps of more than stallFactor median gaps. Events that share
// a stamp count as one, so that a server that sends in bursts is not one that stalls.
func (r *Request) stalls() int64 {
	var positive, large int
	for _, g := range r.gaps {
		if g > 0 {
			positive++
		}
		if g > 0 && g*stallFactor >= r.longest {
			large++
		}
	}
	// With most gaps at a fifth of the longest or more, so is the median.
	if 2*large > positive {
		return 0
	}
	r.scratch = r.scratch[:0]
	for _, g := range r.gaps {
		if g > 0 {
			r.scratch = append(r.scratch, g)
		}
	}
	bound := stallFactor * stat.Median(r.scratch)
	var sum int64
	for _, g := range r.gaps {
		if g > bound {
			sum += g
		}
	}
	return sum
}

// loadTail takes in the events of a stream that were not kept one by one.
func (r *Request) loadTail() {
	t := r.Tail
	if t.Events == 0 {
		return
	}
	if r.events == 0 {
		r.First, r.blur.first = t.First, blur{below: t.FirstBlur}
	}
	if r.Visible == record.Never {
		r.Visible, r.blur.visible = t.Visible, blur{below: t.VisibleBlur}
	}
	r.Last, r.blur.last = t.Last, blur{below: t.LastBlur}
	r.events += int(t.Events)
	r.gapCount += int(t.Gaps.Len())
	r.longest = max(r.longest, t.Gaps.Max())
}

// tailGaps are the gaps of the events that were not kept, or nil.
func (r *Request) tailGaps() *record.TailHistogram {
	if r.Tail == nil || r.Failure != nil {
		return nil
	}
	return &r.Tail.Gaps
}

// tailTokens are the same between tokens.
func (r *Request) tailTokens() *record.TailHistogram {
	if r.tokensIn == 0 {
		return nil
	}
	return r.tailGaps()
}

// tailDelays are the delays of the reads that were not kept.
func (r *Request) tailDelays() *record.TailHistogram {
	if r.Tail == nil {
		return nil
	}
	return &r.Tail.Delays
}

// tailStalls is what stalls is of a stream that was folded.
func (r *Request) tailStalls() int64 {
	all := r.Tail.Gaps.Bins()
	for _, g := range r.gaps {
		all = append(all, record.Bin{N: 1, Sum: g})
	}
	all = slices.DeleteFunc(all, func(b record.Bin) bool { return b.Sum <= 0 })
	slices.SortFunc(all, func(a, b record.Bin) int { return cmp.Compare(a.Sum/a.N, b.Sum/b.N) })
	var n int64
	for _, b := range all {
		n += b.N
	}
	var median, below, sum int64
	for _, b := range all {
		if below += b.N; below > (n-1)/2 {
			median = b.Sum / b.N
			break
		}
	}
	for _, b := range all {
		if b.Sum/b.N > stallFactor*median {
			sum += b.Sum
		}
	}
	return sum
}
