package console

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

func TestCapacity(t *testing.T) {
	r := oneStage()
	at := func(v float64) *float64 { return &v }
	r.Capacity = &capacity.Result{
		By: capacity.Rate, Unit: "requests/s", Outcome: capacity.Found, Value: 41.5, Lo: 39.8, Hi: 42.9, Precise: true,
		Sentence: "41.5 requests/s, 95 % between 39.8 and 42.9; at 44 ttft.p99 misses by 31 ms.",
		Goals:    []capacity.Objective{{Figure: "ttft.p99", Unit: "ms"}, {Figure: "goodput", Unit: "share"}},
		Levels: []capacity.Trial{
			{Load: 64, Seconds: 2.5, Requests: 139, Answered: 43.4, Cut: true, Met: capacity.No,
				Seen: []capacity.Observation{{Value: at(1983)}, {}}},
			{Load: 40, Seconds: 60, Requests: 2400, Answered: 40.1, Met: capacity.Yes,
				Seen: []capacity.Observation{{Value: at(182.4)}, {Value: at(0.98)}}},
			{Load: 42, Seconds: 60, Requests: 2520, Answered: 42.1, Met: capacity.Close,
				Seen: []capacity.Observation{{Value: at(203)}, {Value: at(0.951)}}},
		},
	}
	var buf bytes.Buffer
	if err := Write(&buf, r, Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	const path = "testdata/capacity.txt"
	if *update {
		if err := os.WriteFile(path, buf.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), buf.String()); diff != "" {
		t.Error(diff)
	}
}
