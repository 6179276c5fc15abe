package inferometer

import (
	"testing"

	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
	"github.com/inferometer/inferometer/internal/tool"
)

func TestResultCode(t *testing.T) {
	valid, inconclusive, invalid := result.Verdict{Status: result.Valid, Valid: true}, result.Verdict{Status: result.Inconclusive},
		result.Verdict{Status: result.Invalid}
	answered := []result.Stage{{}}
	answered[0].Counts.OK = 1
	never := &capacity.Result{Outcome: capacity.Never}
	for name, tt := range map[string]struct {
		res  result.Result
		code int
	}{
		"good":                             {result.Result{Verdict: valid, Stages: answered}, tool.ExitOK},
		"stopped":                          {result.Result{Verdict: valid, Stages: answered, Interrupted: true}, tool.ExitRun},
		"a gate is missed":                 {result.Result{Verdict: valid, Stages: answered, Gates: []result.Gate{{Failed: true}}}, tool.ExitMissed},
		"invalid, and a gate is missed":    {result.Result{Verdict: invalid, Stages: answered, Gates: []result.Gate{{Failed: true}}}, tool.ExitRun},
		"too little to judge":              {result.Result{Verdict: inconclusive, Stages: answered}, tool.ExitInconclusive},
		"nothing was answered":             {result.Result{Verdict: inconclusive}, tool.ExitRun},
		"no load is met":                   {result.Result{Verdict: valid, Stages: answered, Capacity: never}, tool.ExitMissed},
		"no load is met, as all fails":     {result.Result{Verdict: valid, Capacity: never}, tool.ExitMissed},
		"all fails in a search that ended": {result.Result{Verdict: inconclusive, Capacity: never}, tool.ExitRun},
	} {
		if got := resultCode(&tt.res); got != tt.code {
			t.Errorf("%s: exit code %d, want %d", name, got, tt.code)
		}
	}
}
