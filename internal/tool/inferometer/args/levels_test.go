package args

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

func TestLevelsAndWindows(t *testing.T) {
	measurement := func(change func(*plan.Measurement)) plan.Measurement {
		m := plan.DefaultMeasurement()
		change(&m)
		return m
	}
	for _, c := range []struct {
		args   string
		levels plan.Levels
		m      plan.Measurement
		stage  plan.Stage
	}{
		{"--levels 1,4,8 --requests 5", plan.Levels{List: []float64{1, 4, 8}}, plan.Measurement{}, plan.Stage{Concurrency: 1, Requests: 5}},
		{"--levels 2:8:2 --window 2s", plan.Levels{Start: 2, End: 8, Step: 2}, measurement(func(m *plan.Measurement) { m.Interval = 2_000_000_000 }), plan.Stage{Concurrency: 1}},
		{"--levels 2:8 --window 20", plan.Levels{Start: 2, End: 8, Step: 1}, measurement(func(m *plan.Measurement) { m.Mode, m.Requests = plan.WindowCount, 20 }), plan.Stage{Concurrency: 1}},
		{"--levels 1::2 --latency-threshold 50ms", plan.Levels{Start: 1, Step: 2}, measurement(func(m *plan.Measurement) { m.LatencyThreshold = 50_000_000 }), plan.Stage{Concurrency: 1}},
		{"--rate 5 --levels 10:50:0.5 --search binary --latency-threshold 1s --stability 5% --window-percentile 95 --max-trials 4", plan.Levels{Start: 10, End: 50, Step: 0.5, Search: "binary"},
			measurement(func(m *plan.Measurement) {
				m.LatencyThreshold, m.Stability, m.Percentile, m.MaxTrials = 1_000_000_000, 0.05, 95, 4
			}), plan.Stage{Rate: 5, Arrival: "constant"}},
	} {
		a, err := Run(append([]string{"http://h:1"}, strings.Fields(c.args)...), planfile.Known{}, nil)
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		if diff := cmp.Diff(c.levels, a.Plan.Levels); diff != "" {
			t.Errorf("%s: %s", c.args, diff)
		}
		if diff := cmp.Diff(c.m, a.Plan.Measurement); diff != "" {
			t.Errorf("%s: %s", c.args, diff)
		}
		if diff := cmp.Diff([]plan.Stage{c.stage}, a.Plan.Stages); diff != "" {
			t.Errorf("%s: %s", c.args, diff)
		}
	}
	for args, want := range map[string]string{
		"--levels 1:2:3:4 --window 1s":              "--levels: \"1:2:3:4\" is not a range",
		"--levels 0:0:0 --requests 5":               "--levels: must be more than 0",
		"--search binary --requests 5":              "--search: there are no levels to search in",
		"--levels x --window 1s":                    "--levels: must be a number",
		"--levels 1:: --window 1s":                  "--levels",
		"--window x":                                "--window",
		"--levels 1:9 --requests 5 --search binary": "a binary search needs a latency threshold",
	} {
		if _, err := Run(append([]string{"http://h:1"}, strings.Fields(args)...), planfile.Known{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", args, err, want)
		}
	}
}
