package run

import (
	"io"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
)

func TestAdaptersShareTheTraffic(t *testing.T) {
	s := serve(t, func(c *config.Server) { c.Models = []string{"base", "sql", "tweets"} })
	p := closedPlan(t, s.url, 4, 200)
	p.Target.Model = "base"
	p.Data.Adapters = []plan.Adapter{{Name: "sql", Share: 0.7}, {Name: "tweets", Share: 0.3}}
	res := mustRun(t, p)
	models := res.Stages[0].Models
	if len(models) != 2 || models[0].Counts.OK != 140 || models[1].Counts.OK != 60 {
		t.Fatalf("models %+v", models)
	}
	if n := models[0].Metrics["time_to_first_token"].Count; n != 140 {
		t.Errorf("%d samples of the first adapter", n)
	}
	asked := map[string]int{}
	for _, rec := range readKept(t, p.Output.Dir).recs {
		asked[rec.Model]++
	}
	if asked["sql"] != 140 || asked["tweets"] != 60 {
		t.Errorf("records have %v", asked)
	}
	sameLevels(t, p, asJSON(t, res))
}

func TestAdapterThatTheServerDoesNotHave(t *testing.T) {
	s := serve(t, func(c *config.Server) { c.Models = []string{"base", "sql"} })
	p := closedPlan(t, s.url, 1, 1)
	p.Data.Adapters = []plan.Adapter{{Name: "sql", Share: 0.5}, {Name: "tweets", Share: 0.5}}
	_, err := Run(t.Context(), p, options(io.Discard))
	if err == nil || !strings.Contains(err.Error(), "has no model tweets; it lists base, sql") {
		t.Errorf("error %v", err)
	}
}
