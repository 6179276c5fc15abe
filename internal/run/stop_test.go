package run

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/saved"
)

// slowly answers for so long that nothing ends by itself while a test looks on.
func slowly(c *config.Server) {
	c.Latency.TTFT, c.Latency.ITL, c.Output.Tokens = time.Millisecond, 20*time.Millisecond, 100_000
}

// running is how many requests the server has in its hands, by its own account.
func running(s *server) float64 {
	resp, err := http.Get(s.url + "/metrics")
	if err != nil {
		return -1
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	_, line, _ := strings.Cut(string(text), "\nvllm:num_requests_running{")
	_, value, _ := strings.Cut(line, "} ")
	value, _, _ = strings.Cut(value, "\n")
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return -1
	}
	return n
}

// sameAsReport makes sure that the records say the same as the run.
func sameAsReport(t *testing.T, p *plan.Plan, live string) {
	t.Helper()
	again, err := saved.Report(p.Output.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := asJSON(t, again); got != live {
		t.Errorf("the run said\n%s\nand its records say\n%s", live, got)
	}
}

// Before the first request there is nothing to wait for.
func TestStopWhilePreparing(t *testing.T) {
	stop, over := make(chan struct{}), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(stop) // while it is asked for its models
		<-over
	}))
	defer s.Close()
	defer close(over)
	p := closedPlan(t, s.URL, 1, 1)
	o := options(t.Output())
	o.Stop = stop
	res, err := Run(t.Context(), p, o)
	var early *PrepareError
	if res != nil || err == nil || err.Error() != "stopped before the first request" || errors.As(err, &early) {
		t.Errorf("%v, %v", res, err)
	}
	untouched(t, p)
}

