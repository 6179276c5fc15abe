// Package executor runs a plan's stages in turn: its own, or the levels that a search comes to.
package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/lib/aside"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/result/build"
	"github.com/inferometer/inferometer/internal/run/abort"
	"github.com/inferometer/inferometer/internal/run/collect"
	"github.com/inferometer/inferometer/internal/run/monitor"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/search"
	"github.com/inferometer/inferometer/internal/sweep"
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

// Config is what stages are run with.
type Config struct {
	Plan    *plan.Plan
	Queue   *Queue
	Sender  *Sender
	Journal *rundir.Journal
	Poller  *monitor.Poller
	Folds   *collect.Aggregators
	Steps   *sweep.StepLog   // requests of the steps of a search for the saturation
	Samples *sweep.SampleLog // requests of windows
	Log     io.Writer
	// ResetCache empties the servers' prefix caches, which is done between stages; they are empty ahead of the first. Optional.
	ResetCache func(ctx context.Context) error
	// Sync returns once all records so far have been taken in.
	Sync func(ctx context.Context)
	// Observer follows. Optional.
	Observer Observer
	// Stage is told of each stage that has ended. Optional.
	Stage func(s *result.Stage)
	Warn  func(text string)
	// Lanes and Sessions are how many the source of prompts has; 0: it has none.
	Lanes, Sessions int
	// Whole: sessions that begin at times of their own are played to their ends.
	Whole bool
}

// Run runs the stages of a plan, one after the other.
func Run(ctx context.Context, c Config) error {
	p := &stageRunner{
		Config: c, capacity: c.Queue.capacity,
		teller: &stageReporter{tell: c.Stage, warn: c.Warn, queue: c.Queue, journal: c.Journal, folds: c.Folds, settle: c.Sync},
	}
	if c.Plan.Saturation.On() {
		p.search = &saturationSearch{plan: c.Plan, log: c.Log, queue: c.Queue, sender: c.Sender, journal: c.Journal, passages: c.Steps,
			settle: c.Sync}
	}
	if c.Plan.Measurement.On() {
		p.meter = &windowMeter{
			plan: c.Plan.Measurement, observer: c.Observer, now: c.Poller.Now, live: c.Sender.Live, samples: c.Samples,
			journal: c.Journal, servers: c.Poller.Servers, settle: c.Sync,
		}
	}
	return p.play(ctx)
}

// stageRunner runs the stages of a run.
type stageRunner struct {
	Config
	search   *saturationSearch // of the rates of a sweep; nil means they are known
	capacity *search.Capacity  // that finds the capacity; optional
	meter    *windowMeter      // nil means stages are not measured in windows
	teller   *stageReporter
}

func (p *stageRunner) play(ctx context.Context) error {
	if p.search != nil {
		if err := p.search.run(ctx); err != nil {
			return err
		}
	}
	for !p.Journal.Facts.Interrupted {
		i, s, ok := p.Queue.next()
		if !ok {
			return nil
		}
		if reason := p.pause(ctx, i, s); reason != "" {
			now := p.Poller.Now()
			p.Journal.AddEdge(record.Edge{Stage: i, Level: s.Level(), Kind: search.LevelKind(s), At: now})
			p.Journal.AddStage(record.StageSummary{Stage: i,
				StageTimes: record.StageTimes{Begin: now, WarmupEnd: now, SendEnd: now, DrainEnd: now}, Reason: reason})
			return nil
		}
		if err := p.resetCache(ctx, i); err != nil {
			return err
		}
		if err := p.stage(ctx, i, s); err != nil {
			return err
		}
	}
	return nil
}

// pause waits for the gap before a stage, and says why where it was broken off.
func (p *stageRunner) pause(ctx context.Context, i int, s plan.Stage) record.StopReason {
	if s.Gap <= 0 || i == 0 {
		return ""
	}
	t := time.NewTimer(time.Duration(s.Gap))
	defer t.Stop()
	select {
	case <-t.C:
		return ""
	case <-ctx.Done():
		return record.StopInterrupted
	case reason := <-p.Sender.Stopper:
		return reason
	}
}

// resetCache has the servers forget the prompts of the stage before, or of the search for stages.
func (p *stageRunner) resetCache(ctx context.Context, i int) error {
	if p.ResetCache == nil || i == 0 && p.search == nil || ctx.Err() != nil {
		return nil
	}
	return p.ResetCache(ctx)
}

func (p *stageRunner) stage(ctx context.Context, i int, s plan.Stage) error {
	p.Sender.Warm(ctx, load.NewSpec(p.Plan, i, s))
	drained := p.Poller.Watch(ctx, i)
	mark, level, err := p.send(ctx, i, s)
	drained()
	p.Journal.AddStage(p.stopped(ctx, aborted(ctx, mark)))
	p.teller.after(ctx, i)
	p.Queue.addLevel(level)
	if last := p.Journal.Facts.Stages; p.capacity != nil && err == nil && !p.Journal.Facts.Interrupted {
		p.teller.settle(ctx)
		p.capacity.AddLevel(i, s, last)
		p.Journal.Facts.Capacity = p.capacity.Found()
	}
	if p.meter != nil {
		p.Journal.Facts.Levels = append(p.Journal.Facts.Levels, level)
	}
	if p.Observer != nil {
		p.Observer.End(i, s, level)
	}
	return err
}

