package metric

import (
	"iter"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// Reader looks at records one at a time, as a fold of the same options does, for reports that show
// single requests. It belongs to one goroutine.
type Reader struct {
	opts Options
	slos []objective
	req  Request
	to   time.Duration // where the steady window of the request's stage ends
}

// NewReader makes a Reader, of the options Closed, SLOs, Local and Times. Objectives that no fold
// takes are none.
func NewReader(opts Options) *Reader {
	slos, err := objectives(opts.SLOs)
	if err != nil {
		slos = nil
	}
	return &Reader{opts: opts, slos: slos}
}

// Read gives the request of a record, until the next is read.
func (r *Reader) Read(rec *record.Record) *Request {
	var from time.Duration
	from, r.to = r.opts.steady(rec.Stage)
	r.req.read(rec, &r.opts, from)
	return &r.req
}

// Steady reports whether the request read last ended in the steady window of its stage.
func (r *Reader) Steady() bool {
	q := &r.req
	return q.Stage >= 0 && q.Phase != record.Closing && q.from <= q.End && q.End <= r.to
}

// Good reports whether the last request succeeded and met every objective; !judged: there are none.
func (r *Reader) Good() (good, judged bool) {
	good = r.req.Failure == nil
	for i := range r.slos {
		good = good && r.slos[i].metBy(&r.req).taken
	}
	return good, len(r.slos) > 0
}

// read loads a record as the options say; its stage is measured from then on.
func (r *Request) read(rec *record.Record, opts *Options, from time.Duration) {
	r.closed = opts.ClosedLoop(rec.Stage)
	r.from = from
	r.local = opts.Local && rec.Out.Source == record.FromServer && rec.Out.Local >= 0
	r.load(rec)
}

// Only is the sample that a request has of a metric with one at most.
func (d *Def) Only(r *Request) (v int64, ok bool) {
	if d.Sample == nil || r.Failure != nil && !d.Failed {
		return 0, false
	}
	return d.Sample(r)
}

// Each gives all samples that a request has of the metric to each, in the steps of Scale.
func (d *Def) Each(r *Request, each func(v int64)) {
	switch {
	case d.Rate != nil || r.Failure != nil && !d.Failed:
	case d.Sample != nil:
		if v, ok := d.Only(r); ok {
			each(v)
		}
	default:
		all := func(values []int64) {
			for _, v := range values {
				each(v)
			}
		}
		all(d.Many(r))
		if r.Tail == nil {
			return
		}
		if tail := d.Tail(r); tail != nil {
			tail.Each(all)
		}
	}
}

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

// TokenEvents are the kept token events of a successful request's stream, by their place, with the
// time since the one before; Never: it is the first. Those are the samples of inter_event_latency
// and, split by tokens, of inter_token_latency.
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

func (r *Request) carries(e *record.Event) bool {
	return e.Label <= record.Refusal && e.Tokens != 0 && uint(e.Mark) < uint(len(r.Marks))
}

// TokensKnown reports whether the tokens of every event are known, as inter_token_latency needs.
func (r *Request) TokensKnown() bool { return r.perToken != nil }
