package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestWaves: they are the sums over the scores.
func TestWaves(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{32, 33, 100, 511} {
		scores := make([]float64, n)
		for i := range scores {
			scores[i] = r.NormFloat64()
		}
		for _, count := range []int{1, 2, 7, 8} {
			got := make([]float64, count)
			cosines(scores, got)
			for k := range got {
				var want float64
				for i, v := range scores {
					want += v * math.Cos(math.Pi*float64(k+1)*(float64(i)+0.5)/float64(n)) * math.Sqrt(2/float64(n))
				}
				if math.Abs(got[k]-want) > 1e-9 {
					t.Errorf("%d scores: wave %d is %v, want %v", n, k+1, got[k], want)
				}
			}
		}
	}
}

func BenchmarkSpread(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	scores := make([]float64, 512)
	for i := range scores {
		scores[i] = r.NormFloat64()
	}
	for b.Loop() {
		spread(scores, mostWaves)
	}
}
