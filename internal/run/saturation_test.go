package run

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
)

// saturationPlan is a sweep of a few short stages.
func saturationPlan(t *testing.T, url string) *plan.Plan {
	p := closedPlan(t, url, 1, 0)
	p.Stages = []plan.Stage{{Arrival: plan.ArrivalConstant}}
	p.Saturation = plan.Saturation{
		Kind: plan.SweepLinear, Requests: 150, Timeout: plan.Duration(1500 * time.Millisecond),
		Stages: 2, Duration: plan.Duration(300 * time.Millisecond), Percentile: 95,
	}
	return p
}

// A server that has ten sequences of 50 ms at a time answers 200 requests a second.
func TestSweepToSaturation(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *config.Server) {
		c.Latency.TTFT, c.Latency.MaxSeqs, c.Output.Tokens = 50*time.Millisecond, 10, 1
	})
	p := saturationPlan(t, s.url)
	p.Saturation.Requests = 600
	res := mustRun(t, p)
	found := res.Saturation
	if found == nil {
		t.Fatal("no saturation in the result")
	}
	for _, step := range found.Steps {
		t.Logf("%+v", step)
	}
	// How close the search comes is tested where time is simulated: here the machine may be
	// slower than the server that it plays, and never faster.
	asked, answered := int64(0), int64(0)
	for _, step := range found.Steps {
		asked, answered = asked+step.Requests-step.Unsent, answered+step.OK
	}
	if found.Rate > 215 || found.Above > 0 && found.Above < found.Rate || len(found.Steps) < 2 {
		t.Errorf("found %+v", found)
	}
	if found.Rate > 0 && (len(found.Rates) != 2 || found.Rates[1] != found.Rate) {
		t.Errorf("rates %v up to %v", found.Rates, found.Rate)
	}
	if len(res.Stages) != max(len(found.Rates), 1) || p.Stages[0].Rate != 0 {
		t.Errorf("%d stages of the rates %v: %+v", len(res.Stages), found.Rates, res.Stages)
	}
	for _, st := range res.Stages {
		asked, answered = asked+st.Counts.Sent, answered+st.Counts.OK
	}
	if got := int64(len(s.truths(t))); got > asked || got < answered {
		t.Errorf("the server saw %d requests; by the steps and stages it was sent %d and answered %d", got, asked, answered)
	}
	if res.Stages[0].Counts.Sent > 1 {
		t.Errorf("the requests of the search are among those of a stage: %+v", res.Stages[0].Counts)
	}
	sameLevels(t, p, asJSON(t, res))
}

// A server that refuses everything has no saturation, and the result says so.
func TestSweepWithoutSaturation(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *config.Server) { c.Faults = []config.Fault{{Kind: config.FaultStatus, Code: 503, Share: 1}} })
	p := saturationPlan(t, s.url)
	p.Saturation.Timeout = plan.Duration(200 * time.Millisecond)
	res := mustRun(t, p)
	if f := res.Saturation; f == nil || f.Rate != 0 || len(f.Steps) != 1 || len(f.Rates) != 0 {
		t.Fatalf("found %+v", f)
	}
	if res.Verdict.Valid || !strings.HasPrefix(res.Verdict.Reasons[0], "No rate was found that the server keeps up with: at 30 requests/s, none of ") {
		t.Errorf("verdict %q", res.Verdict.Reasons)
	}
	sameLevels(t, p, asJSON(t, res))
}

func TestStoppedInTheMiddleOfASearch(t *testing.T) {
	s := serve(t, nil)
	p := saturationPlan(t, s.url)
	p.Saturation.Timeout = plan.Duration(soon) // the step does not end before it is stopped
	stop := make(chan struct{})
	o := options(io.Discard)
	o.Stop = stop
	o.OnReady = func(progress func() Progress) {
		go func() {
			until(func() bool { return progress().Sent > 3 })
			if got := progress(); got.Stage != 0 || len(got.Stages) != 1 || got.Stages[0].Name != "search, step 1" {
				t.Errorf("progress %+v", got)
			}
			close(stop)
		}()
	}
	res, err := Run(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	if !res.Interrupted || res.Saturation == nil || len(res.Saturation.Steps) != 0 {
		t.Errorf("interrupted %v, found %+v", res.Interrupted, res.Saturation)
	}
	sameLevels(t, p, asJSON(t, res))
}

func TestBreakerEndsASearch(t *testing.T) {
	s := serve(t, func(c *config.Server) { c.Faults = []config.Fault{{Kind: config.FaultStatus, Code: 503, Share: 1}} })
	p := saturationPlan(t, s.url)
	p.Breakers = []plan.Breaker{{Name: "b", Matches: []string{"error"}, Triggers: []plan.Trigger{{Kind: plan.TriggerConsecutive, Threshold: 2}}}}
	res := mustRun(t, p)
	if !res.Interrupted || len(res.Saturation.Steps) != 0 {
		t.Errorf("interrupted %v, found %+v", res.Interrupted, res.Saturation)
	}
	if notes := strings.Join(res.Notes, " "); !strings.Contains(notes, "The search for saturation was stopped by breaker b: 2 hits in a row") {
		t.Errorf("notes %s", notes)
	}
	sameLevels(t, p, asJSON(t, res))
}