// Once: no more is sent, and what is in flight may end.
func TestStopDrains(t *testing.T) {
	s := serve(t, func(c *config.Server) { c.Latency.TTFT, c.Latency.ITL = 5*time.Millisecond, time.Millisecond })
	p := closedPlan(t, s.url, 4, 1_000_000)
	stop := make(chan struct{})
	o := options(t.Output())
	o.Stop = stop
	o.OnReady = func(progress func() Progress) {
		go func() {
			until(func() bool { return progress().Sent >= 30 })
			close(stop)
		}()
	}
	res, err := Run(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	st := res.Stages[0]
	if !res.Interrupted || res.Incomplete || st.Ended != "interrupted" {
		t.Errorf("interrupted %v, incomplete %v, ended by %q", res.Interrupted, res.Incomplete, st.Ended)
	}
	if st.Counts.Sent < 30 || st.Counts.Failed != 0 {
		t.Errorf("counts %+v, want all to have ended well", st.Counts)
	}
	if !strings.Contains(strings.Join(res.Notes, "\n"), "interrupted") {
		t.Errorf("the notes do not tell: %q", res.Notes)
	}
	sameAsReport(t, p, asJSON(t, res))
}

// Twice: what is in flight is aborted, and its records are kept.
func TestAbortKeepsRecords(t *testing.T) {
	s := serve(t, slowly)
	p := closedPlan(t, s.url, 4, 1_000_000)
	stop := make(chan struct{})
	ctx, abort := context.WithCancel(t.Context())
	o := options(t.Output())
	o.Stop = stop
	o.OnReady = func(progress func() Progress) {
		go func() {
			until(func() bool { return progress().InFlight == 4 && running(s) == 4 })
			close(stop)
			until(func() bool { return progress().Draining })
			abort()
		}()
	}
	res, err := Run(ctx, p, o)
	if err != nil {
		t.Fatal(err)
	}
	if st := res.Stages[0]; !res.Interrupted || st.Counts.Sent != 4 || st.Counts.Failed != 4 || st.Failures[0].Class != record.Cancelled {
		t.Errorf("interrupted %v, counts %+v, failures %+v", res.Interrupted, st.Counts, st.Failures)
	}
	k := readKept(t, p.Output.Dir)
	if len(k.recs) != 4 || len(k.stages) != 1 {
		t.Errorf("%d records, %d stages", len(k.recs), len(k.stages))
	}
	for _, rec := range k.recs {
		if rec.Failure == nil || rec.Failure.Class != record.Cancelled || rec.Sent == record.Never {
			t.Errorf("record %+v", rec)
		}
	}
	sameAsReport(t, p, asJSON(t, res))
}

// An abort after sending has ended by itself is an interruption all the same.
func TestAbortWhileDraining(t *testing.T) {
	s := serve(t, slowly)
	p := closedPlan(t, s.url, 3, 3)
	p.Stages = append(p.Stages, plan.Stage{Concurrency: 1, Requests: 1})
	ctx, abort := context.WithCancel(t.Context())
	o := options(t.Output())
	o.OnReady = func(progress func() Progress) {
		go func() {
			until(func() bool { return progress().Draining })
			abort()
		}()
	}
	res, err := Run(ctx, p, o)
	if err != nil {
		t.Fatal(err)
	}
	if !res.Interrupted || res.Stages[0].Counts.Failed != 3 || res.Stages[1].Counts.Sent != 0 {
		t.Errorf("interrupted %v, stages %+v and %+v", res.Interrupted, res.Stages[0].Counts, res.Stages[1].Counts)
	}
	sameAsReport(t, p, asJSON(t, res))
}

// What does not end within the drain time is recorded as cut off.
func TestDrainCutsOff(t *testing.T) {
	s := serve(t, slowly)
	kept := false
	for drain := 60 * time.Millisecond; !kept && drain < soon; drain *= 4 { // until each has got something by then
		p := closedPlan(t, s.url, 3, 3)
		p.Drain = plan.Duration(drain)
		res := mustRun(t, p)
		st := res.Stages[0]
		if st.Counts.CutOff != 3 || st.Counts.Failed != 3 || res.Interrupted || st.Ended != "requests" {
			t.Errorf("counts %+v, interrupted %v, ended by %q", st.Counts, res.Interrupted, st.Ended)
		}
		kept = true
		for _, rec := range readKept(t, p.Output.Dir).recs {
			if rec.Failure.Class != record.CutOff || (len(rec.Marks) == 0) != (len(rec.Body)+len(rec.Events) == 0) {
				t.Errorf("record %+v, want what had come until then", rec)
			}
			kept = kept && len(rec.Events) > 0
		}
		sameAsReport(t, p, asJSON(t, res))
	}
	if !kept {
		t.Error("nothing of what had come is in the records")
	}
}

// A run that is stopped between two stages has only been through the first.
func TestStopInTheGap(t *testing.T) {
	s := serve(t, nil)
	p := closedPlan(t, s.url, 2, 10)
	p.Stages = append(p.Stages, plan.Stage{Concurrency: 2, Requests: 10, Gap: plan.Duration(time.Hour)})
	stop := make(chan struct{})
	o := options(t.Output())
	o.Stop = stop
	o.OnReady = func(progress func() Progress) {
		go func() {
			until(func() bool { return progress().Stage == 1 })
			close(stop)
		}()
	}
	res, err := Run(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	if !res.Interrupted || res.Incomplete || res.Stages[0].Counts.OK != 10 || res.Stages[1].Counts.Sent != 0 {
		t.Errorf("interrupted %v, incomplete %v, stages %+v and %+v", res.Interrupted, res.Incomplete, res.Stages[0].Counts, res.Stages[1].Counts)
	}
	sameAsReport(t, p, asJSON(t, res))
}

func TestBuiltInMockIsMeasuredWhereThereIsNoTarget(t *testing.T) {
	p := closedPlan(t, "", 4, 4)
	p.Target.URLs = nil
	p.Data.Output = plan.Length{Dist: plan.DistFixed, Mean: 3}
	var log strings.Builder
	res, err := Run(t.Context(), p, options(&log))
	if err != nil {
		t.Fatal(err)
	}
	if res.Stages[0].Counts.OK != 4 || !strings.Contains(log.String(), "built-in mock") {
		t.Errorf("counts %+v, log %q", res.Stages[0].Counts, log.String())
	}
	sameAsReport(t, p, asJSON(t, res))
}
