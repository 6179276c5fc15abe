package run

import (
	"io"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
)

func TestBreakerEndsTheRun(t *testing.T) {
	s := serve(t, func(c *config.Server) { c.Faults = []config.Fault{{Kind: config.FaultStatus, Code: 500, Share: 1}} })
	p := closedPlan(t, s.url, 2, 5000)
	p.Stages = append(p.Stages, p.Stages[0])
	p.Breakers = []plan.Breaker{{
		Name: "failing", Matches: []string{"@"}, Rules: []string{"contains(error.error_type, '500')"},
		Triggers: []plan.Trigger{{Kind: plan.TriggerConsecutive, Threshold: 10}},
	}}
	res := mustRun(t, p)
	st := res.Stages[0]
	if st.Ended != "breaker failing: 10 hits in a row" || st.Counts.Sent < 10 || st.Counts.Sent > 2000 || !res.Interrupted {
		t.Errorf("ended %q after %d requests", st.Ended, st.Counts.Sent)
	}
	if res.Stages[1].Counts.Sent != 0 {
		t.Errorf("the second stage sent %d requests", res.Stages[1].Counts.Sent)
	}
	if notes := strings.Join(res.Notes, " "); !strings.Contains(notes, "ended by breaker failing: 10 hits in a row") {
		t.Errorf("notes %s", notes)
	}
	sameLevels(t, p, asJSON(t, res))
}

// The last response of a stage opens it: nothing of the next stage is sent.
func TestBreakerBetweenStages(t *testing.T) {
	s := serve(t, func(c *config.Server) { c.Faults = []config.Fault{{Kind: config.FaultStatus, Code: 500, Share: 1}} })
	p := closedPlan(t, s.url, 1, 3)
	p.Stages = append(p.Stages, p.Stages[0], p.Stages[0])
	p.Breakers = []plan.Breaker{{Name: "b", Matches: []string{"error"}, Triggers: []plan.Trigger{{Kind: plan.TriggerConsecutive, Threshold: 3}}}}
	res := mustRun(t, p)
	sent := int64(0)
	for _, st := range res.Stages {
		sent += st.Counts.Sent
	}
	if sent != 3 || !res.Interrupted {
		t.Errorf("%d requests, interrupted %v", sent, res.Interrupted)
	}
}

func TestBreakersAreReadBeforeTheFirstRequest(t *testing.T) {
	s := serve(t, nil)
	p := closedPlan(t, s.url, 1, 1)
	p.Breakers = []plan.Breaker{{Name: "b", Matches: []string{"error ="}, Triggers: []plan.Trigger{{Kind: plan.TriggerConsecutive, Threshold: 1}}}}
	_, err := Run(t.Context(), p, options(io.Discard))
	if err == nil || !strings.Contains(err.Error(), "breakers[0].matches[0]: ") {
		t.Errorf("error %v", err)
	}
}
