package metric

import (
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

const (
	// stallFactor: a gap of more than this many median gaps is a stall.
	stallFactor = 5
	// apart is the gap from which on two events are taken to have been sent
	// one by one.
	apart = int64(time.Millisecond)
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

	events    int     // token events
	gaps      []int64 // between adjacent token events
	gapCount  int     // of those and of the ones that were not kept
	perToken  []int64 // the same for each token; nil: not known
	tokensIn  int64   // tokens in the events after the first, where perToken is known
	longest   int64   // the longest of gaps
	stalled   int64   // time in gaps over stallFactor × the median
	groups    []group // token events by read
	late      int64   // token events that this client put together with later ones
	unsure    int64   // the same where nobody can say whether they were merged or sent together
	blur      int64   // by how much the first stamp can be too late: see firstBlur
	apart     int64   // token events apart from the one before
	unstamped int64   // reads without a kernel stamp
	delays    []int64 // of reads with one

	local  bool          // Tokens is this side's count, where the server has one too
	closed bool          // the stage is a closed loop
	from   time.Duration // when its measured part begins

	spread  []int64 // backing of perToken where it is not gaps
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
	r.loadReads()
	r.Opened, r.First, r.Second, r.Last, r.Visible = record.Never, record.Never, record.Never, record.Never, record.Never
	r.events, r.longest, r.stalled, r.late, r.unsure, r.apart, r.tokensIn, r.blur = 0, 0, 0, 0, 0, 0, 0, 0
	r.gaps, r.gapCount, r.perToken, r.groups = r.gaps[:0], 0, nil, r.groups[:0]
	if rec.Failure == nil {
		r.loadEvents()
	}
	r.Stream = r.events > 0
}

// silent reports whether the answer was a stream that carried no token.
func (r *Request) silent() bool {
	return r.Streamed && r.events == 0 && len(r.Events) > 0 && r.Events[0].Label != record.Whole
}

// loadReads takes the delay of each read.
func (r *Request) loadReads() {
	r.delays, r.unstamped = r.delays[:0], 0
	if r.Tail != nil {
		r.unstamped = r.Tail.Reads - r.Tail.Delays.Len()
	}
	for i := range r.Marks {
		m := &r.Marks[i]
		if m.Kernel == record.Never {
			r.unstamped++
			continue
		}
		r.delays = append(r.delays, int64(m.User-m.Kernel))
	}
}

func (r *Request) loadEvents() {
	marks := r.Marks
	if ev := r.Record.Events; len(ev) > 0 && uint(ev[0].Mark) < uint(len(marks)) {
		r.Opened = marks[ev[0].Mark].At()
	}
	known, single := true, true // token counts of all events; one token in each after the first
	var tokens int64
	last := -1 // read of the token event before
	for i := range r.Record.Events {
		e := &r.Record.Events[i]
		if !r.carries(e) {
			continue
		}
		at := marks[e.Mark].At()
		known = known && e.Tokens > 0
		if r.events == 0 {
			r.First = at
		} else {
			gap := int64(at - r.Last)
			r.gaps = append(r.gaps, gap)
			r.longest = max(r.longest, gap)
			single = single && e.Tokens == 1
			tokens += int64(e.Tokens)
			if gap > apart {
				r.apart++
			}
		}
		if r.Visible == record.Never && e.Label == record.Content {
			r.Visible = at
		}
		r.regroup(e.Mark, last)
		last = e.Mark
		r.events++
		r.Last = at
	}
	if r.Sparse {
		r.gaps, r.longest, r.apart = r.gaps[:0], 0, 0
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
	if len(r.gaps) > 0 {
		r.Second = r.First + time.Duration(r.gaps[0])
	}
	// What only shares its read with the end of the stream, sent right behind it, is not
	// late; and what the kernel did not merge was sent together.
	if r.late += r.lateEvents(); r.Merged < 0 {
		r.unsure, r.late = r.late, 0
	}
	r.late = min(r.late, int64(max(r.Merged, 0)))
	if r.Tail != nil {
		r.stalled = r.tailStalls()
	} else {
		r.stalled = r.stalls()
	}
	if known {
		r.tokensIn = tokens
		r.perToken = r.gaps
		if !single {
			r.spreadGaps()
		}
	}
}

// even reports whether the gaps between tokens are the gaps between events.
func (r *Request) even() bool {
	return r.Tail == nil && len(r.perToken) > 0 && &r.perToken[0] == &r.gaps[0]
}

// spreadGaps gives each token its share of the gap before its event, in whole
// nanoseconds that add up to the gap.
func (r *Request) spreadGaps() {
	r.spread = r.spread[:0]
	i := -1
	for k := range r.Record.Events {
		e := &r.Record.Events[k]
		if !r.carries(e) {
			continue
		}
		if i >= 0 {
			n := int64(e.Tokens)
			each, rest := r.gaps[i]/n, r.gaps[i]%n
			if rest < 0 {
				each, rest = each-1, rest+n
			}
			for j := range n {
				v := each
				if j < rest {
					v++
				}
				r.spread = append(r.spread, v)
			}
		}
		i++
	}
	r.perToken = r.spread
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
