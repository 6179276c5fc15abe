package pagedata

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result/build"
)

// fromTheBegin is when a run began whose clock shows nothing then.
func fromTheBegin() time.Duration { return 0 }

// mixed are requests of all kinds: failures of more kinds than are drawn, conversations, stalls that are
// equally long, traces that are longer than what is held, events whose tokens are not known.
func mixed(n int) []*record.Record {
	r := rand.New(rand.NewPCG(11, 12))
	long := answered(0, ms, 2*ms, 9*ms, us, 3000)
	var all []*record.Record
	for i := range int64(n) {
		due := time.Duration(i) * 300 * us
		rec := answered(i, due, due+time.Duration(r.IntN(3))*ms, time.Duration(5+r.IntN(4))*ms, time.Duration(1+r.IntN(3))*ms, 3+r.IntN(5))
		switch i % 40 {
		case 3, 4, 5:
			rec = failed(i, due, 8*ms, record.HTTPStatus)
			rec.Failure.Status = 500 + int(r.ExpFloat64()*3)
		case 17, 18, 19, 20, 21, 22, 23, 24:
			one := *long
			one.Seq = i
			rec = &one
		case 9:
			for k := range rec.Events {
				rec.Events[k].Tokens = -1
			}
			rec.Out.N = 11
		case 11, 12, 13, 14, 15:
			rec.Session, rec.Turn = fmt.Sprint("talk ", i/200), int(i%40)-11
		}
		rec.Stage = int(i*3) / n
		all = append(all, rec)
	}
	return all
}

// What is drawn of a run does not depend on how its requests were dealt out.
func TestMerge(t *testing.T) {
	const n = 16_000
	records := mixed(n)
	p := planOf(plan.Stage{Rate: 3000, Requests: n / 3}, plan.Stage{Concurrency: 9, Requests: n / 3}, plan.Stage{Rate: 9, Requests: n / 3})
	document := func(builders int, order []int) string {
		t.Helper()
		opts := metric.OptionsFor(p)
		whole, err := metric.NewFold(opts)
		if err != nil {
			t.Fatal(err)
		}
		defer whole.Close()
		var sketches []*Builder
		var folds []*metric.Aggregator
		for range builders {
			sketch := NewSketch(p, fromTheBegin)
			opts.Each = sketch.Add
			fold, err := metric.NewFold(opts)
			if err != nil {
				t.Fatal(err)
			}
			defer fold.Close()
			sketches, folds = append(sketches, sketch), append(folds, fold)
		}
		for k, i := range order {
			folds[k*k%builders].Add(records[i])
		}
		for i := range builders {
			if err := whole.Merge(folds[i]); err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				sketches[0].Merge(sketches[i])
			}
		}
		res, err := build.Result(p, build.Inputs{}, whole)
		if err != nil {
			t.Fatal(err)
		}
		d, err := sketches[0].Document(Facts{Result: res, Fold: whole, OriginalPlan: p})
		if err != nil {
			t.Fatal(err)
		}
		if d.Requests.Kept >= n || d.Traces == nil {
			t.Fatalf("%d of %d requests are kept, traces: %v", d.Requests.Kept, n, d.Traces)
		}
		if sketches[0].keeper.traced.floor == nil {
			t.Fatal("no trace is too long")
		}
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	straight := make([]int, n)
	for i := range straight {
		straight[i] = i
	}
	want := document(1, straight)
	if got := document(5, rand.New(rand.NewPCG(1, 1)).Perm(n)); got != want {
		t.Errorf("five builders draw another page, of %d bytes instead of %d:\n%s", len(got), len(want), difference(got, want))
	}
}

// difference is where two texts differ.
func difference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	from := max(i-80, 0)
	return a[from:min(i+80, len(a))] + "\n" + b[from:min(i+80, len(b))]
}
