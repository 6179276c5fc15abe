package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/saved"
)

// warmingRun leaves the directory of a run whose first requests took five times as long as
// the others.
func warmingRun(t *testing.T, slow, requests int) string {
	t.Helper()
	dir := t.TempDir()
	p := plan.Default()
	p.Target.URLs = []string{"http://example.test"}
	p.Stages = []plan.Stage{{Concurrency: 1, Requests: int64(requests), Warmup: plan.Warmup{Auto: true}}}
	text, err := planfile.Encode(&p)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, rundir.PlanFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(dir, rundir.RecordsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := record.NewWriter(file, record.Header{Schema: record.Schema, Version: "test", Kernel: true})
	if err != nil {
		t.Fatal(err)
	}
	var at time.Duration
	for i := range requests {
		took := 200 * time.Millisecond
		if i < slow {
			took *= 5
		}
		took += time.Duration(i%7) * time.Millisecond
		rec := &record.Record{
			Seq: int64(i), Due: at, Ready: at, Sent: at, Written: at, End: at + took, Streamed: true, Status: 200, Cached: -1,
			Marks:  []record.Read{{Kernel: at + took/2, User: at + took/2}, {Kernel: at + took, User: at + took}},
			Events: []record.Event{{Tokens: 1}, {Mark: 1, Tokens: 1}},
			Out:    record.Tokens{N: 2, Source: record.FromServer, Local: -1},
		}
		if err := w.Append(record.AppendJSON(nil, rec, false)); err != nil {
			t.Fatal(err)
		}
		at += took
	}
	mark := record.StageSummary{StageTimes: record.StageTimes{SendEnd: at, DrainEnd: at}, Reason: "requests"}
	if err := w.Stage(mark); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestWarmupIsFound: what turns out to be warm-up is not in the figures, and is told.
func TestWarmupIsFound(t *testing.T) {
	res, err := saved.Report(warmingRun(t, 20, 80))
	if err != nil {
		t.Fatal(err)
	}
	s := res.Stages[0]
	if n := s.Counts.Warmup; n < 20 || n > 30 || s.Counts.Sent != 80-n {
		t.Errorf("%d requests of warm-up, %d measured", n, s.Counts.Sent)
	}
	if got := s.Metrics["request_latency"]; got.Max > 210 {
		t.Errorf("latency %+v", got.Distribution)
	}
	if s.Steady == nil || s.Steady.Window.Begin < 20 {
		t.Errorf("steady %+v", s.Steady)
	}
	if !strings.Contains(strings.Join(res.Notes, "\n"), "turned out to be warm-up") {
		t.Errorf("notes %q", res.Notes)
	}
	for _, c := range res.Verdict.Checks {
		if strings.HasSuffix(c.Name, "_drift") && !c.OK {
			t.Errorf("%+v", c)
		}
	}
}

// Nothing is taken out of a steady stage, nor of one that never settles.
func TestNoWarmupIsFound(t *testing.T) {
	for _, slow := range []int{0, 60} {
		res, err := saved.Report(warmingRun(t, slow, 80))
		if err != nil {
			t.Fatal(err)
		}
		if s := res.Stages[0]; s.Counts.Warmup != 0 || s.Counts.Sent != 80 {
			t.Errorf("%d slow: counts %+v", slow, s.Counts)
		}
	}
}

// A run that keeps no records finds its warm-up too, and leaves nothing behind.
func TestWarmupWithoutRecords(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	s := serve(t, nil)
	p := closedPlan(t, s.url, 4, 40)
	p.Output.Dir = ""
	p.Stages[0].Warmup.Auto = true
	res := mustRun(t, p)
	if c := res.Stages[0].Counts; c.Sent+c.Warmup != 40 {
		t.Errorf("counts %+v", c)
	}
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) > 0 {
		t.Errorf("%v is left behind (%v)", left, err)
	}
}
