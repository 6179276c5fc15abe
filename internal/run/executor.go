package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/inferometer/inferometer/internal/lib/aside"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
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

// executor plays the stages of a run, one after the other.
type executor struct {
	plan      *plan.Plan
	observer  Observer // nil: nobody follows
	questions *promptSource
	queue     *stageQueue
	search    *saturationSearch // of the rates of a sweep; nil: they are known
	capacity  *search.Capacity  // that finds the capacity; nil: nobody looks for it
	sender    *sender
	meter     *windowMeter // nil: stages are not measured in windows
	journal   *rundir.Journal
	lookout   *monitor.Poller
	teller    *stageReporter
}

// play plays all stages.
func (p *executor) play(ctx context.Context) error {
	if p.search != nil {
		if err := p.search.run(ctx); err != nil {
			return err
		}
	}
	for !p.journal.Facts.Interrupted {
		i, s, ok := p.queue.next()
		if !ok {
			return nil
		}
		if reason := p.pause(ctx, i, s); reason != "" {
			now := p.lookout.Now()
			p.journal.AddEdge(record.Edge{Stage: i, Level: s.Level(), Kind: search.LevelKind(s), At: now})
			p.journal.AddStage(record.StageSummary{Stage: i, Begin: now, WarmupEnd: now, SendEnd: now, DrainEnd: now, Reason: reason})
			return nil
		}
		if err := p.stage(ctx, i, s); err != nil {
			return err
		}
	}
	return nil
}

// pause waits for the gap before a stage, and says why where it was broken off.
func (p *executor) pause(ctx context.Context, i int, s plan.Stage) record.StopReason {
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
	case reason := <-p.sender.stopper:
		return reason
	}
}

// stage plays one stage and tells of it.
func (p *executor) stage(ctx context.Context, i int, s plan.Stage) error {
	p.sender.warm(ctx, task(p.plan, i, s))
	drained := p.lookout.Watch(ctx, i)
	mark, level, err := p.send(ctx, i, s)
	drained()
	p.journal.AddStage(aborted(ctx, mark))
	p.teller.after(ctx, i)
	p.queue.addLevel(level)
	if last := p.journal.Facts.Stages; p.capacity != nil && err == nil && !p.journal.Facts.Interrupted {
		p.teller.settle(ctx)
		p.capacity.AddLevel(i, s, last)
		p.journal.Facts.Capacity = p.capacity.Found()
	}
	if p.meter != nil {
		p.journal.Facts.Levels = append(p.journal.Facts.Levels, level)
	}
	if p.observer != nil {
		p.observer.End(i, s, level)
	}
	return err
}

// aborted is the mark of a stage whose last requests may have been aborted, also where
// sending had ended.
func aborted(ctx context.Context, mark record.StageSummary) record.StageSummary {
	if ctx.Err() != nil {
		mark.Reason = record.StopInterrupted
	}
	return mark
}

// send puts a stage's load on the target, and measures it in windows where the plan has
// them.
func (p *executor) send(ctx context.Context, i int, s plan.Stage) (record.StageSummary, *sweep.Level, error) {
	work := task(p.plan, i, s)
	work.Lanes = prompt.LanesOf(p.questions.Source)
	if s.Arrival == plan.ArrivalSessions {
		work.Sessions = sessionsOf(p.queue.stages(), i, int64(p.questions.Sessions))
	}
	if p.observer != nil {
		p.observer.Begin(i, s)
	}
	if p.meter != nil {
		return p.meter.run(ctx, s, work, p.sender)
	}
	l := &sweep.Level{Value: s.Level(), Passed: true}
	if p.plan.Levels.On() || p.capacity != nil {
		p.journal.AddEdge(record.Edge{Stage: i, Level: l.Value, Kind: search.LevelKind(s), At: p.lookout.Now()})
	}
	if p.capacity != nil {
		mark, err := p.runCapacityLevel(ctx, s, work)
		return mark, l, err
	}
	mark, err := p.sender.send(ctx, work, p.sender.stopper)
	if mark = aborted(ctx, mark); mark.Early() {
		l.Ended = mark.Reason
	}
	return mark, l, err
}

// runCapacityLevel puts the load of a level of a search for the capacity on the target, and ends it where it
// is clearly too much.
func (p *executor) runCapacityLevel(ctx context.Context, s plan.Stage, work Task) (record.StageSummary, error) {
	work.Drain = p.capacity.Drain()
	over, end := context.WithCancel(context.Background())
	stop, watched := abort.NewStopper(), make(chan struct{})
	endForward := p.sender.stopper.Forward(stop)
	go func() {
		defer close(watched)
		p.capacity.Watch(over, work.Index, s, stop)
	}()
	mark, err := p.sender.send(ctx, work, stop)
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

// left is how much of the data comes before it begins anew.
func left(all, begun int64) int64 {
	if all == 0 {
		return 0
	}
	return all - begun%all
}

// stageReporter tells of stages that have ended, with their figures.
type stageReporter struct {
	tell    func(s *result.Stage) // nil: nobody waits for it
	warn    func(text string)
	queue   *stageQueue
	journal *rundir.Journal
	folds   *collect.Aggregators
	settle  func(ctx context.Context)
}

// after tells of a stage. It does so between two stages, when no record is under way: only
// then do the folds belong to nobody else. That it cannot does not end the run.
func (t *stageReporter) after(ctx context.Context, i int) {
	if t.tell == nil {
		return
	}
	t.settle(ctx)
	if ctx.Err() != nil {
		return // records may be under way still; the result has the stage
	}
	err := aside.Call("Working it out", func() error {
		fold, err := t.folds.Merged()
		st, also := result.BuildStage(t.queue.asRun(), t.journal.Facts.Stages, i, fold)
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
