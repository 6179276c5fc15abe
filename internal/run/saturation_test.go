package run

import (
	"testing"
	"time"

	"inferometer/internal/mock"
	"inferometer/internal/plan"
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
	s := serve(t, func(c *mock.Config) {
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
	if found.Rate < 150 || found.Rate > 215 || found.Above < 180 || len(found.Rates) != 2 {
		t.Errorf("found %+v", found)
	}
	if len(res.Stages) != 2 || res.Stages[1].Counts.OK == 0 || p.Stages[0].Rate != 0 {
		t.Errorf("%d stages: %+v", len(res.Stages), res.Stages)
	}
	if res.Stages[0].Counts.Sent > 1 {
		t.Errorf("the requests of the search are among those of a stage: %+v", res.Stages[0].Counts)
	}
	sameLevels(t, p, asJSON(t, res))
}
