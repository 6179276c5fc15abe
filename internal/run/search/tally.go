package search

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// batches is how many parts of a level are held against one another.
const batches = 10

// objectiveTracker holds the requests of levels against the objectives, concurrently.
type objectiveTracker struct {
	objectives []objective
	// mark is that of a level, where all of them ended before their requests are read; nil means they
	// are in flight. Requests of a level that has none are not looked at.
	mark func(stage int) *record.StageSummary

	mu     sync.Mutex
	reader *metric.Reader
	levels map[int]*tally
	told   int // how many levels are over: what comes of them now is too late
	// sessions: some requests were turns of a conversation, so that a rate is one of conversations.
	sessions bool
}

// tally is what the requests of a level showed.
type tally struct {
	// requests are kept until it is known when the level ended, which decides what each counts
	// for; nil means that is known, and count has them.
	requests []passed
	count    *count
	sums     []capacity.Batch  // over all requests, by objective
	spreads  []*stat.Histogram // likewise
	late     stat.Histogram    // by how much this client sent later than it should have
	failures map[string]int64  // by how they failed
}

// passed is what a request showed of each objective.
type passed struct {
	due, end time.Duration
	ok       bool
	warmup   bool
	seen     []capacity.Batch
}

func newTallies(p *plan.Plan, objectives []objective) *objectiveTracker {
	opts := metric.OptionsFor(p)
	return &objectiveTracker{objectives: objectives, reader: metric.NewReader(opts), levels: map[int]*tally{}}
}

