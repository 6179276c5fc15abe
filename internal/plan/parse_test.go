package plan_test

import (
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
)

func TestParseLength(t *testing.T) {
	for _, c := range []struct {
		in   string
		want plan.Length
	}{
		{"128", plan.Length{Dist: "fixed", Mean: 128}},
		{" 1e3 ", plan.Length{Dist: "fixed", Mean: 1000}},
		{"100-200", plan.Length{Dist: "uniform", Min: 100, Max: 200}},
		{"fixed:mean=5", plan.Length{Dist: "fixed", Mean: 5}},
		{"mean=5", plan.Length{Dist: "fixed", Mean: 5}},
		{"mean=5,stddev=1", plan.Length{Dist: "normal", Mean: 5, Stddev: 1}},
		{"min=1,max=2", plan.Length{Dist: "uniform", Min: 1, Max: 2}},
		{"lognormal: mean = 550, stddev=50 ,min=10,max=900", plan.Length{Dist: "lognormal", Mean: 550, Stddev: 50, Min: 10, Max: 900}},
	} {
		got, err := plan.ParseLength(c.in)
		if err != nil || got != c.want {
			t.Errorf("%q: got %+v, %v", c.in, got, err)
		}
	}
	for _, bad := range []string{"", "x", "normal", "normal:", "norml:mean=5", "normal:meen=5", "normal:mean=", "1-x", "uniform:min=1.5,max=3"} {
		if got, err := plan.ParseLength(bad); err == nil {
			t.Errorf("%q: no error, %+v", bad, got)
		}
	}
}

func TestParseCounts(t *testing.T) {
	for in, want := range map[string]plan.MaxErrors{"10": {Count: 10}, "5%": {Share: 0.05}, " 0.5 % ": {Share: 0.005}} {
		if got, err := plan.ParseMaxErrors(in); err != nil || got != want {
			t.Errorf("%q: got %+v, %v", in, got, err)
		}
	}
	for in, want := range map[string]plan.Warmup{"100": {Requests: 100}, "5s": {Duration: 5e9}, "1m30s": {Duration: 90e9}} {
		if got, err := plan.ParseWarmup(in); err != nil || got != want {
			t.Errorf("%q: got %+v, %v", in, got, err)
		}
	}
	for _, bad := range []string{"", "x", "5.5", "%", "NaN%"} {
		if got, err := plan.ParseMaxErrors(bad); err == nil {
			t.Errorf("max errors %q: no error, %+v", bad, got)
		}
		if got, err := plan.ParseWarmup(bad); err == nil {
			t.Errorf("warmup %q: no error, %+v", bad, got)
		}
	}
}

func TestDurationText(t *testing.T) {
	for _, c := range []string{"0s", "10m", "1h", "1h0m5s", "1h5m", "1m30s", "200ms", "1.5s", "100h", "10s", "20m"} {
		d, err := plan.ParseDuration(c)
		if err != nil || d.String() != c {
			t.Errorf("%q: got %q, %v", c, d, err)
		}
	}
}
