package run

import (
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// capacityPlan is a search of a few seconds: too short for a good answer, which is tested where
// time is simulated.
func capacityPlan(t *testing.T, url string, stage plan.Stage, objectives ...string) *plan.Plan {
	p := closedPlan(t, url, 1, 0)
	p.Stages = []plan.Stage{stage}
	p.Capacity = plan.DefaultCapacity()
	p.Capacity.Objectives, p.Capacity.MaxTime = objectives, plan.Duration(time.Second)
	return p
}

// What is found is made again from the records.
func TestCapacity(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *config.Server) { c.Latency.TTFT, c.Latency.MaxSeqs, c.Output.Tokens = 20*time.Millisecond, 2, 2 })
	p := capacityPlan(t, s.url, plan.Stage{Rate: 40, Arrival: plan.ArrivalPoisson, Gap: 1}, "ttft.p90 < 1000s", "goodput >= 50%")
	p.Goodput = []plan.SLO{{Metric: "time_to_first_token", Max: plan.Duration(time.Hour)}}
	p.Capacity.Max = 80
	res := mustRun(t, p)
	c := res.Capacity
	if c == nil || len(c.Levels) == 0 || len(c.Levels) != len(res.Stages) || c.By != capacity.Rate || len(c.Goals) != 2 {
		t.Fatalf("found %+v", c)
	}
	if c.Levels[0].Load != 40 || c.Levels[0].Requests != res.Stages[0].Counts.Sent || c.Levels[0].Seen[0].Value == nil {
		t.Errorf("level %+v of stage %+v", c.Levels[0], res.Stages[0].Counts)
	}
	sameLevels(t, p, asJSON(t, res))
}

// A server that no load is low enough for is told apart from one that was not measured.
func TestCapacityNeverMet(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *config.Server) { c.Latency.TTFT, c.Output.Tokens = 5*time.Millisecond, 1 })
	p := capacityPlan(t, s.url, plan.Stage{Concurrency: 1, Gap: 1}, "latency.p50 < 1ms", "errors < 100%")
	res := mustRun(t, p)
	if c := res.Capacity; c.Outcome != capacity.Never || c.Value != 0 || !strings.HasPrefix(c.Sentence, "No load was found that meets the objectives: even at 1 request in flight, the lowest that was tried, latency.p50 misses by ") {
		t.Errorf("found %q: %s", c.Outcome, c.Sentence)
	}
	sameLevels(t, p, asJSON(t, res))
}
