package metric

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// How many requests met their objectives lies between those that did for certain and those that
// can have.
func TestGoodIsEnclosed(t *testing.T) {
	narrower := 0
	for seed := range uint64(60) {
		c := &onlooker{Rand: rand.New(rand.NewPCG(seed, 32)), unsure: seed%3 == 0}
		slos := []plan.SLO{
			{Metric: "time_to_first_token", Max: plan.Duration(time.Duration(1+c.IntN(80)) * time.Millisecond)},
			{Metric: []string{"inter_token_latency", "inter_event_latency", "time_per_output_token", "request_latency"}[c.IntN(4)], Max: plan.Duration(time.Duration(10+c.IntN(30)) * time.Millisecond)},
		}
		if slos[1].Metric == "request_latency" {
			slos[1].Max *= 20
		}
		var truth, seen []*record.Record
		for i := range int64(1 + c.IntN(200)) {
			a, b := c.request(i)
			truth, seen = append(truth, a), append(seen, b)
		}
		want, got := good(t, truth, slos), good(t, seen, slos)
		if want.Good < got.GoodLeast || want.Good > got.GoodMost || got.Good < got.GoodLeast || got.Good > got.GoodMost {
			t.Errorf("seed %d: %d are good of %v, and %d were taken to be, between %d and %d", seed, want.Good, slos, got.Good, got.GoodLeast, got.GoodMost)
		}
		if got.GoodMost-got.GoodLeast < got.Requests {
			narrower++
		}
		if want.GoodLeast != want.Good || want.GoodMost != want.Good {
			t.Errorf("seed %d: of exact requests %d are good, between %d and %d", seed, want.Good, want.GoodLeast, want.GoodMost)
		}
	}
	if narrower < 50 {
		t.Errorf("in %d of 60 runs alone anything is known of any request", narrower)
	}
}

func good(t *testing.T, records []*record.Record, slos []plan.SLO) Totals {
	t.Helper()
	f, err := NewFold(Options{SLOs: slos})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, r := range records {
		f.Add(r)
	}
	stages, err := f.Summarize(stat.Linear)
	if err != nil {
		t.Fatal(err)
	}
	return stages[0].Whole.Totals
}
