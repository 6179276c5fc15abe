package estimate

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestRuns: against figures of R's t.test.
func TestRuns(t *testing.T) {
	i := OfRuns([]float64{1, 2, 3, 4, 5}, 0.95)
	near(t, "mean", i.Value, 3, 0)
	near(t, "lo", i.Lo, 1.036757, 1e-6)
	near(t, "hi", i.Hi, 4.963243, 1e-6)

	d := BetweenPairs([]float64{1, 2, 3, 4, 5}, []float64{2, 2, 4, 5, 7}, 0.95)
	near(t, "delta of pairs", d.Delta, 1, 1e-12)
	near(t, "p of pairs", d.P, 0.03411, 1e-5)
	near(t, "lo of pairs", d.Lo, 0.122011, 1e-6)
}

// TestWelch: against the textbook's way of working it out.
func TestWelch(t *testing.T) {
	a, b := []float64{27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4},
		[]float64{27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.4}
	d := BetweenRuns(a, b, 0.95)
	near(t, "p", d.P, 0.008072, 1e-6) // t = 2.852955 with 27.8873 degrees of freedom
	near(t, "df", d.df, 27.8873, 1e-4)
	if d.Method != Runs || !d.Known {
		t.Errorf("%+v", d)
	}
	near(t, "as long", d.SampleFactor(d.Least), 1, 1e-3)
	if twice := d.SampleFactor(d.Least / 2); twice > 4 || twice < 3.5 {
		t.Errorf("for half the size: %v times as many runs", twice)
	}
}

// TestTooFewRuns: one run says nothing of the next.
func TestTooFewRuns(t *testing.T) {
	if in := OfRuns([]float64{5}, 0.95); in.Known || in.Value != 5 {
		t.Errorf("%+v", in)
	}
	if in := OfRuns(nil, 0.95); in.Known || !math.IsNaN(in.Value) {
		t.Errorf("%+v", in)
	}
	for _, d := range []Difference{
		BetweenRuns([]float64{5}, []float64{6, 7}, 0.95), BetweenRuns([]float64{5, math.NaN()}, []float64{6, 7}, 0.95),
		BetweenPairs([]float64{5}, []float64{6}, 0.95), BetweenPairs([]float64{5, 6}, []float64{6, 7, 8}, 0.95), BetweenPairs(nil, nil, 0.95),
	} {
		if d.Known || !math.IsNaN(d.P) || !math.IsNaN(d.SampleFactor(1)) {
			t.Errorf("%+v", d)
		}
	}
	if d := BetweenRuns([]float64{5, 5}, []float64{5, 5}, 0.95); !d.Known || d.P != 1 {
		t.Errorf("%+v", d)
	}
	if d := BetweenPairs([]float64{5, 7, 9}, []float64{6, 8, 10}, 0.95); !d.Known || d.P != 0 {
		t.Errorf("%+v", d)
	}
}
