package repeat

import (
	"math"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// of makes runs with one level and one figure, and the half width of its interval within.
func of(within float64, values ...float64) []Run {
	var runs []Run
	for _, v := range values {
		runs = append(runs, Run{
			Result: &result.Result{
				Verdict: result.Verdict{Status: result.Valid, Valid: true},
				Stages: []result.Stage{{
					Load: "8 in flight", Concurrency: 8, Counts: result.Counts{Sent: 10, OK: 10},
					Metrics: map[string]result.Stat{
						"time_to_first_token": {Unit: "ms", Avg: v, Distribution: &result.Distribution{P50: v - 1, P99: 2 * v}},
						"request_throughput":  {Unit: "requests/sec", Avg: 1000 / v},
					},
				}},
			},
			Within: map[int]map[Key]estimate.Interval{0: {{"time_to_first_token", "avg"}: {Value: v, Lo: v - within, Hi: v + within, Known: true}}},
		})
	}
	return runs
}

func TestMake(t *testing.T) {
	d := Make(of(3, 98, 100, 102), 5, "v")
	f := d.Stages[0].Metrics["time_to_first_token"].Stats["avg"]
	if len(d.Runs) != 3 || d.Requested != 5 || !d.Valid || f.Mean != 100 || f.Min != 98 || f.Max != 102 || f.Std != 2 || *f.CV != 0.02 ||
		*f.Within != 3 {
		t.Errorf("%+v", f)
	}
	// Student's bound for two degrees of freedom is 4.303.
	if half := (f.Interval.Hi - f.Interval.Lo) / 2; math.Abs(half-4.303*2/math.Sqrt(3)) > 0.01 {
		t.Errorf("half width %v", half)
	}
	if _, has := d.Stages[0].Metrics["request_throughput"].Stats["p99"]; has {
		t.Error("a rate has percentiles")
	}
	if len(d.Notes) != 0 {
		t.Errorf("notes %q", d.Notes)
	}
}

func TestOneRunHasNoInterval(t *testing.T) {
	f := Make(of(3, 100), 1, "v").Stages[0].Metrics["time_to_first_token"].Stats["p99"]
	if f.Interval != nil || f.Mean != 200 || f.Within != nil {
		t.Errorf("%+v", f)
	}
}

// Runs whose requests explain how far they are apart are not said to drift; others are.
func TestDrift(t *testing.T) {
	for name, tt := range map[string]struct {
		runs  []Run
		drift bool
	}{
		"as requests explain": {of(4, 98, 100, 102, 101, 99), false},
		"much further":        {of(0.4, 98, 100, 102, 101, 99), true},
		"of no importance":    {of(0.01, 100, 100.1, 100.2, 99.9, 100), false},
		"two do not tell":     {of(0.1, 90, 110), false},
		"not known":           {of(0, 90, 110, 100), false},
	} {
		notes := strings.Join(Make(tt.runs, 5, "v").Notes, " ")
		if got := strings.Contains(notes, "Runs differ more than requests do: time to first token"); got != tt.drift {
			t.Errorf("%s: notes %q", name, notes)
		}
	}
}

// A level that another run has at another load, or not at all, is no repeat.
func TestUnlikeLevels(t *testing.T) {
	runs := of(1, 100, 101)
	runs[1].Result.Stages[0].Load = "9 in flight"
	if d := Make(runs, 2, "v"); len(d.Stages) != 0 || len(d.Notes) != 1 {
		t.Errorf("%d stages, notes %q", len(d.Stages), d.Notes)
	}
	if d := Make(nil, 2, "v"); d.Valid || len(d.Stages) != 0 {
		t.Errorf("no run: %+v", d)
	}
}

func TestMean(t *testing.T) {
	runs := of(1, 98, 100, 102)
	s := Make(runs, 3, "v").Mean(runs).Stages[0]
	m := s.Metrics["time_to_first_token"]
	if s.Concurrency != 8 || s.Counts.Sent != 30 || m.Avg != 100 || m.P99 != 200 || m.P50 != 99 || len(m.Intervals) == 0 {
		t.Errorf("%+v", m)
	}
	if at := m.Intervals["p99"]; !(at.Lo < 200 && 200 < at.Hi) {
		t.Errorf("interval %+v", at)
	}
}

// What is not known of a run's own requests, or has a mean of 0, says nothing about drift.
func TestDriftIsNotKnown(t *testing.T) {
	unknown := of(0.4, 98, 100, 102, 101, 99)
	for i := range unknown {
		unknown[i].Within = nil
	}
	for name, runs := range map[string][]Run{"no intervals": unknown, "a mean of 0": of(0.4, -2, 2, -1, 1)} {
		if notes := Make(runs, 5, "v").Notes; len(notes) != 0 {
			t.Errorf("%s: %q", name, notes)
		}
	}
}

// Two runs are apart by something; and where a figure is open in one of them, it has no bounds over all.
func TestTwoRuns(t *testing.T) {
	f := Make(of(3, 99, 101), 2, "v").Stages[0].Metrics["time_to_first_token"].Stats["avg"]
	if math.Abs(f.Std-math.Sqrt2) > 1e-12 || f.Interval == nil || f.AtLeast {
		t.Errorf("%+v", f)
	}
	runs := of(3, 99, 101)
	m := runs[0].Result.Stages[0].Metrics["time_to_first_token"]
	m.AtLeast = []string{"avg", "p99"}
	runs[0].Result.Stages[0].Metrics["time_to_first_token"] = m
	if f := Make(runs, 2, "v").Stages[0].Metrics["time_to_first_token"].Stats["p99"]; !f.AtLeast || f.Interval != nil || f.Within != nil {
		t.Errorf("at least so much in one run: %+v", f)
	}
}