// Add takes down a record.
func (t *objectiveTracker) Add(rec *record.Record) {
	if rec.Stage < 0 || rec.Phase == record.Closing {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.stageTally(rec.Stage)
	if of == nil {
		return
	}
	t.sessions = t.sessions || rec.Turn > 0
	r := passed{due: rec.Due, end: rec.End, ok: rec.Failure == nil, warmup: rec.Phase == record.Warmup}
	if !r.warmup {
		req := t.reader.Read(rec)
		r.seen = make([]capacity.Batch, len(t.objectives))
		for j := range t.objectives {
			r.seen[j] = t.objectives[j].see(t.reader, req, of.spreads[j])
			of.sums[j].Add(r.seen[j])
		}
		of.late.Add(int64(max(rec.Sent-rec.Due-rec.Held, 0)))
		if f := rec.Failure; f != nil && !f.Class.EndedHere() {
			of.failures[failureOf(f)]++
		}
	}
	if of.count != nil {
		of.count.add(&r)
		return
	}
	of.requests = append(of.requests, r)
}

func (t *objectiveTracker) stageTally(stage int) *tally {
	if of := t.levels[stage]; of != nil {
		return of
	}
	if stage < t.told {
		return nil
	}
	of := &tally{sums: make([]capacity.Batch, len(t.objectives)), failures: map[string]int64{}}
	if t.mark != nil {
		mark := t.mark(stage)
		if mark == nil {
			return nil
		}
		of.count = newCount(mark, len(t.objectives))
	}
	for range t.objectives {
		of.spreads = append(of.spreads, new(stat.Histogram))
	}
	t.levels[stage] = of
	return of
}

// count is what the requests of a level come to, of which it is known when it ended.
type count struct {
	from, to                  time.Duration
	ended, due, before, after float64
	requests                  int64
	pace                      [batches]float64       // answers, by parts of its time
	seen                      []capacity.Observation // by objective
}

func newCount(mark *record.StageSummary, objectives int) *count {
	c := &count{from: mark.WarmupEnd, to: mark.SendEnd, after: float64(mark.Unsent)}
	for range objectives {
		c.seen = append(c.seen, capacity.Observation{Batches: make([]capacity.Batch, batches)})
	}
	return c
}

func (c *count) add(r *passed) {
	if r.ok && r.end > c.from && r.end <= c.to {
		c.ended++
		c.pace[c.part(r.end)]++
	}
	if r.due <= c.from && r.end > c.from {
		c.before++
	}
	if r.due <= c.to && r.end > c.to {
		c.after++
	}
	if r.warmup {
		return
	}
	c.due++
	c.requests++
	b := c.part(r.due)
	for j := range r.seen {
		c.seen[j].Batches[b].Add(r.seen[j])
	}
}

// part is the part of the level's time that a time is in.
func (c *count) part(at time.Duration) int {
	return min(max(int(float64(at-c.from)/max(float64(c.to-c.from), 1)*batches), 0), batches-1)
}

// see holds a request against an objective. One cut off has taken as long as it was in flight, or
// more.
func (o *objective) see(reader *metric.Reader, r *metric.Request, spread *stat.Histogram) (b capacity.Batch) {
	cut := r.Failure != nil && r.Failure.Class.EndedHere()
	count := func(bad bool) {
		b.N++
		if bad {
			b.Bad++
		}
	}
	switch {
	case r.Failure.Left() && (o.id == goodShare || o.id == failedShare): // neither good nor failed
	case o.id == goodShare:
		good, _ := reader.Good()
		count(!good)
	case o.id == failedShare && !cut:
		count(r.Failure != nil)
	case o.id == failedShare:
	case cut:
		if open := float64(r.End-r.Due) / float64(time.Millisecond); o.Unit == metric.Milliseconds && o.Allowed > 0 && open > o.Bound {
			count(true)
			spread.Add(int64(r.End - r.Due))
		}
	default:
		o.def.Each(r, func(v int64) {
			x := float64(v) / o.scale
			b.Sum += x
			count(!o.holds(x))
			spread.Add(v)
		})
	}
	return b
}

func (o *objective) holds(v float64) bool {
	if o.Above {
		return v >= o.Bound
	}
	return v <= o.Bound
}

// level is what was seen at a level that has ended; its requests are forgotten.
func (t *objectiveTracker) level(i int, load float64, open bool, mark *record.StageSummary) capacity.Trial {
	t.mu.Lock()
	of := t.levels[i]
	delete(t.levels, i)
	t.told = max(t.told, i+1)
	t.mu.Unlock()
	if of == nil {
		of = new(tally)
	}
	c := of.count
	if c == nil {
		c = newCount(mark, len(t.objectives))
		for k := range of.requests {
			c.add(&of.requests[k])
		}
	}
	l := capacity.Trial{
		Stage: i, Load: load, Seconds: max((c.to - c.from).Seconds(), 0), Cut: mark.Reason == record.StopOver,
		Requests: c.requests, Seen: c.seen,
	}
	if l.Seconds > 0 {
		l.Answered = c.ended / l.Seconds
		for _, n := range c.pace {
			l.Pace = append(l.Pace, n*batches/l.Seconds)
		}
	}
	for _, how := range slices.Sorted(maps.Keys(of.failures)) {
		n := of.failures[how]
		if l.Failure == "" || n > of.failures[l.Failure] {
			l.Failure = how
		}
		l.Failed += n
	}
	for j := range l.Seen {
		if of.spreads != nil {
			t.objectives[j].figures(&l.Seen[j], of.spreads[j])
		}
	}
	l.Grew = open && c.after-c.before > 0.03*c.due+3*math.Sqrt(c.before+c.after+1)
	switch {
	case l.Cut:
		l.Over = "it was ended early: the objectives were clearly missed"
	case l.Grew:
		l.Over = "the backlog grew"
	}
	return l
}

// figures works out the objective's figure of a level, and between what it lies.
func (o *objective) figures(s *capacity.Observation, spread *stat.Histogram) {
	t := s.Total()
	if t.N == 0 {
		return
	}
	set := func(to **float64, v float64) { *to = &v }
	se := math.Sqrt(s.DesignEffect() / t.N)
	switch {
	case o.def.Rate != nil: // a share of requests
		p := t.Bad / t.N
		if o.Above {
			p = 1 - p
		}
		half := 1.96 * math.Sqrt(max(p*(1-p), 1/t.N)) * se
		set(&s.Value, p)
		set(&s.Lo, max(p-half, 0))
		set(&s.Hi, min(p+half, 1))
	case o.Allowed == 0:
		mean, se, ok := s.Mean()
		set(&s.Value, mean)
		if ok {
			set(&s.Lo, mean-1.96*se)
			set(&s.Hi, mean+1.96*se)
		}
	default:
		q := 1 - o.Allowed
		if o.Above {
			q = o.Allowed
		}
		half := 1.96 * math.Sqrt(q*(1-q)) * se
		for _, at := range []struct {
			to **float64
			q  float64
		}{{&s.Value, q}, {&s.Lo, q - half}, {&s.Hi, q + half}} {
			if v, ok := spread.Quantile(min(max(at.q, 0), 1)); ok {
				set(at.to, float64(v)/o.scale)
			}
		}
	}
}

// bad is the share of the current level's samples on the wrong side of each bound, and their
// number.
func (t *objectiveTracker) bad(i int) (shares, samples []float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	shares, samples = make([]float64, len(t.objectives)), make([]float64, len(t.objectives))
	of := t.levels[i]
	if of == nil {
		return shares, samples
	}
	for j, s := range of.sums {
		shares[j], samples[j] = s.Bad/max(s.N, 1), s.N
	}
	return shares, samples
}

// typical is about how long a response of a level takes; 0: none has come.
func (t *objectiveTracker) typical(i int) time.Duration { return t.took(i, 0.9) }

// middle is how long half of the responses of a level take at most; 0: none has come.
func (t *objectiveTracker) middle(i int) time.Duration { return t.took(i, 0.5) }

func (t *objectiveTracker) took(i int, q float64) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.levels[i]
	if of == nil {
		return 0
	}
	var took stat.Histogram
	for k := range of.requests {
		if r := &of.requests[k]; r.ok {
			took.Add(int64(r.end - r.due))
		}
	}
	v, _ := took.Quantile(q)
	return time.Duration(v)
}
