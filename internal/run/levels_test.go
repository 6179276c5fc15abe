package run

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/abort"
	"github.com/inferometer/inferometer/internal/run/executor"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/sweep"
)

// windowPlan is a closed plan that is measured in short windows over levels.
func windowPlan(t *testing.T, url string, interval time.Duration, list ...float64) *plan.Plan {
	p := closedPlan(t, url, 1, 0)
	p.Stages = []plan.Stage{{Concurrency: 1}}
	p.Levels = plan.Levels{List: list}
	p.Measurement = plan.DefaultMeasurement()
	p.Measurement.Interval = plan.Duration(interval)
	p.Measurement.Stability = 1e5 // the machine is no matter here
	return p
}

// inWindows measures with longer and longer windows until the machine gets requests done in
// each of them. A window in which none was and none failed was too short for this machine:
// it ends the level, and tells nothing about the measurement.
func inWindows(t *testing.T, measure func(interval time.Duration) *result.Result) (*result.Result, time.Duration) {
	t.Helper()
	for interval := 100 * time.Millisecond; interval < soon; interval *= 4 {
		res := measure(interval)
		windows := res.Stages[len(res.Stages)-1].Level.Windows
		if n := len(windows); n > 0 && windows[n-1].Requests+windows[n-1].Failed > 0 {
			return res, interval
		}
	}
	t.Fatal("no window was long enough for a request")
	return nil, 0
}

// seen follows a run.
type seen struct {
	begun  []plan.Stage
	passes int
	ended  []*sweep.Level
}

func (s *seen) Begin(_ int, st plan.Stage)              { s.begun = append(s.begun, st) }
func (s *seen) Window(_, _ int, _ sweep.Window)         { s.passes++ }
func (s *seen) End(_ int, _ plan.Stage, l *sweep.Level) { s.ended = append(s.ended, l) }

