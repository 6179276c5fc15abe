package metric

import (
	"fmt"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// A request that this client ended, because the drain time was over, the run was stopped or its
// user went away, has not failed: it would have taken longer. What had come of it by then is a sample
// like any other, and what had not is a censored one: at least as long as the client waited.
// A request that ran into a limit of the plan has failed, and has no latency.

// course is a metric as the time from one time of a request to another.
type course struct {
	from func(*record.Record) time.Duration
	to   func(*record.Record) time.Duration // Never: it was not reached; nil means the end
	// stream: only a response that was asked for as a stream comes to it.
	stream bool
}

// courseOf is the course of a metric; nil means requests that did not end have no part in it.
func courseOf(id string) *course {
	sent := func(r *record.Record) time.Duration { return r.Sent }
	due := func(r *record.Record) time.Duration { return r.Due }
	switch id {
	case "request_latency":
		return &course{from: sent}
	case "request_latency_from_due":
		return &course{from: due}
	case "time_to_first_byte":
		return &course{from: sent, to: firstRead}
	case "time_to_first_event":
		return &course{from: sent, to: firstEvent, stream: true}
	case "time_to_first_token":
		return &course{from: sent, to: firstOf(record.Refusal), stream: true}
	case "time_to_first_token_from_due":
		return &course{from: due, to: firstOf(record.Refusal), stream: true}
	case "time_to_first_output_token":
		return &course{from: sent, to: firstOf(record.Content), stream: true}
	}
	return nil
}

func coursesOf(defs []Def) []*course {
	list := make([]*course, len(defs))
	for i := range defs {
		list[i] = courseOf(defs[i].ID)
	}
	return list
}

func firstRead(r *record.Record) time.Duration {
	if len(r.Marks) == 0 {
		return record.Never
	}
	return r.Marks[0].Time()
}

func firstEvent(r *record.Record) time.Duration {
	if len(r.Events) == 0 || uint(r.Events[0].Mark) >= uint(len(r.Marks)) {
		return record.Never
	}
	return r.Marks[r.Events[0].Mark].Time()
}

// firstOf finds the first token event with a label up to last.
func firstOf(last record.EventKind) func(*record.Record) time.Duration {
	return func(r *record.Record) time.Duration {
		for i := range r.Events {
			e := &r.Events[i]
			if e.Label <= last && e.Tokens != 0 && uint(e.Mark) < uint(len(r.Marks)) {
				return r.Marks[e.Mark].Time()
			}
		}
		switch {
		case r.Tail == nil || r.Tail.Events == 0:
			return record.Never
		case last == record.Content:
			return r.Tail.Visible
		}
		return r.Tail.First
	}
}

// sample is that of a request that did not end; censored: it is at least that. !ok: it has none.
func (c *course) sample(r *record.Record) (v int64, censored, ok bool) {
	from := c.from(r)
	if from == record.Never || c.stream && !r.Streamed {
		return 0, false, false
	}
	if c.to != nil {
		if at := c.to(r); at != record.Never {
			return int64(at - from), false, true
		}
	}
	return int64(r.End - from), true, r.End >= from
}

// endedHere reports whether it was this client that ended a request, with nothing wrong. One
// whose record is missing may have ended before, and nothing is known of it.
func endedHere(f *record.Failure) bool {
	return f != nil && f.Class.EndedHere() && !f.Unrecorded()
}

// cutColumns are the censored samples of metrics, each made when there is one.
type cutColumns []*stat.Column

// append adds a censored sample of the k-th of n metrics.
func (c *cutColumns) append(pool *stat.Pool, k, n int, v int64) {
	if *c == nil {
		*c = make(cutColumns, n)
	}
	if (*c)[k] == nil {
		(*c)[k] = pool.Column()
	}
	(*c)[k].Append(v, stat.First)
}

// columns are the columns of the k-th metric; none where nothing was censored.
func (c cutColumns) columns(k int) []*stat.Column {
	if c == nil || c[k] == nil {
		return nil
	}
	return []*stat.Column{c[k]}
}

func (c cutColumns) close() {
	for _, col := range c {
		if col != nil {
			col.Close()
		}
	}
}

func (c *cutColumns) merge(o cutColumns) error {
	if *c == nil {
		*c = o
		return nil
	}
	for k, col := range o {
		switch {
		case col == nil:
		case (*c)[k] == nil:
			(*c)[k] = col
		default:
			if err := (*c)[k].Merge(col); err != nil {
				return err
			}
		}
	}
	return nil
}

// cut appends the samples of a measured request that did not end. It is in the whole stage
// alone: the steady window is about those that ended in it.
func (f *Aggregator) cut(s *stageAggregate, r *Request) {
	for k, c := range f.courses {
		if c == nil {
			continue
		}
		switch v, censored, ok := c.sample(r.Record); {
		case !ok:
		case censored:
			s.cut.append(f.pool, k, len(f.defs), v)
		default:
			s.samples[k].one(v, int64(r.blurAt(c.from(r.Record)+time.Duration(v))+r.blur.due.above), 0, stat.First)
		}
	}
}

// blurAt is how long before the stamp of one of its reads a request's event can have come.
func (r *Request) blurAt(stamp time.Duration) time.Duration {
	for i := range r.Marks {
		if r.Marks[i].Time() == stamp {
			return r.Marks[i].Blur
		}
	}
	return 0
}

// cutPart does the same for a part of a stage's requests.
func (f *Aggregator) cutPart(p *part, defs []*Def, r *Request) {
	for k, d := range defs {
		c := courseOf(d.ID)
		if c == nil {
			continue
		}
		switch v, censored, ok := c.sample(r.Record); {
		case !ok:
		case censored:
			p.cut.append(f.pool, k, len(defs), v)
		default:
			p.cols[k].Append(v, stat.First)
		}
	}
}

// Unfinished are the measured requests that this client sent and then cut off, beside those that
// ended.
type Unfinished struct {
	Ended   int64         // requests that ended
	Cut     int64         // requests that did not
	Old     int64         // those of Cut that had been in flight for more than OldFactor × Longest
	Ancient int64         // the same with AncientFactor
	Longest time.Duration // the longest latency of those that ended
	Oldest  time.Duration // the age of the oldest of Cut
}

// A request that hangs is told from one about to end by its age, in multiples of the longest
// latency.
const (
	OldFactor     = 1.5
	AncientFactor = 3
)

// agesOf looks at how old the requests were that did not end. sum is of request_latency.
func agesOf(cut []*stat.Column, sum *stat.Summary) (u Unfinished, err error) {
	if sum.Censored == 0 {
		return u, nil
	}
	u = Unfinished{Ended: sum.N, Cut: sum.Censored, Longest: time.Duration(sum.Seen)}
	if u.Old, err = stat.Above(int64(OldFactor*float64(sum.Seen)), cut...); err != nil {
		return u, fmt.Errorf("look at the ages of requests that did not end: %w", err)
	}
	if u.Ancient, err = stat.Above(int64(AncientFactor*float64(sum.Seen)), cut...); err != nil {
		return u, fmt.Errorf("look at the ages of requests that did not end: %w", err)
	}
	if sum.Beyond > 0 {
		u.Oldest = time.Duration(sum.Max)
	}
	return u, nil
}
