package record

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEdgeRoundTrip(t *testing.T) {
	want := Edge{
		Stage: 2, Level: 7.5, Trial: 3, At: 5 * time.Second,
		Server: &Snapshot{
			At: 5*time.Second + 1,
			Models: []ModelStats{{
				Name: "ensemble", Version: "1", Inferences: 9, Executions: 4, Success: CountTime{9, 1000},
				Composing: []ModelStats{{Name: "pre", Version: "2", Queue: CountTime{9, 10}}},
			}},
			GPUs: []GPU{{UUID: "GPU-1", Utilization: 0.5, Power: 70, MemoryUsed: 1 << 30, MemoryTotal: 8 << 30}},
		},
	}
	var file bytes.Buffer
	w, err := NewWriter(&file, Header{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Edge(want); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	var got []Edge
	for {
		line, err := r.Next()
		if err != nil {
			break
		}
		if line.Edge != nil {
			got = append(got, *line.Edge)
		}
	}
	if diff := cmp.Diff([]Edge{want}, got); diff != "" {
		t.Error(diff)
	}
}

// TestImpossibleCounts: a file may hold counts of tokens that would overflow any sum.
func TestImpossibleCounts(t *testing.T) {
	for text, want := range map[string]Tokens{
		`{"n":9223372036854775807,"source":"server"}`:         {Local: -1, Claimed: math.MaxInt64},
		`{"n":-5,"source":"server","local":4}`:                {Local: 4},
		`{"n":134217728,"source":"server","local":4}`:         {N: 1 << 27, Source: FromServer, Local: 4},
		`{"n":9,"source":"server","expected":8}`:              {N: 9, Source: FromServer, Local: -1, Expected: 8},
		`{"n":9,"source":"server","expected":-8}`:             {N: 9, Source: FromServer, Local: -1},
		`{"n":3,"source":"events","local":4,"claimed":99999}`: {N: 3, Source: FromEvents, Local: 4, Claimed: 99999},
	} {
		var d lineDecoder
		var rec Record
		if err := d.decode([]byte(`{"kind":"request","out":`+text+`}`), &rec); err != nil || rec.Out != want {
			t.Errorf("%s: %+v, %v; want %+v", text, rec.Out, err, want)
		}
	}
}
