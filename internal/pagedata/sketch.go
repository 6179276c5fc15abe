package pagedata

import (
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// Builder takes the requests of a run for a document. It belongs to one goroutine at a time.
type Builder struct {
	plan   *plan.Plan
	opts   metric.Options
	begin  func() time.Duration
	bins   *bins // nil: no request came
	keeper *keeper
	count  int64
	kinds  []record.FailureKind // of failures
	turns  []turns              // by stage
	spans  []span               // by stage
}

// span is from the first moment of a stage's requests to the last.
type span struct {
	begin, end time.Duration
	any        bool
}

// apart is room for so many spans that those of two builders, which two cores write all the time, do not lie
// in one line of their caches.
const apart = 8

// NewSketch begins the drawing of a plan's run. begin is when its first stage began, which is known when
// a request comes.
func NewSketch(p *plan.Plan, begin func() time.Duration) *Builder {
	return &Builder{plan: p, opts: metric.OptionsFor(p), begin: begin, keeper: newKeeper(new(atomic.Int64))}
}

// Another is one for other requests of the same run, which another goroutine adds at the same time. They are
// to be merged.
func (s *Builder) Another() *Builder {
	return &Builder{plan: s.plan, opts: s.opts, begin: s.begin, keeper: newKeeper(s.keeper.full)}
}

// Add takes in a request. It is what a fold's Each is for.
func (s *Builder) Add(r *metric.Request) {
	rec := r.Record
	if s.count++; s.bins == nil {
		s.bins = newBins(s.begin())
	}
	s.widen(rec.Stage, rec.Due, rec.End)
	first, stall, stallAt := s.events(r)
	s.moments(r, first)
	s.turn(rec, first)
	key := uint64(rec.Seq)<<8 | uint64(rec.Worker&0xff)
	if rec.Session != "" {
		key = sessionKey(rec.Session)
	}
	own := int64(mix(key) >> 1)
	all := weightsOf(own, rec.Failure != nil, rec.Due, rec.Sent, first, rec.End, stall)
	if !s.keeper.wants(&all) {
		return
	}
	row := row{
		key: own, seq: rec.Seq, session: rec.Session, turn: rec.Turn,
		stage: rec.Stage, worker: rec.Worker, target: rec.Target, phase: rec.Phase,
		due: rec.Due, ready: rec.Ready, sent: rec.Sent, first: first, end: rec.End, stall: stall, stallAt: stallAt,
		in: -1, out: r.Tokens, failure: rec.Failure,
	}
	if rec.In.Source != record.Uncounted {
		row.in = rec.In.N
	}
	s.keeper.add(&row, &all, func() []event { return traceOf(rec) })
}

// Merge takes in the requests of another that was begun with the same plan and clock. What is drawn
// does not depend on which of two a request was added to. The other is of no use afterwards.
func (s *Builder) Merge(o *Builder) {
	if o.bins == nil {
		return
	}
	if s.bins == nil {
		s.bins = newBins(o.bins.begin)
	}
	s.count += o.count
	s.mergeKinds(o)
	s.bins.merge(o.bins)
	s.keeper.merge(o.keeper)
	for i, t := range o.turns {
		for turn := range t {
			s.turnOf(i, turn).merge(&t[turn])
		}
	}
	for i, p := range o.spans {
		if p.any {
			s.widen(i, p.begin, p.end)
		}
	}
}

// mix spreads the bits of a number (the last step of SplitMix64).
func mix(v uint64) uint64 {
	v += 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

func (s *Builder) widen(stage int, begin, end time.Duration) {
	for len(s.spans) <= stage {
		if s.spans == nil {
			s.spans = make([]span, 0, apart)
		}
		s.spans = append(s.spans, span{})
	}
	p := &s.spans[stage]
	if !p.any || begin < p.begin {
		p.begin = begin
	}
	p.end, p.any = max(p.end, end), true
}

// events goes through the token events of a request: those of one that went well are in the
// series. It gives the first, and the longest gap behind it.
func (s *Builder) events(r *metric.Request) (first, stall, stallAt time.Duration) {
	rec := r.Record
	first, stall, stallAt = record.Never, record.Never, record.Never
	good := rec.Failure == nil
	unknown := int64(share) // tokens of an event whose own number is not known
	if good && r.Tokens > 0 {
		unknown = int64(r.Tokens) * share / int64(max(len(rec.Events), 1))
	}
	last := record.Never
	for i := range rec.Events {
		e := &rec.Events[i]
		if e.Label > record.Refusal || e.Tokens == 0 || uint(e.Mark) >= uint(len(rec.Marks)) {
			continue
		}
		at := rec.Marks[e.Mark].Time()
		if first == record.Never {
			first = at
		} else if gap := at - last; gap > stall {
			stall, stallAt = gap, last
		}
		if good {
			b, _ := s.bins.bin(at)
			if b.tokens += int64(max(e.Tokens, 0)) * share; e.Tokens < 0 {
				b.tokens += unknown
			}
			if last != record.Never {
				k := max(e.Tokens, 1)
				b.gap.add(int64(at-last)/int64(k), k)
			}
		}
		last = at
	}
	if good && first == record.Never && r.Tokens > 0 { // it came in one piece
		b, _ := s.bins.bin(rec.End)
		b.tokens += int64(r.Tokens) * share
	}
	if t := rec.Tail; t != nil && t.Events > 0 {
		if good {
			s.tail(t)
		}
		if gap := time.Duration(t.Gaps.Max()); gap > stall {
			stall, stallAt = gap, record.Never // where it was is not kept
		}
	}
	return first, stall, stallAt
}

// tail takes in the part of a long stream that was not kept event by event: as if its events
// had come evenly.
func (s *Builder) tail(t *record.Tail) {
	pieces := min(t.Events, mostBins)
	for i := range pieces {
		n := t.Events*(i+1)/pieces - t.Events*i/pieces
		b, _ := s.bins.bin(t.First + (t.Last-t.First)*time.Duration(i)/time.Duration(pieces))
		b.tokens += n * max(t.Tokens, 1) * share
		b.gap.add(t.Gaps.Sum()/max(t.Gaps.Len(), 1)/max(t.Tokens, 1), int(n*max(t.Tokens, 1)))
	}
}

// moments puts the moments of a request into the series.
func (s *Builder) moments(r *metric.Request, first time.Duration) {
	rec := r.Record
	b, after := s.bins.bin(rec.Due)
	if !s.opts.ClosedLoop(rec.Stage) {
		b.asked++
	}
	if rec.Sent != record.Never {
		b.due.add(after)
		b, after = s.bins.bin(rec.Sent)
		b.sent.add(after)
		if first != record.Never && rec.Failure == nil {
			b.first.add(int64(first-rec.Sent), 1)
		}
	}
	b, after = s.bins.bin(rec.End)
	if rec.Sent != record.Never {
		b.over.add(after)
	}
	switch {
	case rec.Failure.Left():
	case rec.Failure != nil:
		b.fail(s.kind(rec.Failure.Kind()), 1)
	default:
		b.ok++
	}
}

// traceOf are the events of a request.
func traceOf(rec *record.Record) []event {
	if rec.Sent == record.Never || len(rec.Events) == 0 {
		return nil
	}
	step := (len(rec.Events) + mostTrace - 1) / mostTrace
	out := make([]event, 0, len(rec.Events)/step+1)
	var sum int32
	for i, e := range rec.Events {
		if uint(e.Mark) >= uint(len(rec.Marks)) {
			continue
		}
		if e.Tokens > 0 {
			sum += int32(e.Tokens)
		}
		if (i+1)%step != 0 && i+1 < len(rec.Events) {
			continue
		}
		ev := event{at: (rec.Marks[e.Mark].Time() - rec.Sent).Microseconds(), tokens: sum, label: e.Label}
		if e.Tokens < 0 && sum == 0 {
			ev.tokens = -1
		}
		out, sum = append(out, ev), 0
	}
	return out
}
