package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"inferometer/internal/endpoint"
	"inferometer/internal/engine/load"
	"inferometer/internal/plan"
	"inferometer/internal/record"
	"inferometer/internal/result"
	"inferometer/internal/sweep"
)

// stages runs one stage after the other.
func (r *run) stages(ctx context.Context) error {
	for {
		i, s, ok := r.queue.next()
		if !ok {
			return nil
		}
		r.stage.Store(int64(i))
		if gap := time.Duration(s.Gap); gap > 0 && i > 0 {
			if reason := r.pause(ctx, gap); reason != "" {
				now := r.clock.Now()
				r.output.note(r.output.edge(record.Edge{Stage: i, Level: s.Level(), At: now}))
				r.endStage(record.StageMark{Stage: i, Begin: now, WarmupEnd: now, SendEnd: now, DrainEnd: now, Reason: reason})
				return nil
			}
		}
		r.warm(ctx, s)
		drained := r.overlook(ctx, i)
		mark, level, err := r.runStage(ctx, i, s)
		drained()
		if ctx.Err() != nil {
			mark.Reason = record.StopInterrupted // its last requests were aborted, also where sending had ended
		}
		r.endStage(mark)
		err = errors.Join(err, r.tellStage(ctx, i))
		r.endLevel(i, s, level)
		if err != nil || r.facts.Interrupted {
			return err
		}
	}
}

// send puts a stage's load on the target.
func (r *run) send(ctx context.Context, work load.Stage, stop <-chan string) (record.StageMark, error) {
	r.alike.begin(work.Index, work.Arrivals == nil)
	mark, err := r.engine.Run(ctx, work, stop)
	if err != nil {
		return mark, &BreakError{err}
	}
	return mark, nil
}

// warm opens connections before a stage.
func (r *run) warm(ctx context.Context, s plan.Stage) {
	if w, ok := r.endpoint.(endpoint.Warmer); ok {
		// What fails here fails again, and is recorded, when a request needs it.
		_ = w.Warm(ctx, connectionsAhead(s))
	}
}

// endLevel notes what was measured at a level.
func (r *run) endLevel(i int, s plan.Stage, l *sweep.Level) {
	r.queue.tell(l)
	if r.plan.Measurement.On() {
		r.facts.Levels = append(r.facts.Levels, l)
	}
	if r.opt.Levels != nil {
		r.opt.Levels.End(i, s, l)
	}
}

// endStage notes how a stage went.
func (r *run) endStage(mark record.StageMark) {
	r.facts.Stages = append(r.facts.Stages, mark)
	r.facts.Interrupted = r.facts.Interrupted || mark.Early()
	r.output.note(r.output.stage(mark))
}

// pause waits for the gap between two stages, and says why where it was broken off.
func (r *run) pause(ctx context.Context, gap time.Duration) (reason string) {
	t := time.NewTimer(gap)
	defer t.Stop()
	select {
	case <-t.C:
		return ""
	case <-ctx.Done():
		return record.StopInterrupted
	case reason = <-r.stop:
		return reason
	}
}

// connectionsAhead is how many connections to open before a stage: all of them in
// closed loop; in open loop what its rate needs if answers take 50 ms.
func connectionsAhead(s plan.Stage) int {
	if s.Concurrency > 0 {
		return max(s.Concurrency, s.Growth.To)
	}
	if s.Arrival == plan.ArrivalSessions && s.Sessions.Concurrent > 0 {
		return s.Sessions.Concurrent
	}
	n := int(s.Rate/20) + 1
	if s.MaxInFlight > 0 {
		n = min(n, s.MaxInFlight)
	}
	return min(n, 512)
}

// tellStage tells of a stage that has ended, with its figures. It does so between two
// stages, when no record is under way: only then do the folds belong to nobody else.
func (r *run) tellStage(ctx context.Context, i int) error {
	if r.opt.Stage == nil {
		return nil
	}
	r.collector.Settle(ctx)
	if ctx.Err() != nil {
		return nil // records may be under way still; the result has the stage
	}
	var errs []error
	for _, f := range r.folds[1:] {
		errs = append(errs, r.folds[0].Merge(f))
	}
	st, err := result.BuildStage(r.queue.asRun(), r.facts.Stages, i, r.folds[0])
	if err := errors.Join(append(errs, err)...); err != nil {
		return fmt.Errorf("working out stage %d: %w", i+1, err)
	}
	r.opt.Stage(st)
	return nil
}
