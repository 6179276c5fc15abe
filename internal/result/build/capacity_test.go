package build

import (
	"testing"

	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// That requests of a level went out late matters where the level missed an objective, and not by more than that can
// have made: a level that was met would be met without, and one that was repeated says nothing.
func TestLatenessThatMatters(t *testing.T) {
	ttft := capacity.Objective{Figure: "ttft.p90", Bound: 140, Unit: "ms", Allowed: 0.1}
	errors := capacity.Objective{Figure: "errors", Bound: 0.01, Unit: "share", Allowed: 0.01}
	for _, tt := range []struct {
		name         string
		by, ttft     string // of load; whether the objective on ttft is met
		value, fails float64
		unused       string
		want         bool
	}{
		{name: "met", by: capacity.Rate, ttft: capacity.Yes, value: 100},
		{name: "missed by less than twice the delay", by: capacity.Rate, ttft: capacity.No, value: 210, want: true},
		{name: "missed by more", by: capacity.Rate, ttft: capacity.No, value: 220},
		{name: "failures", by: capacity.Rate, ttft: capacity.No, value: 150, fails: 0.5},
		{name: "undecided", by: capacity.Rate, ttft: capacity.Close, value: 141, want: true},
		{name: "repeated", by: capacity.Rate, ttft: capacity.No, value: 150, unused: "this client was in trouble"},
		{name: "by concurrency, where nothing is due", by: capacity.Concurrency, ttft: capacity.No, value: 1000, want: true},
	} {
		failed := capacity.Observation{Met: capacity.Yes, Value: &tt.fails}
		if tt.fails > errors.Bound {
			failed.Met = capacity.No
		}
		search := &capacity.Search{Objectives: []capacity.Objective{ttft, errors}, Whole: tt.by == capacity.Concurrency}
		l := capacity.Trial{Load: 10, Unused: tt.unused, Seen: []capacity.Observation{{Met: tt.ttft, Value: &tt.value}, failed}, Met: tt.ttft}
		if tt.ttft != capacity.Yes {
			l.Over = "the backlog grew"
		}
		j := &judge{facts: &Inputs{Capacity: &Capacity{Search: search}}, result: &result.Result{Capacity: &capacity.Result{By: tt.by}}}
		if got := j.matters(&result.Check{Name: "dispatch_delay_p99", Value: 38}, &l); got != tt.want {
			t.Errorf("%s: it matters: %t", tt.name, got)
		}
	}
}
