package metric

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// TestMemoryOfASoak: what is held of a run does not grow with the number of its requests.
func TestMemoryOfASoak(t *testing.T) {
	const early, all = 200_000, 500_000
	pool := stat.NewPool(t.TempDir(), SampleMemory)
	defer pool.Close()
	opts := Options{Times: fixed(time.Second, record.NotYet), Pool: pool, SLOs: []plan.SLO{{Metric: "time_to_first_token", Max: plan.Duration(60 * msec)}}}
	folds := []*Aggregator{mustFold(t, opts), mustFold(t, opts)}
	before := alive()
	r := rand.New(rand.NewPCG(1, 2))
	rec := evenly(0, 50*msec, 10*msec, 4)
	first, end := rec.Marks[0].Kernel, rec.End
	var then int64
	for i := range all {
		if i == early {
			then = alive() - before
		}
		sent := time.Duration(i) * msec
		shift := sent + time.Duration(r.Int64N(int64(10*msec)))
		for k := range rec.Marks {
			rec.Marks[k].Kernel = shift + first + time.Duration(k)*10*msec + time.Duration(r.Int64N(int64(msec)))
		}
		rec.Seq, rec.Prompt = int64(i), r.Uint64()|1
		rec.Due, rec.Ready, rec.Sent, rec.End = sent, sent, sent, shift+end+time.Duration(r.Int64N(int64(msec)))
		folds[i%len(folds)].Add(rec)
	}
	now := alive() - before
	t.Logf("held after %d requests: %d kB, after %d: %d kB; %d kB on disk", early, then>>10, all, now>>10, pool.Spilled()>>10)
	if err := pool.Err(); err != nil {
		t.Fatal(err)
	}
	if now > 16<<20 {
		t.Errorf("%d bytes are held of %d requests, want at most 16 MiB", now, all)
	}
	if now-then > 2<<20 {
		t.Errorf("%d bytes were held of %d requests and %d of %d: it grows", then, early, now, all)
	}
	if err := folds[0].Merge(folds[1]); err != nil {
		t.Fatal(err)
	}
	if n, err := folds[0].Repeats(); n != 0 || err != nil {
		t.Errorf("%d repeats (%v), want none", n, err)
	}
	runtime.KeepAlive(folds)
}

// alive is how many bytes of the heap are in use.
func alive() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestRequestsOfOneNumber: a damaged file, in which all requests have the same number, is
// folded to its end.
func TestRequestsOfOneNumber(t *testing.T) {
	f := mustFold(t, Options{Times: fixed(0, record.NotYet)})
	defer f.Close()
	rec := evenly(0, 50*msec, 10*msec, 2)
	for range 2 * mostArrivals {
		f.Add(rec)
	}
	if n := len(f.stages[0].arrivals.kept); n != mostArrivals {
		t.Errorf("%d requests are kept for judging trends, want %d", n, mostArrivals)
	}
}
