package run

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/sweep"
)

// told writes down in which order a run tells what.
type told struct {
	order  []string
	stages []string // as JSON, without what only the whole result can say
}

func (o *told) Begin(i int, _ plan.Stage)         { o.order = append(o.order, fmt.Sprint("begin ", i)) }
func (o *told) Window(int, int, sweep.Window)     {}
func (o *told) End(int, plan.Stage, *sweep.Level) {}
func (o *told) stage(t *testing.T, st *result.Stage) {
	o.order = append(o.order, fmt.Sprint("stage ", st.Index))
	o.stages = append(o.stages, stageJSON(t, *st))
}

func stageJSON(t *testing.T, st result.Stage) string {
	t.Helper()
	st.Server, st.Services = nil, nil
	// How far the client can have bent a figure is known when the run is over.
	without := func(metrics map[string]result.Stat) map[string]result.Stat {
		out := maps.Clone(metrics)
		for id, m := range out {
			m.Error = nil
			out[id] = m
		}
		return out
	}
	st.Metrics = without(st.Metrics)
	if st.Steady != nil {
		steady := *st.Steady
		steady.Metrics = without(steady.Metrics)
		st.Steady = &steady
	}
	st.Verdict = nil // it comes with that of the run
	text, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What is told of a stage before the next one begins is what the result has of it.
func TestStagesAreToldOfAsTheyEnd(t *testing.T) {
	s := serve(t, nil)
	p := closedPlan(t, s.url, 1, 7)
	p.Stages = append(p.Stages, plan.Stage{Concurrency: 3, Requests: 11}, plan.Stage{Concurrency: 2, Requests: 5})
	seen := new(told)
	o := options(io.Discard)
	o.Observer, o.Stage = seen, func(st *result.Stage) { seen.stage(t, st) }
	res, err := Run(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"begin 0", "stage 0", "begin 1", "stage 1", "begin 2", "stage 2"}; !slices.Equal(seen.order, want) {
		t.Fatalf("told %q", seen.order)
	}
	for i := range res.Stages {
		if diff := cmp.Diff(stageJSON(t, res.Stages[i]), seen.stages[i]); diff != "" {
			t.Errorf("stage %d: %s", i, diff)
		}
	}
	if res.Stages[1].Counts.OK != 11 || res.Stages[2].Counts.OK != 5 {
		t.Errorf("stages %+v", res.Stages)
	}
	sameLevels(t, p, asJSON(t, res))
}
