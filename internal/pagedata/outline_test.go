package pagedata

import (
	"reflect"
	"testing"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

func TestOutline(t *testing.T) {
	d := &Document{Version: Version, Plan: "a: plan", Result: &result.Result{Plan: "plan", Stages: []result.Stage{{Load: "8 in flight", Failures: []record.FailureCount{{Example: "no"}}}}}}
	d.Requests = &Requests{Columns: map[string]Column{"due": d.Planes.Ints([]int64{1, 2, 3})}}
	edges := []float64{0, 1, 2, 3}
	e := d.Planes.Floats(edges)
	ok, ttft, gpu := d.Planes.Floats([]float64{5, 6, 7}), d.Planes.Floats([]float64{20, 30, 40}), d.Planes.Floats([]float64{1, 1, 1})
	d.Series = []Series{
		{Name: "requests_ok", Group: groupLoad, Kind: Step, Column: Columns{T: e, V: &ok}},
		{Name: "ttft", Group: groupTTFT, Kind: Band, Column: Columns{T: e, Lo: &ttft, Mid: &ttft, Hi: &ttft}},
		{Name: "gpu_power", Group: groupGPU, Kind: Line, Column: Columns{T: e, V: &gpu}},
		{Name: "odd", Group: "unknown", Kind: Line, Column: Columns{T: e, V: &gpu}},
	}
	curve := Curve{}
	for i := range 101 {
		curve = append(curve, [2]float64{float64(i) / 100, 1.23456789 * float64(i)})
	}
	d.Stages = []StageData{{Curves: map[string]Sides[Curve]{"ttft": {Sent: curve}}}}

	out := d.Outline(11)
	if out.Requests != nil || out.Plan != "" || out.Result.Plan != nil || out.Result.Stages[0].Failures != nil {
		t.Errorf("it holds what is not laid over: %+v", out)
	}
	if out.Result.Stages[0].Load != "8 in flight" || d.Result.Stages[0].Failures == nil || len(d.Stages[0].Curves["ttft"].Sent) != 101 {
		t.Error("the document itself was changed, or too much is gone")
	}
	if n := len(out.Series); n != 2 {
		t.Fatalf("%d series", n)
	}
	in := readerOf(t, &out.Planes)
	for i, want := range [][]float64{{5, 6, 7}, {20, 30, 40}} {
		c := out.Series[i].Column
		v := c.V
		if v == nil {
			v = c.Hi
		}
		if got := in.column(c.T); !reflect.DeepEqual(got, edges) {
			t.Errorf("series %d: edges %v", i, got)
		}
		if got := in.column(*v); !reflect.DeepEqual(got, want) {
			t.Errorf("series %d: %v, want %v", i, got, want)
		}
	}
	if want := 4 * (4 + 3 + 3); len(out.Planes.bytes) != want {
		t.Errorf("%d bytes of columns, want %d: each once", len(out.Planes.bytes), want)
	}
	thin := out.Stages[0].Curves["ttft"]
	if n := len(thin.Sent); n != 11 || thin.Sent[0] != curve[0] || thin.Sent[10] != [2]float64{1, 123.4568} || thin.Due != nil {
		t.Errorf("the curve has %d points: %v", n, thin)
	}
}
