package live

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

const ms = time.Millisecond

// fakeRun is a run of two stages, of which so many requests have ended.
type fakeRun struct {
	t    *testing.T
	fold *metric.Aggregator
	run.Progress
}

func newFake(t *testing.T) *fakeRun {
	t.Helper()
	live := new(metric.LiveStats)
	fold, err := metric.NewFold(metric.Options{Live: live, SLOs: []plan.SLO{{Metric: "time_to_first_token", Max: plan.Duration(100 * ms)}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fold.Close() })
	p := &plan.Plan{
		Name: "night <b>", Seed: 7, Goodput: []plan.SLO{{}}, Tokenizer: plan.Tokenizer{Name: "words"},
		Stages: []plan.Stage{{Concurrency: 8}, {Name: "peak", Rate: 50}},
		Target: plan.Target{Protocol: "openai", Model: "模型", Headers: map[string]string{"Authorization": "Bearer secret-key"}},
	}
	return &fakeRun{t: t, fold: fold, Progress: run.Progress{
		Plan: p, Stages: p.Stages, Live: live, Started: time.Date(2026, 11, 17, 10, 0, 0, 0, time.UTC),
		Times: []record.StageTimes{{Begin: 0, WarmupEnd: record.NotYet, SendEnd: record.NotYet, DrainEnd: record.NotYet}},
	}}
}

// add ends a request of a stage; first is its time to first token, and 0 for one that failed.
func (c *fakeRun) add(stage int, phase record.Phase, first time.Duration) {
	rec := &record.Record{Stage: stage, Phase: phase, Streamed: true, Due: c.At, Sent: c.At + ms, Cached: -1,
		Out: record.Tokens{N: 3, Source: record.FromServer}, In: record.Tokens{N: 10, Source: record.FromServer}}
	if first == 0 {
		rec.Failure, rec.End = &record.Failure{Class: record.TimedOut}, rec.Sent+ms
	} else {
		for k := range 3 {
			rec.End = rec.Sent + first + time.Duration(k)*10*ms
			rec.Marks = append(rec.Marks, record.Read{Off: k + 1, Kernel: rec.End, User: rec.End})
			rec.Events = append(rec.Events, record.Event{Mark: k, Tokens: 1})
		}
	}
	c.Sent++
	c.fold.Add(rec)
}
