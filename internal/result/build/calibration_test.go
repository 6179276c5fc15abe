package build

import (
	"testing"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

func TestCalibrationStandsBesideTheLoadOfTheRun(t *testing.T) {
	w := healthy()
	w.facts.Header.Calibration = &record.Calibration{
		Load: "40 in flight", Verdict: result.Valid, Requests: 100, Rate: 180, InFlight: 40, Events: 3600,
		Bars: []record.Bar{{Metric: "time_to_first_token", Name: "Time to first token", Unit: "ms", Samples: 100, True: 50, Error: 0.1, Avg: 0.1}},
	}
	r := w.build(t)
	published.Fits(t, r)
	if r.Calibration == nil || r.Calibration.Bars[0].Error != 0.1 {
		t.Fatalf("%+v", r.Calibration)
	}
	s := &r.Stages[0]
	events := float64(20*s.Counts.OK) / (s.Window.End - s.Window.Begin)
	if got := r.Calibration.Run; got.Rate != s.Metrics["request_throughput"].Avg || got.InFlight == 0 || got.Events < events*0.999 || got.Events > events*1.001 {
		t.Errorf("the run had %+v; want %v events/s", got, events)
	}
	if plain := healthy().build(t); plain.Calibration != nil {
		t.Error("a run that was not calibrated says that it was")
	}
}
