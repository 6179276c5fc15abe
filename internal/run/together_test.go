package run

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/saved"
)

// sharedRun writes what a process of a run of two workers keeps: 0 is the coordinator. The second worker
// began 422 ms late, and the clock of the first one may be off by 300 ms.
func sharedRun(t *testing.T, worker int) string {
	t.Helper()
	p, dir := plan.Default(), t.TempDir()
	p.Target.URLs = []string{"http://example.test"}
	p.Stages = []plan.Stage{{Concurrency: 2, Requests: 200}}
	text, err := planfile.Encode(&p)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(dir, rundir.RecordsFile))
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, rundir.PlanFile), text, 0o600)); err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w, err := record.NewWriter(out, record.Header{Start: time.Unix(1_800_000_000, 0), Run: "r", Worker: worker})
	if err != nil {
		t.Fatal(err)
	}
	errs := []error{w.Workers([]record.WorkerInfo{{Name: "a", ClockBound: 300 * time.Millisecond}, {Name: "b"}})}
	for i := range 200 {
		rec := record.Record{Seq: int64(i), Prompt: uint64(i + 1), Worker: i%2 + 1, Status: 200, Cached: -1,
			Due: time.Duration(i) * 5 * time.Millisecond}
		rec.Ready, rec.Sent, rec.Written, rec.End = rec.Due, rec.Due, rec.Due, rec.Due+8*time.Millisecond
		if worker == 0 || worker == rec.Worker {
			errs = append(errs, w.Append(record.AppendJSON(nil, &rec, true)))
		}
	}
	whole := record.StageSummary{StageTimes: record.StageTimes{SendEnd: time.Second, DrainEnd: 1100 * time.Millisecond},
		Reason: record.StopRequests}
	marks := []record.StageSummary{whole, whole}
	marks[0].Worker, marks[1].Worker, marks[1].StartDelay = 1, 2, 422*time.Millisecond
	whole.StartDelay = 422 * time.Millisecond
	for _, m := range append(marks, whole) {
		if worker == 0 || worker == m.Worker {
			errs = append(errs, w.Stage(m))
		}
	}
	if err := errors.Join(append(errs, w.Close())...); err != nil {
		t.Fatal(err)
	}
	return dir
}

// That workers did not begin together, or by clocks that agree, is known from the records alone: those of
// the run, and those of its workers.
func TestReportKnowsOfSkew(t *testing.T) {
	whole, err := saved.Read(sharedRun(t, 0), saved.Options{})
	if err != nil {
		t.Fatal(err)
	}
	merged, err := saved.Merge([]string{sharedRun(t, 1), sharedRun(t, 2)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*saved.Run{"the run's": whole, "the workers'": merged} {
		found := map[string]float64{}
		for _, c := range s.Result.Verdict.Checks {
			if c.Name == "start_skew" || c.Name == "clock_bound" {
				if found[c.Name] = c.Value; c.OK {
					t.Errorf("%s: %s is within its budget: %v of %v", name, c.Name, c.Value, c.Budget)
				}
			}
		}
		if found["start_skew"] != 422 || found["clock_bound"] != 600 || s.Result.Verdict.Status != result.Invalid {
			t.Errorf("%s: %v, %s", name, found, s.Result.Verdict.Status)
		}
		if rate := s.Result.Stages[0].Metrics["request_throughput"]; rate.Off("avg") < rate.Avg/2 {
			t.Errorf("%s: the rate has the bar %+v", name, rate.Error)
		}
	}
}
