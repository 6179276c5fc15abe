package profileexport

import (
	"strings"
	"testing"
)

// The requests of Triton's own worked example, in nanoseconds.
func TestAverages(t *testing.T) {
	doc, err := Read(strings.NewReader(`{"experiments":[{"experiment":{"mode":"concurrency","value":1},"requests":[
		{"timestamp":1,"response_timestamps":[3,5,8],"response_outputs":[{},{},{}]},
		{"timestamp":2,"response_timestamps":[5,7,11],"response_outputs":[{},{},{}]},
		{"timestamp":3,"response_timestamps":[],"response_outputs":[]}],"window_boundaries":[]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	a := doc.Experiments[0].Averages()
	if a.Requests != 2 || a.Gaps != 4 || a.First() != 2.5e-9 || a.Gap() != 2.75e-9 {
		t.Errorf("%+v: first %v, gap %v", a, a.First(), a.Gap())
	}
}

func TestAveragesOfMomentsInTheWrongOrder(t *testing.T) {
	e := Experiment{Requests: []Request{{Timestamp: 9, Moments: []uint64{5, 3}}}}
	if a := e.Averages(); a.First() != 0 || a.Gap() != 0 {
		t.Errorf("first %v, gap %v", a.First(), a.Gap())
	}
}
