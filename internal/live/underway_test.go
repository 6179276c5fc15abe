package live

import (
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
)

func TestUnderway(t *testing.T) {
	const s = time.Second
	timed, counted := plan.Stage{Duration: plan.Duration(10 * s)}, plan.Stage{Requests: 100}
	least := plan.Stage{Duration: plan.Duration(10 * s), MinRequests: 30}
	warm := plan.Stage{Duration: plan.Duration(10 * s), Warmup: plan.Warmup{Requests: 8}}
	at := func(p run.Progress, stages ...plan.Stage) run.Progress {
		p.Plan, p.Stages = &plan.Plan{}, stages
		return p
	}
	for name, c := range map[string]struct {
		p    run.Progress
		want *pagedata.Underway
	}{
		"by time, and all of it":       {at(run.Progress{At: 5 * s, Elapsed: 5 * s}, timed, timed), &pagedata.Underway{Stage: 1, Stages: 2, Phase: "measuring", Share: 0.25, Left: 15, Whole: true}},
		"then one that ends by number": {at(run.Progress{At: 5 * s, Elapsed: 5 * s}, timed, counted), &pagedata.Underway{Stage: 1, Stages: 2, Phase: "measuring", Share: 0.5, Left: 5}},
		"of a list of levels":          {at(run.Progress{At: 5 * s, Elapsed: 5 * s, Coming: []plan.Stage{timed}}, timed), &pagedata.Underway{Stage: 1, Stages: 2, Phase: "measuring", Share: 0.25, Left: 15, Whole: true}},
		"by number":                    {at(run.Progress{At: 12 * s, Elapsed: 2 * s, Ended: 20, Stage: 1}, timed, counted), &pagedata.Underway{Stage: 2, Stages: 2, Phase: "measuring", Share: 0.6, Left: 8, Whole: true}},
		"not before a number":          {at(run.Progress{At: 10 * s, Elapsed: 10 * s, Ended: 10}, least), &pagedata.Underway{Stage: 1, Stages: 1, Phase: "measuring", Share: 1. / 3, Left: 20, Whole: true}},
		"nothing has ended":            {at(run.Progress{At: s, Elapsed: s}, counted), &pagedata.Underway{Stage: 1, Stages: 1, Phase: "measuring"}},
		"warming up":                   {at(run.Progress{At: s, Elapsed: s, Ended: 2, Warming: true}, warm), &pagedata.Underway{Stage: 1, Stages: 1, Phase: "warming up", Share: 0.25, Left: 3}},
		"draining":                     {at(run.Progress{At: 11 * s, Elapsed: 10 * s, Draining: true}, timed), &pagedata.Underway{Stage: 1, Stages: 1, Phase: "waiting for the last responses"}},
		"over":                         {at(run.Progress{Result: &result.Result{}}, timed), nil},
		"not begun":                    {run.Progress{}, nil},
	} {
		got := underway(&c.p)
		switch {
		case (got == nil) != (c.want == nil):
			t.Errorf("%s: %v, want %v", name, got, c.want)
		case got != nil && (got.Stage != c.want.Stage || got.Stages != c.want.Stages || got.Phase != c.want.Phase ||
			got.Whole != c.want.Whole || abs(got.Share-c.want.Share) > 1e-6 || abs(got.Left-c.want.Left) > 1e-6):
			t.Errorf("%s: %+v, want %+v", name, *got, *c.want)
		}
	}
}

func abs(v float64) float64 { return max(v, -v) }
