package metric

import (
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// arrival is what is kept of a request for judging trends.
type arrival struct {
	seq       int64
	session   uint64 // that it belongs to; 0: none
	due, sent time.Duration
	end       time.Duration
	first     time.Duration // its first token; Never: none was seen
	perToken  int64         // time per output token; -1: not known
	warm      bool          // it belongs to the warm-up: it is in the way of others, no more
	tokens    int           // of the response; 0: not known
	in        int           // tokens of the prompt that the server had to read; 0: not known
	prompt    float64       // how long its first token is expected to take, of typical requests
	work      float64       // how long it is expected to take, of typical requests
	open      bool          // it was in flight when the client gave up: it took at least that long
}

// arrivals keeps requests in a bounded number: which ones are left out when they become
// too many depends on their numbers alone, so that they come out the same in whatever
// order the requests come and however they are shared out among folds.
type arrivals struct {
	thin uint // one of 1<<thin is kept
	kept []arrival
}

// mostArrivals is how many requests of a stage are kept.
const mostArrivals = 8192

func (a *arrivals) add(r *Request) {
	if r.Sent == record.Never || r.End < r.Sent || !a.keeps(r.Seq) {
		return
	}
	v := arrival{seq: r.Seq, due: r.Due, sent: r.Sent, end: r.End, first: r.First, perToken: -1, warm: r.Phase != record.Measured,
		session: sessionOf(r.Session)}
	if r.In.Source != record.Uncounted {
		v.in = max(0, r.In.N-max(0, r.Cached))
	}
	if r.Failure != nil {
		if !unfinished(r.Failure.Class) {
			return
		}
		v.open, v.first = true, firstToken(r.Record)
	} else if per, ok := timePerToken(r); ok {
		v.perToken, v.tokens = per, r.Tokens
	}
	a.kept = append(a.kept, v)
	a.trim()
}

// unfinished reports whether a failure means that the response took as long as the client waited,
// or more.
func unfinished(c record.Class) bool {
	switch c {
	case record.TimedOut, record.NoFirstByte, record.Stalled:
		return true
	}
	return c.EndedHere()
}

// firstToken is the stamp of the first token event of a response that did not end well, or
// of its first bytes where its events are not known.
func firstToken(rec *record.Record) time.Duration {
	for i := range rec.Events {
		e := &rec.Events[i]
		if e.Label <= record.Refusal && e.Tokens != 0 && uint(e.Mark) < uint(len(rec.Marks)) {
			return rec.Marks[e.Mark].Time()
		}
	}
	if len(rec.Marks) > 0 {
		return rec.Marks[0].Time()
	}
	return record.Never
}

// keeps reports whether the request of a number is among those that are kept.
func (a *arrivals) keeps(seq int64) bool {
	h := uint64(seq) * 0x9e3779b97f4a7c15 // neighbours must not share a fate
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return h>>(64-a.thin) == 0 // a shift by 64 gives 0
}

// mostThin is the thinnest that requests with numbers of their own can become. Those of a
// damaged or foreign file may all have the same.
const mostThin = 63

// trim leaves out half of the requests until they are few enough.
func (a *arrivals) trim() {
	for len(a.kept) > mostArrivals {
		if a.thin == mostThin {
			a.kept = a.kept[:mostArrivals]
			return
		}
		a.thin++
		a.kept = slices.DeleteFunc(a.kept, func(v arrival) bool { return !a.keeps(v.seq) })
	}
}

func (a *arrivals) merge(o *arrivals) {
	a.thin = max(a.thin, o.thin)
	a.kept = append(a.kept, o.kept...)
	a.kept = slices.DeleteFunc(a.kept, func(v arrival) bool { return !a.keeps(v.seq) })
	a.trim()
}
