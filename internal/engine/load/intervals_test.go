package load

import (
	"slices"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

func TestIntervalsGoRound(t *testing.T) {
	a := Intervals([]time.Duration{100, 0, 50})
	var got []time.Duration
	for range 7 {
		due, ok := a.Next()
		if !ok {
			t.Fatal("it ended")
		}
		got = append(got, due)
	}
	if want := []time.Duration{100, 100, 150, 250, 250, 300, 400}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, ok := Intervals(nil).Next(); ok {
		t.Error("no intervals, and yet an arrival")
	}
}

// differs: pa-intervals-rate
func TestIntervalsOfAPlan(t *testing.T) {
	p := plan.Default()
	p.Stages = []plan.Stage{{Arrival: plan.ArrivalIntervals, Intervals: []plan.Duration{plan.Duration(time.Millisecond)}, Requests: 5}}
	s := compiled(&p, 0)
	s.Arrivals.Next()
	if due, ok := s.Arrivals.Next(); !ok || due != 2*time.Millisecond {
		t.Errorf("second arrival at %v, %v", due, ok)
	}
}
