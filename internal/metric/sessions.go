package metric

import (
	"cmp"
	"hash/fnv"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// sessionOf is what the requests of one session have in common; 0: it belongs to none.
func sessionOf(session string) uint64 {
	if session == "" {
		return 0
	}
	h := fnv.New64a()
	h.Write([]byte(session))
	return max(h.Sum64(), 1)
}

// played is the load of a stage that plays sessions: how many requests are in flight changes as
// sessions think and run out, and with it what is asked of the server.
type played struct {
	steps []step        // where the number of requests in flight changes, in order
	thins time.Duration // from when on there were fewer and fewer sessions; record.NotYet: that never began
}

// step is a time from which on so many requests are in flight.
type step struct {
	at    time.Duration
	count int
}

// played works out the load of sessions from their requests. A session is in flight from its
// first request to the end of its last.
func (s *Series) played() *played {
	type span struct{ from, to time.Duration }
	spans := map[uint64]span{}
	p := &played{thins: record.NotYet}
	var last time.Duration // when the last one began
	for _, part := range [][]arrival{s.warm, s.kept} {
		for i := range part {
			v := &part[i]
			p.steps = append(p.steps, step{v.sent, 1}, step{v.end, -1})
			have, ok := spans[v.session]
			if !ok {
				have = span{v.sent, v.end}
			}
			spans[v.session] = span{min(have.from, v.sent), max(have.to, v.end)}
		}
	}
	for _, v := range spans {
		last = max(last, v.from)
	}
	for _, v := range spans {
		if v.to > last {
			p.thins = min(p.thins, v.to)
		}
	}
	slices.SortFunc(p.steps, func(a, b step) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.count, a.count)) })
	for i := 1; i < len(p.steps); i++ {
		p.steps[i].count += p.steps[i-1].count
	}
	return p
}

// edges cuts a time into n blocks in which requests were in flight for equally long, all of them
// together. With five in flight a block takes a fifth of the time that it takes with one: a
// server that does for each what it did before gives every block the same.
func (p *played) edges(from, to time.Duration, n int) []float64 {
	pieces := p.within(from, to)
	var all float64
	for _, v := range pieces {
		all += v.span * v.count
	}
	out := []float64{float64(from)}
	var sum float64
	for _, v := range pieces {
		for len(out) < n {
			need := all*float64(len(out))/float64(n) - sum
			if need > v.span*v.count {
				break
			}
			out = append(out, v.from+need/v.count)
		}
		sum += v.span * v.count
	}
	for len(out) <= n { // the last of them, and what rounding left over
		out = append(out, float64(to))
	}
	return out
}

// piece is part of a time in which the number of requests in flight did not change.
type piece struct{ from, span, count float64 }

// within are the pieces of a time in which any were in flight.
func (p *played) within(from, to time.Duration) []piece {
	var out []piece
	for i, s := range p.steps {
		end := to
		if i+1 < len(p.steps) {
			end = min(to, p.steps[i+1].at)
		}
		if begin := max(from, s.at); s.count > 0 && end > begin {
			out = append(out, piece{float64(begin), float64(end - begin), float64(s.count)})
		}
	}
	return out
}

// evenEdges cuts a time into n blocks of the same length.
func evenEdges(from, to time.Duration, n int) []float64 {
	out := make([]float64, n+1)
	for k := range out {
		out[k] = float64(from) + float64(to-from)*float64(k)/float64(n)
	}
	return out
}

// untilThin is the series without what was sent when sessions had begun to run out.
func (s *Series) untilThin() *Series {
	part := *s
	n, _ := slices.BinarySearchFunc(s.kept, s.load.thins, func(v arrival, at time.Duration) int { return cmp.Compare(v.sent, at) })
	part.kept, part.to = s.kept[:n], min(s.to, s.load.thins)
	return &part
}

// unthinned is a trend without what fewer sessions explain. A server that has fewer of
// them to serve at the end may well be faster then; whether it was slow at first is told by the
// time until then. One that became slower had less to do and took longer all the same.
func (s *Series) unthinned(t Trend, again func(*Series) (Trend, bool)) Trend {
	faster := t.Change < 0
	if t.Of == FlowTrend {
		faster = t.Change > 0
	}
	if s.load == nil || s.load.thins == record.NotYet || !faster || t.Effect <= t.Noise {
		return t
	}
	before, _ := again(s.untilThin())
	if before.Of = t.Of; before.Blocks < 2 && t.Of == FlowTrend {
		t.Effect = 0 // whether the first responses were slow is seen in their latencies
		return t
	}
	return before
}
