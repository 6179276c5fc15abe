package tool

import (
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/report/progress"
	"github.com/inferometer/inferometer/internal/run"
)

// The view shows the stage under way and what was before it, each by itself.
func TestGauge(t *testing.T) {
	live := new(metric.LiveStats)
	fold, err := metric.NewFold(metric.Options{Live: live, SLOs: []plan.SLO{{Metric: "request_latency", Max: plan.Duration(50 * time.Millisecond)}}})
	if err != nil {
		t.Fatal(err)
	}
	defer fold.Close()
	end := func(stage int, phase record.Phase, latency time.Duration) {
		fold.Add(&record.Record{Stage: stage, Phase: phase, Sent: 0, End: latency, Cached: -1})
	}
	minute := plan.Duration(time.Minute)
	p := run.Progress{
		Plan: &plan.Plan{Goodput: []plan.SLO{{}}}, Live: live, Times: []record.StageTimes{{WarmupEnd: record.NotYet, SendEnd: record.NotYet,
			DrainEnd: record.NotYet}}, Warming: true,
		Stages: []plan.Stage{{Name: "first", Concurrency: 2, Duration: minute, Warmup: plan.Warmup{Requests: 5}}, {Rate: 5, Duration: minute}, {Rate: 9, Duration: minute, Gap: minute}},
	}
	g := newGauge(func() run.Progress { return p })
	end(0, record.Warmup, time.Second)
	if s := g.snapshot(); s.Phase != progress.WarmingUp || s.OK != 1 || s.Limit != 5 || s.Later != 3*time.Minute {
		t.Errorf("warm-up: %+v", s)
	}
	p.Warming = false
	for i := range 10 {
		end(0, record.Measured, time.Duration(i+1)*10*time.Millisecond)
		p.At += time.Second
		g.snapshot()
	}
	if s := g.snapshot(); s.Phase != progress.Measuring || s.OK != 10 || s.Good != 5 || !s.Judged || len(s.Rates) != 10 ||
		len(s.Earlier) != 0 {
		t.Errorf("measured: %+v", s)
	}
	p.Stage, p.Times[0] = 1, record.StageTimes{WarmupEnd: 0, SendEnd: 4 * time.Second, DrainEnd: 5 * time.Second}
	p.Times = append(p.Times, record.StageTimes{Begin: 10 * time.Second, WarmupEnd: 10 * time.Second, SendEnd: record.NotYet,
		DrainEnd: record.NotYet})
	end(1, record.Measured, time.Millisecond)
	p.At += time.Second
	s := g.snapshot()
	if s.OK != 1 || s.RateWanted != 5 || s.Later != 2*time.Minute || len(s.Rates) != 1 {
		t.Errorf("next stage: %+v", s)
	}
	if len(s.Earlier) != 1 || s.Earlier[0].Name != "first" || s.Earlier[0].Rate != 2 {
		t.Errorf("before it: %+v", s.Earlier)
	}
}

// Errors are those of the stage under way, and a stage that has to send a number of requests says how long it takes.
func TestGaugeOfAStage(t *testing.T) {
	p := run.Progress{
		Plan: &plan.Plan{}, Live: new(metric.LiveStats), Times: []record.StageTimes{{}},
		Stages: []plan.Stage{{Concurrency: 4, Duration: plan.Duration(30 * time.Second), MinRequests: 30},
			{Concurrency: 8, Duration: plan.Duration(time.Second)}},
		Failures: map[record.FailureKind]int64{{Class: record.Reset}: 3},
		Elapsed:  20 * time.Second, Ended: 4,
	}
	g := newGauge(func() run.Progress { return p })
	if s := g.snapshot(); len(s.Errors) != 1 || s.Errors[0].Count != 3 || s.Least != 30 || s.Total != 130*time.Second {
		t.Errorf("first stage: %+v", s)
	}
	p.Stage, p.Failures, p.Times = 1, map[record.FailureKind]int64{{Class: record.Reset}: 4}, make([]record.StageTimes, 2)
	if s := g.snapshot(); len(s.Errors) != 0 {
		t.Errorf("one that failed as the first stage ended: %+v", s.Errors)
	}
	p.Failures = map[record.FailureKind]int64{{Class: record.Reset}: 4, {Class: record.HTTPStatus, Status: 503}: 2}
	if s := g.snapshot(); len(s.Errors) != 1 || s.Errors[0].Kind != "HTTP 503" || s.Errors[0].Count != 2 || s.Least != 0 || s.Total != time.Second {
		t.Errorf("second stage: %+v", s)
	}
}

// Of what failed since the last look, a new stage has as many as it says.
func TestBefore(t *testing.T) {
	reset, full := record.FailureKind{Class: record.Reset}, record.FailureKind{Class: record.HTTPStatus, Status: 503}
	got := before(map[record.FailureKind]int64{reset: 5, full: 2}, map[record.FailureKind]int64{reset: 3},
		map[record.Class]int64{record.Reset: 1, record.HTTPStatus: 2})
	if got[reset] != 4 || got[full] != 0 {
		t.Errorf("%v", got)
	}
}

func TestExpected(t *testing.T) {
	s := plan.Stage{Concurrency: 4, Duration: plan.Duration(30 * time.Second), MinRequests: 30}
	for _, c := range []struct {
		ended         int64
		elapsed, want time.Duration
	}{
		{0, 10 * time.Second, 30 * time.Second}, {0, 40 * time.Second, 0}, {1, 10 * time.Second, 260 * time.Second},
		{20, 10 * time.Second, 30 * time.Second}, {30, 40 * time.Second, 40 * time.Second},
	} {
		if got := expected(&s, c.ended, c.elapsed); got != c.want {
			t.Errorf("%d ended in %v: %v, want %v", c.ended, c.elapsed, got, c.want)
		}
	}
}
