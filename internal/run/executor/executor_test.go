package executor

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
)

func TestSessionsPlayedOnce(t *testing.T) {
	for _, c := range []struct {
		asked []int64
		all   int64
		want  []int64
	}{
		{[]int64{0}, 6, []int64{6}},
		{[]int64{4, 9}, 6, []int64{4, 2}},
		{[]int64{3, 0, 0}, 6, []int64{3, 3}},
		{[]int64{0, 2}, 6, []int64{6}},
		{[]int64{1, 2, 1}, 6, []int64{1, 2, 1}},
	} {
		var stages []plan.Stage
		for _, n := range c.asked {
			stages = append(stages, plan.Stage{Arrival: plan.ArrivalSessions, Sessions: plan.SessionLoad{Count: n}})
		}
		var got []int64
		for _, s := range Once(stages, c.all) {
			got = append(got, s.Sessions.Count)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v of %d: %s", c.asked, c.all, diff)
		}
		if stages[0].Sessions.Count != c.asked[0] {
			t.Errorf("%v: the plan's own stages have changed", c.asked)
		}
	}
}

func TestSessionsOfAStage(t *testing.T) {
	for _, c := range []struct {
		asked []int64
		all   int64
		want  []int64
	}{
		{[]int64{0}, 6, []int64{6}},
		{[]int64{4, 9}, 6, []int64{4, 9}},
		{[]int64{3, 0, 0}, 6, []int64{3, 3, 6}},
		{[]int64{0, 0}, 6, []int64{6, 6}},
		{[]int64{8, 0, 2, 0}, 6, []int64{8, 4, 2, 4}},
		{[]int64{0, 2}, 0, []int64{0, 2}},
	} {
		var stages []plan.Stage
		for _, n := range c.asked {
			stages = append(stages, plan.Stage{Arrival: plan.ArrivalSessions, Sessions: plan.SessionLoad{Count: n}})
		}
		var got []int64
		for i := range stages {
			got = append(got, sessionsOf(stages, i, c.all))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v of %d: %s", c.asked, c.all, diff)
		}
	}
}