// runSeen runs a plan while somebody looks on.
func runSeen(t *testing.T, p *plan.Plan, watch executor.Observer, stop <-chan struct{}) *result.Result {
	t.Helper()
	o := options(t.Output())
	o.Observer, o.Stop = watch, stop
	res, err := Run(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestLevelsAreMeasuredInWindows(t *testing.T) {
	s := serve(t, nil)
	var p *plan.Plan
	var watch *seen
	res, interval := inWindows(t, func(interval time.Duration) *result.Result {
		p, watch = windowPlan(t, s.url, interval, 1, 3), new(seen)
		return runSeen(t, p, watch, nil)
	})
	if len(res.Stages) != 2 || len(watch.begun) != 2 || watch.begun[1].Concurrency != 3 || watch.passes != 6 || len(watch.ended) != 2 {
		t.Fatalf("%d stages, seen %+v", len(res.Stages), watch)
	}
	for i, st := range res.Stages {
		l := st.Level
		if l == nil || l.Ended != record.StopStable || !l.Passed || l.Merged.Requests == 0 || st.Ended != record.StopStable {
			t.Fatalf("stage %d: %+v", i, l)
		}
		if got := l.Merged.End - l.Merged.Begin; got != 3*interval {
			t.Errorf("three windows of %v took %v", interval, got)
		}
		sum := int64(0)
		for _, w := range l.Windows {
			sum += w.Requests
		}
		if sum != l.Merged.Requests || l.Merged.Requests > st.Counts.OK {
			t.Errorf("windows have %d requests, merged %d, the stage %d", sum, l.Merged.Requests, st.Counts.OK)
		}
	}
	if res.Stages[1].Load != "3 in flight" {
		t.Errorf("load %q", res.Stages[1].Load)
	}
	sameLevels(t, p, asJSON(t, res))
}

func TestOneWindowOfAWholeStage(t *testing.T) {
	s := serve(t, nil)
	p := closedPlan(t, s.url, 4, 20)
	p.Stages[0].Warmup.Requests = 5
	p.Measurement = plan.DefaultMeasurement()
	p.Measurement.Mode, p.Measurement.Windows = plan.WindowStage, 1
	res := mustRun(t, p)
	l := res.Stages[0].Level
	if l == nil || l.Ended != record.StopWhole || !l.Passed || l.Merged.Requests != 20 {
		t.Fatalf("level %+v", l)
	}
	sameLevels(t, p, asJSON(t, res))
}

func TestLevelsWithoutWindows(t *testing.T) {
	s := serve(t, nil)
	p := closedPlan(t, s.url, 1, 6)
	p.Levels = plan.Levels{Start: 1, End: 3, Step: 1}
	res := mustRun(t, p)
	if len(res.Stages) != 3 || res.Stages[2].Counts.OK != 6 || res.Stages[2].Load != "3 in flight" || res.Stages[2].Level != nil {
		t.Fatalf("stages %+v", res.Stages)
	}
	sameLevels(t, p, asJSON(t, res))
}

// A server that stops to answer ends the search, and what was measured stays.
func TestServerDiesInTheSecondWindow(t *testing.T) {
	var p *plan.Plan
	res, _ := inWindows(t, func(interval time.Duration) *result.Result {
		s := serve(t, nil)
		p = windowPlan(t, s.url, interval, 2, 4)
		p.Target.Timeouts.Connect = plan.Duration(time.Second)
		// A busy machine may be windows late with the death: till then none may agree.
		p.Measurement.MaxTrials, p.Measurement.Stability = 1000, 0
		return runSeen(t, p, dies{new(seen), s}, nil)
	})
	l := res.Stages[0].Level
	if len(res.Stages) != 1 || l.Ended != record.StopEmpty || l.Passed || l.Windows[0].Requests == 0 {
		t.Fatalf("%d stages, level %+v", len(res.Stages), l)
	}
	if last := l.Windows[len(l.Windows)-1]; last.Requests != 0 || last.Failed == 0 {
		t.Errorf("last window %+v: want failures alone", last)
	}
	sameLevels(t, p, asJSON(t, res))
}

// dies ends a server with the first window.
type dies struct {
	*seen
	server *server
}

func (d dies) Window(i, trial int, w sweep.Window) {
	if trial == 1 {
		d.server.close()
	}
	d.seen.Window(i, trial, w)
}

func TestStoppedInTheMiddleOfALevel(t *testing.T) {
	s := serve(t, nil)
	var p *plan.Plan
	res, _ := inWindows(t, func(interval time.Duration) *result.Result {
		p = windowPlan(t, s.url, interval, 2, 4)
		p.Measurement.MaxTrials, p.Measurement.Stability = 1000, 0
		stop := make(chan struct{})
		return runSeen(t, p, stops{new(seen), stop}, stop)
	})
	l := res.Stages[0].Level
	if !res.Interrupted || len(res.Stages) != 1 || l.Ended != "" || len(l.Windows) < 2 || l.Merged == nil {
		t.Fatalf("interrupted %v, %d stages, level %+v", res.Interrupted, len(res.Stages), l)
	}
	sameLevels(t, p, asJSON(t, res))
}

// A wish to stop that comes when the stage has been ended, by its meter or by its last
// request, is not lost: the next stage or the gap before it hears of it.
func TestStopInTheLastInstant(t *testing.T) {
	for name, c := range map[string]struct {
		said     record.StopReason // by the meter, while the stage could hear
		heard    bool
		measured record.StopReason
	}{
		"the last request":    {},
		"the meter":           {said: record.StopStable, heard: true, measured: record.StopStable},
		"the meter, unheard":  {said: record.StopStable, measured: record.StopStable},
		"the meter, too late": {measured: record.StopStable},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, stop := abort.NewStopper(), abort.NewStopper()
				end := r.Forward(stop)
				if c.said != "" {
					stop.Stop(c.said)
				}
				if c.heard {
					<-stop
				}
				r.Stop(record.StopInterrupted)
				synctest.Wait() // it has been handed on, and nobody takes it
				end(c.measured)
				select {
				case reason := <-r:
					if reason != record.StopInterrupted {
						t.Errorf("the run is to stop because of %q", reason)
					}
				default:
					t.Error("the wish to stop is lost")
				}
			})
		})
	}
}

// What only the meter had to say ends with its stage.
func TestMeterEndsItsStageAlone(t *testing.T) {
	r, stop := abort.NewStopper(), abort.NewStopper()
	end := r.Forward(stop)
	stop.Stop(record.StopStable)
	end(record.StopStable)
	select {
	case reason := <-r:
		t.Errorf("the run is to stop because of %q", reason)
	default:
	}
}

type stops struct {
	*seen
	stop chan struct{}
}

func (s stops) Window(i, trial int, w sweep.Window) {
	if trial == 2 {
		close(s.stop)
	}
	s.seen.Window(i, trial, w)
}

// sameLevels is sameAsReport with a message that can be read.
func sameLevels(t *testing.T, p *plan.Plan, live string) {
	t.Helper()
	again, err := saved.Report(p.Output.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(live, "\n"), strings.Split(asJSON(t, again), "\n")); diff != "" {
		t.Errorf("the run (-) and its records (+):\n%s", diff)
	}
}