// stopped is the mark of a stage at whose last responses a breaker opened: these are looked at
// ahead of the next stage, of which nothing is sent then.
func (p *stageRunner) stopped(ctx context.Context, mark record.StageSummary) record.StageSummary {
	if len(p.Plan.Breakers) == 0 || mark.Early() || mark.Stage+1 >= MostStages(p.Plan) {
		return mark
	}
	p.Sync(ctx)
	select {
	case mark.Reason = <-p.Sender.Stopper:
	default:
	}
	return mark
}

// aborted is the mark of a stage whose last requests may have been aborted, even after sending.
func aborted(ctx context.Context, mark record.StageSummary) record.StageSummary {
	if ctx.Err() != nil {
		mark.Reason = record.StopInterrupted
	}
	return mark
}

// send puts a stage's load on the target, and measures it in windows where the plan has
// them.
func (p *stageRunner) send(ctx context.Context, i int, s plan.Stage) (record.StageSummary, *sweep.Level, error) {
	work := load.NewSpec(p.Plan, i, s)
	work.Lanes = p.Lanes
	if s.Arrival == plan.ArrivalTrace && p.Whole {
		work.Sessions = int64(p.Sessions)
	}
	if s.Arrival == plan.ArrivalSessions {
		work.Sessions = sessionsOf(p.Queue.Stages(), i, int64(p.Sessions))
	}
	if p.Observer != nil {
		p.Observer.Begin(i, s)
	}
	if p.meter != nil {
		return p.meter.run(ctx, s, work, p.Sender)
	}
	l := &sweep.Level{Value: s.Level(), Passed: true}
	if p.Plan.Levels.On() || p.capacity != nil {
		p.Journal.AddEdge(record.Edge{Stage: i, Level: l.Value, Kind: search.LevelKind(s), At: p.Poller.Now()})
	}
	if p.capacity != nil {
		mark, err := p.runCapacityLevel(ctx, s, work)
		return mark, l, err
	}
	mark, err := p.Sender.Send(ctx, work, p.Sender.Stopper)
	if mark = aborted(ctx, mark); mark.Early() {
		l.Ended = mark.Reason
	}
	return mark, l, err
}

// runCapacityLevel puts a capacity search's level on the target, and ends it if it is clearly too
// much.
func (p *stageRunner) runCapacityLevel(ctx context.Context, s plan.Stage, work load.Spec) (record.StageSummary, error) {
	work.Drain = p.capacity.Drain()
	over, end := context.WithCancel(context.Background())
	stop, watched := abort.NewStopper(), make(chan struct{})
	endForward := p.Sender.Stopper.Forward(stop)
	go func() {
		defer close(watched)
		p.capacity.Watch(over, work.Index, s, stop)
	}()
	mark, err := p.Sender.Send(ctx, work, stop)
	end()
	<-watched
	endForward(record.StopOver)
	return mark, err
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

// Once are the stages of a plan whose sessions, so many, are each played once: with as many as are
// left, up to the last that has any.
func Once(stages []plan.Stage, all int64) []plan.Stage {
	out, begun := slices.Clone(stages), int64(0)
	for i := range out {
		if out[i].Arrival != plan.ArrivalSessions {
			continue
		}
		if begun == all {
			return out[:i]
		}
		n := &out[i].Sessions.Count
		*n = min(cmp.Or(*n, all), all-begun)
		begun += *n
	}
	return out
}

// left is how much of the data comes before it begins anew.
func left(all, begun int64) int64 {
	if all == 0 {
		return 0
	}
	return all - begun%all
}

// stageReporter tells of stages that have ended, with their figures.
type stageReporter struct {
	tell    func(s *result.Stage) // nil means nobody waits for it
	warn    func(text string)
	queue   *Queue
	journal *rundir.Journal
	folds   *collect.Aggregators
	settle  func(ctx context.Context)
}

// after tells of a stage. It does so between two stages, when no record is in flight: only
// then do the folds belong to nobody else. That it cannot does not end the run.
func (t *stageReporter) after(ctx context.Context, i int) {
	if t.tell == nil {
		return
	}
	t.settle(ctx)
	if ctx.Err() != nil {
		return // records may be in flight still; the result has the stage
	}
	err := aside.Call("Working it out", func() error {
		fold, err := t.folds.Merged()
		st, also := build.Stage(t.queue.PlanAsRun(), t.journal.Facts.Stages, i, fold)
		if err := errors.Join(err, also); err != nil {
			return err
		}
		t.tell(st)
		return nil
	})
	if err != nil {
		t.warn(fmt.Sprintf("stage %d is not reported by itself: %v", i+1, err))
	}
}
