package run

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"inferometer/internal/engine/load"
	"inferometer/internal/plan"
	"inferometer/internal/record"
	"inferometer/internal/result"
	"inferometer/internal/run/collect"
	"inferometer/internal/sweep"
)

// Observer follows a run whose plan has levels or windows.
type Observer interface {
	// Begin tells of a stage before its first request.
	Begin(i int, s plan.Stage)
	// Window tells of a window that has ended; trial counts from 1.
	Window(i, trial int, w sweep.Window)
	// End tells of a stage that has ended.
	End(i int, s plan.Stage, l *sweep.Level)
}

// queue gives out the stages of a run: those of the plan, or the levels that its
// search comes to.
type queue struct {
	plan   *plan.Plan
	search *sweep.Search // nil: the plan's stages as they stand

	mu    sync.Mutex
	begun []plan.Stage
	over  bool
	made  []plan.Stage // in place of the plan's, of a sweep to saturation
}

func newQueue(p *plan.Plan) *queue {
	q := &queue{plan: p}
	if p.Levels.On() {
		q.search = sweep.NewSearch(p.Levels, p.Stages[0].Rate == 0)
	}
	return q
}

// most is how many stages there can be.
func (q *queue) most() int {
	switch {
	case q.plan.Saturation.On():
		return q.plan.Saturation.Stages
	case q.search == nil:
		return len(q.plan.Stages)
	}
	return sweep.Most(q.plan.Levels)
}

// next gives the next stage; false: there is none.
func (q *queue) next() (i int, s plan.Stage, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i = len(q.begun)
	if q.over || i >= q.most() || q.plan.Saturation.On() && i >= len(q.made) {
		return i, s, false
	}
	switch {
	case q.made != nil:
		s = q.made[i]
	case q.search == nil:
		s = q.plan.Stages[i]
	default:
		level, ok := q.search.Next()
		if !ok {
			return i, s, false
		}
		s = q.plan.Stages[0].At(level)
	}
	q.begun = append(q.begun, s)
	return i, s, true
}

// tell says how the last stage went.
func (q *queue) tell(l *sweep.Level) {
	if q.search != nil {
		q.search.Tell(l.Passed)
	}
	q.over = q.over || l.Ended == record.StopEmpty // a server that answers nothing is not asked for more
}

// stages are those that a look at the run knows of: all of the plan's, or the levels
// begun so far.
func (q *queue) stages() []plan.Stage {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.made != nil:
		return q.made
	case q.search == nil:
		return q.plan.Stages
	case len(q.begun) == 0:
		return []plan.Stage{q.plan.Stages[0]}
	}
	return slices.Clone(q.begun)
}

// asRun is the plan with the stages that were run.
func (q *queue) asRun() *plan.Plan {
	p := *q.plan
	p.Stages = q.stages()
	return &p
}

// highest is the plan with the greatest load that its levels can come to, as far as
// that is known.
func highest(p *plan.Plan) *plan.Plan {
	if !p.Levels.On() {
		return p
	}
	level := max(p.Levels.Start, p.Levels.End)
	for _, v := range p.Levels.List {
		level = max(level, v)
	}
	q := *p
	q.Stages = []plan.Stage{p.Stages[0].At(level)}
	return &q
}

// settle takes the rates of a sweep to saturation as the stages. None: there are no
// stages to run.
func (q *queue) settle(rates []float64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.made = sweep.StagesAt(q.plan.Stages[0], q.plan.Saturation, rates)
}

// searching lets a look at the run see a step of the search for the saturation.
func (q *queue) searching(s plan.Stage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.made = []plan.Stage{s}
}

// several hand a record to one after the other.
type several []collect.Folder

// Add implements collect.Folder.
func (s several) Add(rec *record.Record) {
	for _, f := range s {
		f.Add(rec)
	}
}

