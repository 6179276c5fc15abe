package metric

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// byTarget makes requests to three targets, of which the second fails half of its
// requests and the third is slow.
func byTarget() []*record.Record {
	r := rand.New(rand.NewPCG(3, 4))
	var recs []*record.Record
	for i := range 900 {
		ttft := 10 * msec
		if i%3 == 2 {
			ttft = 40 * msec
		}
		rec := evenly(time.Duration(i)*10*msec, ttft+time.Duration(r.Int64N(int64(msec))), msec, 5)
		rec.Seq, rec.Target = int64(i), i%3
		if i%3 == 1 && i%2 == 0 {
			failed(rec, record.Reset, 0, "reset")
		}
		recs = append(recs, rec)
	}
	recs[0].Phase = record.Warmup
	return recs
}

func TestTargets(t *testing.T) {
	opts := Options{Targets: 3}
	one := mustFold(t, opts)
	opts.Pool = stat.NewPool(t.TempDir(), 0)
	t.Cleanup(func() { opts.Pool.Close() })
	many := []*Aggregator{mustFold(t, opts), mustFold(t, opts)}
	for i, rec := range byTarget() {
		one.Add(rec)
		many[i/2%2].Add(rec)
	}
	if err := many[0].Merge(many[1]); err != nil {
		t.Fatal(err)
	}
	st := summarize(t, one)[0]
	merged := summarize(t, many[0])[0]
	if len(st.Targets) != 3 {
		t.Fatalf("%d targets", len(st.Targets))
	}
	sum := 0.0
	for i, want := range []struct {
		sent, ok int64
		ttft     float64
	}{{299, 299, 10}, {300, 150, 10}, {300, 300, 40}} {
		w := &st.Targets[i]
		if w.Totals.Requests != want.sent || w.Totals.OK != want.ok {
			t.Errorf("target %d: %d of %d requests", i, w.Totals.OK, w.Totals.Requests)
		}
		s := w.Stats["time_to_first_token"]
		if s.N != want.ok || s.Min < want.ttft || s.Max > want.ttft+1 || len(s.Quantiles) == 0 {
			t.Errorf("target %d: time to first token %+v", i, s)
		}
		if s := w.Stats["request_latency"]; s.N != want.ok || s.Min < want.ttft+4 {
			t.Errorf("target %d: latency %+v", i, s)
		}
		if got := w.Stats["error_rate"].Avg; got != float64(want.sent-want.ok)/float64(want.sent) {
			t.Errorf("target %d: error rate %v", i, got)
		}
		sum += w.Stats["request_throughput"].Avg
		compareWindows(t, w, &merged.Targets[i])
	}
	if whole := st.Whole.Stats["request_throughput"].Avg; math.Abs(whole-sum) > 1e-9 {
		t.Errorf("the targets have %v requests/s together, the stage %v", sum, whole)
	}
}

func TestOneTargetHasNoRows(t *testing.T) {
	for _, n := range []int{0, 1} {
		f := mustFold(t, Options{Targets: n})
		for _, rec := range byTarget() {
			f.Add(rec)
		}
		if st := summarize(t, f)[0]; st.Targets != nil {
			t.Errorf("%d targets: %d rows", n, len(st.Targets))
		}
	}
	// A target that got nothing has a row all the same; an index that no plan has is no
	// reason to fall over.
	f := mustFold(t, Options{Targets: 4})
	for _, rec := range byTarget() {
		f.Add(rec)
	}
	strange := evenly(0, msec, msec, 2)
	strange.Target = 9
	f.Add(strange)
	strange.Target = -1
	f.Add(strange)
	if st := summarize(t, f)[0]; len(st.Targets) != 4 || st.Targets[3].Totals.Requests != 0 {
		t.Errorf("%+v", st.Targets)
	}
}

func TestModels(t *testing.T) {
	names := []string{"a", "b", "idle"}
	opts := Options{Models: names, Pool: stat.NewPool(t.TempDir(), 0)}
	t.Cleanup(func() { opts.Pool.Close() })
	folds := []*Aggregator{mustFold(t, opts), mustFold(t, opts)}
	for i, rec := range byTarget() {
		if rec.Model = "another"; rec.Target < 2 {
			rec.Model = names[rec.Target]
		}
		folds[i%2].Add(rec)
	}
	if err := folds[0].Merge(folds[1]); err != nil {
		t.Fatal(err)
	}
	st := summarize(t, folds[0])[0]
	if len(st.Models) != 3 || st.Targets != nil {
		t.Fatalf("%d models, targets %v", len(st.Models), st.Targets)
	}
	for i, want := range []struct{ sent, ok int64 }{{299, 299}, {300, 150}, {0, 0}} {
		w := &st.Models[i]
		if w.Totals.Requests != want.sent || w.Totals.OK != want.ok {
			t.Errorf("model %s: %d of %d requests", names[i], w.Totals.OK, w.Totals.Requests)
		}
		for _, id := range []string{"time_to_first_token", "time_per_output_token", "request_latency", "output_sequence_length"} {
			if s := w.Stats[id]; s.N != want.ok {
				t.Errorf("model %s: %s %+v", names[i], id, s)
			}
		}
	}
}

// A number of a worker that no run has takes no memory for those below it.
func TestWorkerThatCannotBe(t *testing.T) {
	f := mustFold(t, Options{Workers: true})
	for _, worker := range []int{0, 3, math.MaxInt} {
		rec := evenly(0, msec, msec, 2)
		rec.Worker = worker
		f.Add(rec)
	}
	if got := summarize(t, f)[0].Workers; len(got) != 3 || got[2].Totals.Requests != 1 {
		t.Errorf("%d workers", len(got))
	}
}
