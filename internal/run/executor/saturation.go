package executor

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/search"
	"github.com/inferometer/inferometer/internal/sweep"
)

// saturationSearch looks for the rate that the server keeps up with, ahead of the stages of a sweep.
type saturationSearch struct {
	plan     *plan.Plan
	log      io.Writer
	queue    *Queue
	sender   *Sender
	journal  *rundir.Journal
	passages *sweep.StepLog // of its requests
	settle   func(ctx context.Context)
}

// run searches, and makes the stages of what it finds. Where it finds nothing, there are no
// stages.
func (h *saturationSearch) run(ctx context.Context) error {
	hunt := sweep.NewHunt(h.plan.Saturation)
	for i := 0; ; i++ {
		rate, duration, ok := hunt.Next()
		if !ok || h.journal.Facts.Interrupted {
			break
		}
		mark, err := h.step(ctx, i, rate, duration)
		if err != nil {
			return err
		}
		h.settle(ctx)
		if h.journal.Facts.Interrupted {
			break // a step that was broken off says nothing
		}
		s := sweep.JudgeStep(rate, mark, h.passages.Requests(search.StepStage(i)), h.plan.Saturation.Percentile)
		hunt.Observe(s)
		verdict := "kept up with"
		if !s.Kept {
			verdict = "not kept up with"
		}
		fmt.Fprintf(h.log, "Searching for the saturation: %.4g requests/s %s: %s.\n", rate, verdict, s.Why)
	}
	h.journal.Facts.Saturation = hunt.Found()
	h.queue.setRates(h.journal.Facts.Saturation.Rates)
	return nil
}

func (h *saturationSearch) step(ctx context.Context, i int, rate float64, duration time.Duration) (record.StageSummary, error) {
	s := h.plan.Stages[0]
	s.Name, s.Rate, s.Duration = fmt.Sprintf("search, step %d", i+1), rate, plan.Duration(duration)
	// Even arrivals, whatever the stages have: chance in them would hide a backlog that grows.
	s.Arrival, s.CV, s.Warmup, s.Gap = plan.ArrivalConstant, 0, plan.Warmup{}, 0
	t := load.NewSpec(h.plan, search.StepStage(i), s)
	t.Seed, t.Drain = h.plan.Seed+uint64(i)+1, h.plan.Saturation.Timeout
	h.queue.searching(t.Index, s)
	h.sender.Warm(ctx, t)
	mark, err := h.sender.Send(ctx, t, h.sender.Stopper)
	mark = aborted(ctx, mark)
	h.journal.AddStage(mark)
	return mark, err
}
