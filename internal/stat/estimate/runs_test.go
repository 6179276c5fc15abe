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
