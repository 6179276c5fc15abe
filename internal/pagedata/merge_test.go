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
// equally long, events whose tokens are not known.
func mixed(n int) []*record.Record {
	r := rand.New(rand.NewPCG(11, 12))
	var all []*record.Record
	for i := range int64(n) {
		due := time.Duration(i) * 300 * us
		rec := answered(i, due, due+time.Duration(r.IntN(3))*ms, time.Duration(5+r.IntN(4))*ms, time.Duration(1+r.IntN(3))*ms, 3+r.IntN(5))
		switch i % 40 {
		case 3, 4, 5:
			rec = failed(i, due, 8*ms, record.HTTPStatus)
			rec.Failure.Status = 500 + int(r.ExpFloat64()*3)
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

// long are requests whose traces are longer than what is held.
func long(n int) []*record.Record {
	one := answered(0, ms, 2*ms, 9*ms, us, mostHeld/tracedSample*3/2)
	all := make([]*record.Record, n)
	for i := range all {
		rec := *one
		rec.Seq = int64(i)
		all[i] = &rec
	}
	return all
}

// What is drawn of a run does not depend on how its requests were dealt out.
func TestMerge(t *testing.T) {
	for name, records := range map[string][]*record.Record{"of all kinds": mixed(mostSampled + 1000), "of long traces": long(tracedSample + 50)} {
		n := len(records)
		straight := make([]int, n)
		for i := range straight {
			straight[i] = i
		}
		want, d, k := mergedPage(t, records, 1, straight, NewSketch)
		if d.Traces == nil || (d.Requests.Kept < n) != (name == "of all kinds") || (k.traced.floor != nil) != (name == "of long traces") {
			t.Errorf("%s: %d of %d requests are kept, traces: %v, up to %v", name, d.Requests.Kept, n, d.Traces, k.traced.floor)
		}
		if got, _, _ := mergedPage(t, records, 5, rand.New(rand.NewPCG(1, 1)).Perm(n), NewSketch); got != want {
			t.Errorf("%s: five builders draw another page, of %d bytes instead of %d:\n%s", name, len(got), len(want), difference(got, want))
		}
		var first *Builder
		together := func(p *plan.Plan, begin func() time.Duration) *Builder {
			if first == nil {
				first = NewSketch(p, begin)
				return first
			}
			return first.Another()
		}
		got, _, k := mergedPage(t, records, 2, rand.New(rand.NewPCG(2, 2)).Perm(n), together)
		if got != want {
			t.Errorf("%s: builders that know of one another draw another page, of %d bytes instead of %d:\n%s", name, len(got), len(want), difference(got, want))
		}
		if (k.full.Load() > 0) != (name == "of all kinds") {
			t.Errorf("%s: the keepers agree on %d", name, k.full.Load())
		}
	}
}

// mergedPage is what so many builders make of records in an order.
func mergedPage(t *testing.T, records []*record.Record, builders int, order []int,
	sketchOf func(*plan.Plan, func() time.Duration) *Builder) (string, *Document, *keeper) {
	t.Helper()
	n := int64(len(records))
	p := planOf(plan.Stage{Rate: 3000, Requests: n / 3}, plan.Stage{Concurrency: 9, Requests: n / 3}, plan.Stage{Rate: 9, Requests: n / 3})
	opts := metric.OptionsFor(p)
	whole, err := metric.NewFold(opts)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	var sketches []*Builder
	var folds []*metric.Aggregator
	for range builders {
		sketch := sketchOf(p, fromTheBegin)
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
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), d, sketches[0].keeper
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
