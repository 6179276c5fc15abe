package search

import (
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// Requests that this client sends late are its trouble; those that wait for a slot are not. Failures
// are named, and counted.
func TestTrouble(t *testing.T) {
	p := plan.Default()
	p.Stages, p.Capacity.Objectives = []plan.Stage{{Rate: 10}}, []string{"latency.p90 < 1s"}
	objectives, err := objectivesOf(&p)
	if err != nil {
		t.Fatal(err)
	}
	const ms = time.Millisecond
	fill := func(late, held time.Duration, failure *record.Failure) (*objectiveTracker, string) {
		all := newTallies(&p, objectives)
		for i := range 200 {
			due := time.Duration(i) * 100 * ms
			all.Add(&record.Record{Due: due, Held: held, Sent: due + late, End: due + late + 50*ms, Failure: failure})
		}
		return all, all.trouble(&p, 0)
	}
	if _, text := fill(ms, 0, nil); text != "" {
		t.Errorf("on time: %s", text)
	}
	if _, text := fill(900*ms, 0, nil); !strings.Contains(text, "late by 900") {
		t.Errorf("900 ms late: %q", text)
	}
	if _, text := fill(900*ms, 899*ms, nil); text != "" {
		t.Errorf("what waits for a slot: %s", text)
	}
	all, _ := fill(0, 0, &record.Failure{Class: record.HTTPStatus, Status: 500})
	l := all.level(0, 10, true, &record.StageSummary{StageTimes: record.StageTimes{SendEnd: 20 * time.Second}, Reason: record.StopDuration})
	if l.Failed != 200 || l.Failure != "HTTP 500" || l.Seen[0].Total().N != 0 {
		t.Errorf("%d failed: %s", l.Failed, l.Failure)
	}
}

// What a level is run for is the name of its stage; names of other stages mean nothing.
func TestLevelKind(t *testing.T) {
	for name, want := range map[string]string{"": "", "mine": "", capacity.Hold: capacity.Hold, capacity.Overload: capacity.Overload} {
		if got := LevelKind(plan.Stage{Name: name}); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	p := plan.Default()
	p.Stages, p.Capacity.Objectives = []plan.Stage{{Rate: 1}}, []string{"latency.p90 < 1s"}
	stages := Levels(&p, []record.Edge{{Stage: 0, Level: 1}, {Stage: 1, Level: 2, Kind: capacity.Hold}})
	if len(stages) != 2 || LevelKind(stages[0]) != "" || LevelKind(stages[1]) != capacity.Hold || stages[1].Rate != 2 {
		t.Errorf("%+v", stages)
	}
}
