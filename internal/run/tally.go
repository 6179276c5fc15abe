package run

import (
	"math"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/stat"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// batches is how many parts of a level are held against one another.
const batches = 10

// tallies hold the requests of levels against the objectives. They may be used from many
// goroutines.
type tallies struct {
	objectives []objective
	mu         sync.Mutex
	reader     *metric.Reader
	levels     map[int]*tally
}

// tally is what the requests of a level showed.
type tally struct {
	requests []passed
	sums     []capacity.Batch  // over all requests, by objective
	spreads  []*stat.Histogram // likewise
}

// passed is what a request showed of each objective.
type passed struct {
	due, end time.Duration
	ok       bool
	warmup   bool
	seen     []capacity.Batch
}

func newTallies(p *plan.Plan, objectives []objective) *tallies {
	opts := result.FoldOptions(p)
	return &tallies{objectives: objectives, reader: metric.NewReader(opts), levels: map[int]*tally{}}
}

// Add takes down a record.
func (t *tallies) Add(rec *record.Record) {
	if rec.Stage < 0 || rec.Phase == record.Closing {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.levels[rec.Stage]
	if of == nil {
		of = &tally{sums: make([]capacity.Batch, len(t.objectives))}
		for range t.objectives {
			of.spreads = append(of.spreads, new(stat.Histogram))
		}
		t.levels[rec.Stage] = of
	}
	r := passed{due: rec.Due, end: rec.End, ok: rec.Failure == nil, warmup: rec.Phase == record.Warmup}
	if !r.warmup {
		req := t.reader.Read(rec)
		for j := range t.objectives {
			r.seen = append(r.seen, t.objectives[j].see(t.reader, req, of.spreads[j]))
			of.sums[j].Add(r.seen[j])
		}
	}
	of.requests = append(of.requests, r)
}

// see holds a request against an objective. One that was cut off has taken at least as long as it
// was under way.
func (o *objective) see(reader *metric.Reader, r *metric.Request, spread *stat.Histogram) (b capacity.Batch) {
	cut := r.Failure != nil && (r.Failure.Class == record.CutOff || r.Failure.Class == record.Cancelled)
	count := func(bad bool) {
		b.N++
		if bad {
			b.Bad++
		}
	}
	switch {
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
func (t *tallies) level(i int, load float64, open bool, mark *record.StageMark) capacity.Level {
	t.mu.Lock()
	of := t.levels[i]
	delete(t.levels, i)
	t.mu.Unlock()
	if of == nil {
		of = new(tally)
	}
	from, to := mark.WarmupEnd, mark.SendEnd
	l := capacity.Level{Stage: i, Load: load, Seconds: max((to - from).Seconds(), 0), Cut: mark.Reason == record.StopOver}
	for range t.objectives {
		l.Seen = append(l.Seen, capacity.Seen{Batches: make([]capacity.Batch, batches)})
	}
	ended, due, before, after := 0.0, 0.0, 0.0, float64(mark.Unsent)
	for k := range of.requests {
		r := &of.requests[k]
		if r.ok && r.end > from && r.end <= to {
			ended++
		}
		if r.due <= from && r.end > from {
			before++
		}
		if r.due <= to && r.end > to {
			after++
		}
		if r.warmup {
			continue
		}
		due++
		l.Requests++
		b := min(max(int(float64(r.due-from)/max(float64(to-from), 1)*batches), 0), batches-1)
		for j := range r.seen {
			l.Seen[j].Batches[b].Add(r.seen[j])
		}
	}
	if l.Seconds > 0 {
		l.Answered = ended / l.Seconds
	}
	for j := range l.Seen {
		if of.spreads != nil {
			t.objectives[j].figures(&l.Seen[j], of.spreads[j])
		}
	}
	switch grown := after - before; {
	case l.Cut:
		l.Over = "it was ended early: the objectives were clearly missed"
	case open && grown > 0.03*due+3*math.Sqrt(before+after+1):
		l.Over = "the backlog grew"
	}
	return l
}

// figures works out the objective's figure of a level, and between what it lies.
func (o *objective) figures(s *capacity.Seen, spread *stat.Histogram) {
	t := s.Total()
	if t.N == 0 {
		return
	}
	set := func(to **float64, v float64) { *to = &v }
	se := math.Sqrt(s.Clumping() / t.N)
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

// bad is the share of samples of the level under way that are on the wrong side of each bound,
// and how many samples there are.
func (t *tallies) bad(i int) (shares, samples []float64) {
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

// typical is about how long an answer of a level takes; 0: none has come.
func (t *tallies) typical(i int) time.Duration {
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
	v, _ := took.Quantile(0.9)
	return time.Duration(v)
}
