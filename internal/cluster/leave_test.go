package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/cluster/bus"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/saved"
)

// gone waits until the first worker has left.
func gone(t *testing.T, c *Coordinator) {
	err := c.state.Wait(t.Context(), func() bool {
		for _, m := range c.members {
			if m.name == "w0" && m.over() {
				return true
			}
		}
		return false
	})
	if err != nil {
		t.Error(err)
	}
}

// Who is told to stop while workers are awaited does so.
func TestStoppedBeforeWorkersCame(t *testing.T) {
	server, err := bus.Serve(bus.ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	b, err := bus.Dial(t.Context(), bus.DialOptions{URL: server.URL(), Run: "test", Name: "coordinator"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	c, err := Open(Options{Bus: b, Workers: 1, Version: "test", Wait: time.Hour, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	o := options()
	o.Fleet, o.Stop = c, stop
	go func() {
		defer close(stop)
		if err := c.state.Wait(t.Context(), func() bool { return c.plan != nil }); err != nil { // it waits by then
			t.Error(err)
		}
	}()
	if _, err := run.Run(t.Context(), planFor(t, serve(t), closedLoop), o); err == nil || !strings.Contains(err.Error(), "stopped before the first request") {
		t.Error(err)
	}
	if err := c.Close(nil); err != nil {
		t.Error(err)
	}
}

// A worker that is told to stop ends what it has under way, and the run goes on: every response that
// the server gave is in the report, which says who left.
func TestWorkersThatLeave(t *testing.T) {
	leave := make(chan struct{})
	between := func(w *WorkerOptions, c *Coordinator, o *run.Options) {
		w.Leave = leave
		o.Stage = func(s *result.Stage) {
			if s.Index == 0 {
				close(leave)
				gone(t, c)
			}
		}
	}
	during := func(w *WorkerOptions, c *Coordinator, o *run.Options) {
		stop := make(chan struct{})
		w.Leave, o.Stop = leave, stop
		var prompts atomic.Int64
		w.Run.Prompt = func(*prompt.Prompt) {
			if prompts.Add(1) == 12 {
				close(leave)
			}
		}
		go func() {
			gone(t, c)
			close(stop) // it would go on
		}()
	}
	endless := closedLoop[:strings.Index(closedLoop, "stages:")] + "stages: [{rate: 60, arrival: poisson, duration: 1h}]"
	for name, tt := range map[string]struct {
		plan   string
		change change
		stages int
	}{
		"between two stages": {closedLoop, between, 2},
		"during a stage":     {endless, during, 1},
	} {
		t.Run(name, func(t *testing.T) {
			leave = make(chan struct{})
			s := serve(t)
			p := planFor(t, s, tt.plan)
			p.Output.Dir = filepath.Join(t.TempDir(), "out")
			res, err := together(t, p, 3, tt.change)
			if err != nil {
				t.Fatal(err)
			}
			var ok, failed int64
			for _, stage := range res.Stages {
				ok, failed = ok+stage.Counts.OK+stage.Counts.Warmup, failed+stage.Counts.Failed
			}
			if seen := len(s.seen(t)); failed != 0 || ok != int64(seen) {
				t.Errorf("the server saw %d requests, the report has %d that went well and %d that failed", seen, ok, failed)
			}
			if len(res.Stages) != tt.stages || tt.stages == 2 && res.Stages[1].Counts.OK/10 != 6 {
				t.Errorf("%d stages, the last with %d answers: the run did not go on with the others", len(res.Stages), res.Stages[len(res.Stages)-1].Counts.OK)
			}
			again, err := saved.Report(p.Output.Dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range []string{fmt.Sprint(res.Verdict), fmt.Sprint(again.Verdict)} {
				if !strings.Contains(r, "1 worker of 3 left before the run ended, told to stop (w0 at ") {
					t.Errorf("nothing says who left: %s", r)
				}
			}
		})
	}
}

// A worker that has to end at once, as when the coordinator is gone, waits for the records of what it aborts.
func TestEndAtOnce(t *testing.T) {
	server, err := bus.Serve(bus.ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	b, err := bus.Dial(t.Context(), bus.DialOptions{URL: server.URL(), Run: "test", Name: "both"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	p := planFor(t, serve(t), closedLoop[:strings.Index(closedLoop, "stages:")]+"stages: [{concurrency: 4, duration: 1h}]")
	ready, began := make(chan struct{}), time.Now()
	answer := func(stop func(), err error) {
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
	}
	var key string
	answer(bus.Handle(b, onJoin, func(j joinRequest) (joinResponse, error) { key = j.Key; return joinResponse{Of: 1, Run: "test"}, nil }))
	answer(bus.Handle(b, onPlan, func(from) (assignment, error) { return assignment{Plan: p}, nil }))
	answer(bus.Handle(b, onRenew, func(from) (none, error) { return none{}, nil }))
	answer(bus.Handle(b, onClock, func(none) (time.Duration, error) { return time.Since(began), nil }))
	answer(bus.Handle(b, onReady, func(readiness) (none, error) { close(ready); return none{}, nil }))
	go func() {
		<-ready
		if _, err := bus.Request[none](t.Context(), b, to(onOrder, key),
			prepareStage{Number: 1, Task: load.NewSpec(p, 0, p.Stages[0])}); err != nil {
			t.Error(err)
		}
		if _, err := bus.Request[none](t.Context(), b, to(onGo, key), begin{Order: 1}); err != nil {
			t.Error(err)
		}
	}()
	ctx, kill := context.WithCancelCause(t.Context())
	o := options()
	var prompts atomic.Int64
	o.Prompt = func(*prompt.Prompt) {
		if prompts.Add(1) == 30 {
			kill(errors.New("as told"))
		}
	}
	err = RunWorker(ctx, WorkerOptions{Bus: b.Link, RunID: "test", Name: "w0", Dir: t.TempDir(), Run: o, Wait: time.Minute, Log: t.Output()})
	if err == nil || !strings.Contains(err.Error(), "as told") {
		t.Error(err)
	}
}
