package record

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProbeRoundTrip(t *testing.T) {
	want := Probe{
		Stage: 1, Edge: ProbeEnd, At: 7, Busy: true,
		Targets: []TargetProbe{{Server: &Snapshot{
			At: 6,
			Models: []ModelStats{{
				Name: "m", Version: "1", Inferences: 1 << 63, Success: CountTime{3, 1<<64 - 1},
				Responses: []ResponseStats{{Index: 2, Empty: CountTime{1, 5}}},
				Composing: []ModelStats{{Name: "part", Version: "2", Queue: CountTime{1, 2}}},
			}},
			Metrics: []Sample{{Name: "nv_x", Labels: `model="m"`, Counter: true, Value: 1.5}},
		}}, {Error: "it did not answer"}},
	}
	var buf bytes.Buffer
	w, err := NewWriter(&buf, Header{})
	if err = errors.Join(err, w.Probe(want), w.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(&buf)
	if err != nil {
		t.Fatal(err)
	}
	var got []Probe
	for {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if line.Probe != nil {
			got = append(got, *line.Probe)
		}
	}
	if diff := cmp.Diff([]Probe{want}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
