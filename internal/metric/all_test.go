package metric

import (
	"testing"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

func TestAll(t *testing.T) {
	var folds [2]*Aggregator
	for i := range folds {
		f, err := NewFold(Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		folds[i] = f
	}
	for i, r := range []record.Record{
		{Phase: record.Warmup, Sent: 10, End: 30},
		{Sent: 20, End: 25},
		{Sent: 20, End: 29, Failure: &record.Failure{Class: record.StreamError}},
		{Phase: record.Warmup, Sent: 20, End: 99, Failure: &record.Failure{Class: record.TimedOut}},
		{Sent: record.Never, End: 40, Failure: &record.Failure{Class: record.ConnectFailed}},
		{Sent: record.Never, End: 40, Failure: &record.Failure{Class: record.Cancelled}},
		{Phase: record.Closing, Sent: 50, End: 53}, // the server has seen it, and nothing else counts it
	} {
		folds[i%2].Add(&r)
	}
	if err := folds[0].Merge(folds[1]); err != nil {
		t.Fatal(err)
	}
	sums, err := folds[0].Summarize(stat.Linear)
	if err != nil {
		t.Fatal(err)
	}
	want := All{OK: 3, Failed: 4, Abandoned: 2, Unsent: 2, Latency: 28}
	if got := sums[0].All; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if n := sums[0].Warmup; n != 2 {
		t.Errorf("%d requests of the warm-up, want 2", n)
	}
}
