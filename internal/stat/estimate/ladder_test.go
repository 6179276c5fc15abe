package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBins: they give the quantiles of the sorted samples, but for a little.
func TestBins(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for name, draw := range map[string]func() float64{
		"latencies": func() float64 { return math.Exp(r.NormFloat64()) },
		"negative":  func() float64 { return r.NormFloat64() },
		"ties":      func() float64 { return float64(r.IntN(5)) },
		"same":      func() float64 { return 7 },
		"far":       func() float64 { return math.Exp(300 * r.NormFloat64()) },
	} {
		values := make([]float64, 20_000)
		for i := range values {
			values[i] = draw()
		}
		b := binned(values)
		if len(b.upTo) > mostBins {
			t.Errorf("%s: %d bins", name, len(b.upTo))
		}
		slices.Sort(values)
		within := 1. / 1024
		if name == "far" {
			within = 0.2
		}
		for q := 0.0; q <= 1; q += 1. / 64 {
			want, got := sorted(values).at(q), b.at(q)
			if math.Abs(got-want) > within*(1+math.Abs(want)) {
				t.Errorf("%s: quantile %v is %v, want %v", name, q, got, want)
			}
		}
	}
}
