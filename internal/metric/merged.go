package metric

import (
	"math"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// group is token events that came close to each other, in one read or in several.
type group struct {
	read   int   // the first
	events int64 // all of them
	first  int64 // those of the first read
	delay  int64 // from the arrival of the last of those to the read; MaxInt64: not known
}

// noWait is the delay of the first read of an answer, which nothing tells apart from
// the time that the server took.
const noWait = -1

// The bounds of what counts as reading at once.
const (
	leastAtOnce = int64(time.Millisecond / 4)
	mostAtOnce  = int64(time.Millisecond)
)

// regroup puts a token event that came with the given read to those before it, the last
// of which came with another, or with the same.
func (r *Request) regroup(read, last int) {
	m := &r.Marks[read]
	if n := len(r.groups); n > 0 {
		g := &r.groups[n-1]
		if read == last || int64(m.At()-r.Last) <= apart {
			if g.events++; g.read == read {
				g.first++
			}
			return
		}
	}
	g := group{read: read, events: 1, first: 1, delay: math.MaxInt64}
	switch {
	case read == 0 || int64(m.At()-r.Marks[read-1].At()) <= apart:
		g.delay = noWait
	case m.Kernel != record.Never:
		g.delay = int64(m.User - m.Kernel)
	}
	r.groups = append(r.groups, g)
}

// lateEvents is how many token events this client put together with later ones by
// reading late.
//
// The kernel stamps the last event of a read alone. But who reads late does so at any
// moment between two arrivals, and who finds several events at once, right after the
// last has come, has not kept them waiting: the server wrote them together. So a read
// soon after the arrival is no late one. Where most are like that, they also tell how many
// events the server writes at a time, and a read that was late has only those
// beyond that number to answer for.
func (r *Request) lateEvents() int64 {
	atOnce := mostAtOnce
	if r.events > 1 {
		// At a quarter of the time per event, at most one late read in four passes.
		atOnce = min(max(int64(r.Last-r.First)/int64(r.events-1)/4, leastAtOnce), mostAtOnce)
	}
	r.scratch = r.scratch[:0]
	reads := 0
	for _, g := range r.groups {
		if g.delay == noWait {
			continue
		}
		if reads++; g.delay <= atOnce {
			r.scratch = append(r.scratch, g.events)
		}
	}
	usual := int64(1)
	if len(r.scratch) > reads/2 {
		slices.Sort(r.scratch)
		usual = r.scratch[len(r.scratch)/2]
	}
	var late int64
	for _, g := range r.groups {
		if g.delay > atOnce {
			late += max(g.first-usual, 0)
		}
	}
	r.blur = r.firstBlur(usual)
	return late
}

// firstBlur is by how much the stamp of the first token event can be too late, because its
// read holds more of them than those after it: the stamp is that of the last. Nothing tells
// whether the server wrote them together, so that it is a bound and no more.
func (r *Request) firstBlur(usual int64) int64 {
	if len(r.groups) == 0 { // no event was kept
		return 0
	}
	first := &r.groups[0]
	extra, rest := first.first-usual, int64(r.events)-first.events
	if extra <= 0 || rest <= 0 {
		return 0
	}
	return extra * int64(r.Last-r.First) / rest
}
