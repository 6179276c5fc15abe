package inferenceperf

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/sweep"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/args"
)

// stages are those of a run, as they were run.
type stages map[int]plan.Stage

// following remembers stages and tells of them in the original's lines, which scripts wait for.
type following struct {
	stages
	options *args.Options
	log     io.Writer
	next    int  // number in the config of the stage that comes next
	failed  bool // a stage did not come to its end
	open    bool // a breaker ended it
	arrival string
}

// Begin implements executor.Observer.
func (f *following) Begin(i int, s plan.Stage) {
	f.stages[i], f.arrival = s, s.Arrival
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

// finish tells of the stages that send nothing after the last of those that were played, once that
// has ended: all that are left where a breaker has.
func (f *following) finish(played int) {
	switch {
	case f.open:
		f.closed()
	case !f.failed && len(f.stages) == played && f.arrival == plan.ArrivalSessions:
		for ; f.next < f.options.Configured; f.next++ {
			f.report(f.next, plan.Stage{Arrival: f.arrival}, "started") // nothing more is heard of one without sessions
		}
	case !f.failed && len(f.stages) == played:
		f.empty(f.options.Configured)
	}
}

// closed tells of the stages behind an open breaker. The original begins each and ends it at once.
func (f *following) closed() {
	s := plan.Stage{Arrival: f.arrival}
	for f.next < f.options.Configured {
		if !slices.Contains(f.options.Stages, f.next) {
			f.empty(f.next + 1)
			continue
		}
		f.report(f.next, s, "started")
		f.report(f.next, s, "failed")
		f.next++
	}
}

// Window implements executor.Observer.
func (f *following) Window(int, int, sweep.Window) {}

// End implements executor.Observer.
func (f *following) End(i int, s plan.Stage, l *sweep.Level) {
	f.stages[i] = s
	how := "completed"
	if l != nil && l.Ended != "" {
		how, f.failed, f.open = "failed", true, l.Ended.Breaker()
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
