package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFlow: what is outside the span does not count, the order of events does not matter, and
// amounts are as good as events.
func TestFlow(t *testing.T) {
	f := poisson(rand.New(rand.NewPCG(1, 1)), 2000)
	want := OfFlow(f, 0.95)
	near(t, "rate", want.Value, 20, 1.5)
	near(t, "half width", (want.Hi-want.Lo)/2, 2*math.Sqrt(20/f.End), 0.4)
	if !want.Known {
		t.Error("not known")
	}
	other := &Flow{At: append(slices.Clone(f.At), -5, f.End+1), Begin: 0, End: f.End}
	slices.Reverse(other.At)
	if got := OfFlow(other, 0.95); got.Value != want.Value || math.Abs(got.Lo-want.Lo) > 0.01 { // the slices of time are others
		t.Errorf("%+v, want %+v", got, want)
	}
	twice := &Flow{At: f.At, Amount: slices.Repeat([]float64{2}, len(f.At)), End: f.End}
	near(t, "twice", OfFlow(twice, 0.95).Hi, 2*want.Hi, 1e-9)
	if d := BetweenFlows(f, twice, 0.95); d.P > 1e-6 || d.Lo < 15 || d.Hi > 25 {
		t.Errorf("between: %+v", d)
	}
	if d := BetweenFlows(f, f, 0.95); d.P != 1 || d.SampleFactor(d.Least/2) != 4 {
		t.Errorf("itself: %+v", d)
	}
}

// TestEvenFlow: a load that keeps time has hardly an error.
func TestEvenFlow(t *testing.T) {
	f := &Flow{End: 100}
	for at := 0.05; at < 100; at += 0.1 {
		f.At = append(f.At, at)
	}
	in := OfFlow(f, 0.95)
	if !in.Known || in.Hi-in.Lo > 0.2 {
		t.Errorf("%+v", in)
	}
}

// TestBadFlows: they have no rate, and too little has no interval.
func TestBadFlows(t *testing.T) {
	good := poisson(rand.New(rand.NewPCG(1, 1)), 2000)
	for name, f := range map[string]*Flow{
		"empty":    {},
		"no span":  {At: good.At, Begin: 5, End: 5},
		"backward": {At: good.At, Begin: 5, End: 1},
		"endless":  {At: good.At, End: math.Inf(1)},
		"NaN":      {At: append(slices.Clone(good.At), math.NaN()), End: good.End},
		"infinite": {At: []float64{1}, Amount: []float64{math.Inf(1)}, End: 5},
		"lengths":  {At: good.At, Amount: []float64{1}, End: good.End},
	} {
		if in := OfFlow(f, 0.95); in.Known || !math.IsNaN(in.Value) {
			t.Errorf("%s: %+v", name, in)
		}
	}
	for name, f := range map[string]*Flow{"nothing": {End: 5}, "few": {At: good.At[:100], End: good.At[99]}, "elsewhere": {At: good.At, Begin: 1000, End: 2000}} {
		if in := OfFlow(f, 0.95); in.Known || math.IsNaN(in.Value) {
			t.Errorf("%s: %+v", name, in)
		}
	}
}