// runStage runs one stage, in windows where the plan has them.
func (r *run) runStage(ctx context.Context, i int, s plan.Stage) (record.StageMark, *sweep.Level, error) {
	work := load.FromPlan(r.queue.asRun(), i)
	if s.Arrival == plan.ArrivalTrace {
		work.Arrivals = load.Trace(r.schedule)
	}
	if s.Arrival == plan.ArrivalSessions {
		work.Sessions = sessionsOf(r.queue.stages(), i, int64(r.sessions))
	}
	if r.opt.Levels != nil {
		r.opt.Levels.Begin(i, s)
	}
	if !r.plan.Measurement.On() {
		l := &sweep.Level{Value: s.Level(), Passed: true}
		if r.plan.Levels.On() {
			r.output.note(r.output.edge(record.Edge{Stage: i, Level: l.Value, At: r.clock.Now()}))
		}
		mark, err := r.send(ctx, work, r.stop)
		return mark, l, err
	}
	meter := r.meter(i, s)
	if r.plan.Measurement.Mode == plan.WindowStage && s.Warmup == (plan.Warmup{}) {
		meter.Before(ctx)
	}
	r.tape.Begin(i)
	over, end := context.WithCancel(context.Background())
	defer end()
	stop := make(chan string, 1)
	measured := make(chan *sweep.Level, 1)
	deaf := r.forward(stop)
	go func() {
		from := r.measureFrom(over, i)
		l := meter.Run(over, i, s.Level(), from)
		if l.Ended != "" {
			push(stop, l.Ended)
		}
		measured <- l
	}()
	mark, err := r.send(ctx, work, stop)
	end()
	l := <-measured
	deaf(l.Ended)
	l.Ended = result.LevelEnd(mark.Reason)
	r.collector.Settle(ctx)
	meter.Finish(ctx, l, i)
	return mark, l, err
}

// sessionsOf is how many sessions the i-th stage plays: as many as it asks for, or what the
// stages before it have left of the data. Where they have left nothing that is all of it.
func sessionsOf(stages []plan.Stage, i int, all int64) int64 {
	var begun int64
	for _, s := range stages[:i] {
		begun += cmp.Or(s.Sessions.Count, left(all, begun))
	}
	return cmp.Or(stages[i].Sessions.Count, left(all, begun))
}

// left is how much of the data comes before it begins anew.
func left(all, begun int64) int64 {
	if all == 0 {
		return 0
	}
	return all - begun%all
}

// meter measures the i-th stage.
func (r *run) meter(i int, s plan.Stage) *sweep.Meter {
	m := &sweep.Meter{
		Plan: r.plan.Measurement, Now: r.clock.Now, Tape: r.tape, Probe: r.probe, Settle: r.collector.Settle,
		Edge: func(e record.Edge) {
			r.facts.Edges = append(r.facts.Edges, e)
			r.output.note(r.output.edge(e))
		},
		Note:  r.output.note,
		Paced: s.Rate > 0 || s.Arrival == plan.ArrivalIntervals,
	}
	if r.servers != nil {
		m.GPUs = &r.servers.gpus
	}
	if r.opt.Levels != nil {
		m.Window = func(trial int, w sweep.Window) { r.opt.Levels.Window(i, trial, w) }
	}
	return m
}

// forward hands a wish to stop on to the stage under way. The function that it gives is
// called when the stage has ended and its meter, which may have ended it for a reason of its
// own, has too: a wish that the stage did not hear is the run's again.
func (r *run) forward(stop chan string) (deaf func(measured string)) {
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case reason := <-r.stop:
			if !push(stop, reason) {
				r.halt(reason) // the stage is ending; the wish is for the run
			}
		case <-over:
		}
	}()
	return func(measured string) {
		close(over)
		<-done
		select {
		case reason := <-stop:
			if reason != measured {
				r.halt(reason)
			}
		default:
		}
	}
}

// push puts a reason into a channel unless there is one in it.
func push(stop chan string, reason string) bool {
	select {
	case stop <- reason:
		return true
	default:
		return false
	}
}

// measureFrom waits for the moment at which the measured part of a stage begins; the
// present where the stage is over before that.
func (r *run) measureFrom(over context.Context, stage int) time.Duration {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if from, _ := r.live.Window(stage); from <= r.clock.Now() {
			return from
		}
		select {
		case <-tick.C:
		case <-over.Done():
			return r.clock.Now()
		}
	}
}

// levelsOf are the stages that edges tell of: the plan's own, or its levels.
func levelsOf(p *plan.Plan, edges []record.Edge) []plan.Stage {
	if !p.Levels.On() {
		return p.Stages
	}
	var stages []plan.Stage
	for _, e := range slices.SortedFunc(slices.Values(edges), func(a, b record.Edge) int { return cmp.Compare(a.Stage, b.Stage) }) {
		if e.Stage == len(stages) {
			stages = append(stages, p.Stages[0].At(e.Level))
		}
	}
	if len(stages) == 0 {
		return p.Stages
	}
	return stages
}
