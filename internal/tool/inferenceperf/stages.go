package inferenceperf

import (
	"fmt"
	"io"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/sweep"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/args"
)

// stages are those of a run, as they were run.
type stages map[int]plan.Stage

// following remembers stages and tells of them in the lines that the original logs, which
// scripts wait for.
type following struct {
	stages
	options *args.Options
	log     io.Writer
}

// Begin implements run.Observer.
func (f following) Begin(i int, s plan.Stage) {
	f.stages[i] = s
	f.report(i, s, "started")
}

// Window implements run.Observer.
func (f following) Window(int, int, sweep.Window) {}

// End implements run.Observer.
func (f following) End(i int, s plan.Stage, l *sweep.Level) {
	f.stages[i] = s
	how := "completed"
	if l != nil && l.Ended != "" {
		how = "failed"
	}
	f.report(i, s, how)
}

func (f following) report(i int, s plan.Stage, how string) {
	kind := "run"
	if s.Arrival == plan.ArrivalSessions {
		kind = "session-based run"
	}
	fmt.Fprintf(f.log, "%s - inference_perf.loadgen.load_generator - INFO - Stage %d - %s %s\n",
		time.Now().Format("2006-01-02 15:04:05,000"), f.options.StageNumber(i), kind, how)
}
