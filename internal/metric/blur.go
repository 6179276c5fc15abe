package metric

import (
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// blur is how far the truth of a time can lie before and behind what is taken for it.
type blur struct{ below, above time.Duration }

// since is how much shorter and how much longer the time from another one can be.
func (to blur) since(from blur) (below, above int64) {
	return int64(to.below + from.above), int64(to.above + from.below)
}

// blurs are those of a request's times. The zero value is of one that is exact.
type blurs struct {
	sent, due                            blur
	byte                                 blur // of the first read
	opened, first, second, last, visible blur
	end                                  blur
	events                               bool // of the events there is one that is not exact
}

// fitsBuffer is how much a socket takes at once: what is longer waits for the other side.
const fitsBuffer = 64 << 10

// loadBlur reads how well the times of a request are known, but for those of its events.
func (r *Request) loadBlur() {
	r.blur = blurs{}
	b := &r.blur
	if written := r.Written - r.Sent; r.Sent != record.Never && r.Written != record.Never && written > 0 && r.Retries == 0 &&
		(r.Size <= fitsBuffer || r.Resent > 0) {
		// It went at some time from its stamp on; where it went twice, from the first time on.
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

// prompt is how soon after its last segment a read shows that nothing had waited long.
const prompt = time.Millisecond / 4

// loadBlurred gives each event the times between which it came. The one that is taken for it lies
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
		end, share := m.Time(), 0.0 // share is of the width, between two of its events
		if late := m.Kernel == record.Never || m.User-m.Kernel > prompt; late {
			share = 1 / float64(n-i)
		}
		for k := i; k < n; k++ {
			width := m.BlurOf(!events[k].Merged)
			at := end - time.Duration(float64(width)*share*float64(n-1-k))
			before = min(max(before, at), end)
			earliest = min(max(earliest, end-width), before)
			r.at = append(r.at, before)
			r.bounds = append(r.bounds, blur{below: before - earliest, above: end - before})
		}
		i = n
	}
}

// addGap adds the gap between two token events, with its bounds where one is not exact.
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
