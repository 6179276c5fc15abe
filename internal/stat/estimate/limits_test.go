package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Errors that are alike cancel in a difference, as far as both sides have them; those that are
// opposite add up.
func TestJoined(t *testing.T) {
	a, b := around(10, 1, 20), around(12, 2, 20)
	if a.blocks != 21 {
		t.Errorf("20 degrees of freedom are of %v blocks, want 21", a.blocks)
	}
	for _, tt := range []struct{ alike, half float64 }{
		{0, math.Sqrt(5)}, {0.5, math.Sqrt(3)}, {1, 1}, {-0.5, math.Sqrt(7)}, {-1, 3},
	} {
		lo, hi := joined(&Difference{A: 10, B: 12, Delta: 2}, &a, &b, tt.alike, 1)
		if math.Abs(lo-(2-tt.half)) > 1e-12 || math.Abs(hi-(2+tt.half)) > 1e-12 {
			t.Errorf("alike %v: %v to %v, want 2 ± %v", tt.alike, lo, hi, tt.half)
		}
	}
}

// A quantile is known if its error leaves several samples beyond it that are worth an independent one.
func TestQuantileNeedsSamplesBeyond(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	scores := make([]float64, 400)
	for i := range scores {
		scores[i] = r.NormFloat64()
	}
	sum, _, ok := spread(scores, mostWaves)
	if !ok {
		t.Fatal("the spread of 400 scores is not known")
	}
	for _, q := range []float64{0.1, 0.5, 0.9} {
		for beyond, want := range map[float64]bool{0.8 * leastBeyond: false, 1.2 * leastBeyond: true} {
			se := math.Sqrt(min(q, 1-q) * q * (1 - q) / beyond) // which leaves so many
			if got := quantileOf(0, q, sum/se, 1e9, sorted{0}, scores, mostWaves); got.known != want && sum/se*min(q, 1-q) >= leastBeyond {
				t.Errorf("quantile %v with %v beyond it: known %v", q, beyond, got.known)
			}
		}
	}
}
