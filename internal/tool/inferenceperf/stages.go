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
	next    int  // number in the config of the stage that comes next
	failed  bool // a stage did not come to its end
}

// Begin implements executor.Observer.
func (f *following) Begin(i int, s plan.Stage) {
	f.stages[i] = s
	number := f.options.StageNumber(i)
	f.empty(number)
	f.next = number + 1
	f.report(number, s, "started")
}

// empty tells of the stages ahead of one that send nothing: the original runs them, too.
func (f *following) empty(number int) {
	for ; f.next < number; f.next++ {
		f.report(f.next, plan.Stage{}, "started")
		f.report(f.next, plan.Stage{}, "completed")
	}
}

// finish tells of the stages that send nothing after the last that does, once that has ended.
func (f *following) finish() {
	if !f.failed && len(f.stages) == len(f.options.Stages) {
		f.empty(f.options.Configured)
	}
}

// Window implements executor.Observer.
func (f *following) Window(int, int, sweep.Window) {}

// End implements executor.Observer.
func (f *following) End(i int, s plan.Stage, l *sweep.Level) {
	f.stages[i] = s
	how := "completed"
	if l != nil && l.Ended != "" {
		how, f.failed = "failed", true
	}
	f.report(f.options.StageNumber(i), s, how)
}

func (f *following) report(number int, s plan.Stage, how string) {
	kind := "run"
	if s.Arrival == plan.ArrivalSessions {
		kind = "session-based run"
	}
	fmt.Fprintf(f.log, "%s - inference_perf.loadgen.load_generator - INFO - Stage %d - %s %s\n",
		time.Now().Format("2006-01-02 15:04:05,000"), number, kind, how)
}
