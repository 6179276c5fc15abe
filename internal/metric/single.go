package metric

import (
	"iter"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// Value is the value of one request in the metric's unit, where it has one: its sample, or what
// an objective is compared with where its samples are pooled.
func (d *Def) Value(r *Request) (float64, bool) {
	of := d.perRequest()
	if of == nil || r.Failure != nil && !d.Failed {
		return 0, false
	}
	v, ok := of(r)
	return float64(v) / d.Scale, ok
}

// Samples is how many of the pooled samples are the request's.
func (d *Def) Samples(r *Request) int64 {
	if d.Many == nil || r.Failure != nil && !d.Failed {
		return 0
	}
	n := int64(len(d.Many(r)))
	if r.Tail == nil {
		return n
	}
	if tail := d.Tail(r); tail != nil {
		n += tail.Len()
	}
	return n
}

// TokenEvents are the token events that were kept of a successful request's stream, by their
// place among its events, each with the time since the one before it; Never: it is the first.
// Those times are the samples of inter_event_latency and, in as many parts as the event has
// tokens, of inter_token_latency.
func (r *Request) TokenEvents() iter.Seq2[int, time.Duration] {
	return func(yield func(int, time.Duration) bool) {
		n := 0
		for i := range r.Record.Events {
			e := &r.Record.Events[i]
			if r.Failure != nil || !r.carries(e) {
				continue
			}
			gap := record.Never
			if n > 0 && !r.Sparse {
				gap = time.Duration(r.gaps[n-1])
			}
			n++
			if !yield(i, gap) {
				return
			}
		}
	}
}

// carries reports whether an event is a token event.
func (r *Request) carries(e *record.Event) bool {
	return e.Label <= record.Refusal && e.Tokens != 0 && uint(e.Mark) < uint(len(r.Marks))
}

// TokensKnown reports whether the tokens of every event are known, so that the request has
// samples of inter_token_latency.
func (r *Request) TokensKnown() bool { return r.perToken != nil }
