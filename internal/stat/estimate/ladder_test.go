package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBins: they give the quantiles of the sorted samples, but for a little.
func TestBins(t *testing.T) {
	for name, draw := range map[string]func(*rand.Rand) float64{
		"latencies": func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) },
		"negative":  func(r *rand.Rand) float64 { return r.NormFloat64() },
		"ties":      func(r *rand.Rand) float64 { return float64(r.IntN(5)) },
		"same":      func(*rand.Rand) float64 { return 7 },
		"far":       func(r *rand.Rand) float64 { return math.Exp(300 * r.NormFloat64()) },
	} {
		r := rand.New(rand.NewPCG(1, 1)) // one each: families come in any order
		values := make([]float64, 20_000)
		for i := range values {
			values[i] = draw(r)
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
			want, got := sorted(values).quantile(q), b.quantile(q)
			if math.Abs(got-want) > within*(1+math.Abs(want)) {
				t.Errorf("%s: quantile %v is %v, want %v", name, q, got, want)
			}
		}
	}
}

// Ranks are those that comparing gives, however many samples there are.
func TestRanked(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for _, n := range []int{0, 1, 5, 1024, 1025, 3_001} {
		for name, draw := range map[string]func() float64{
			"far apart": func() float64 { return math.Exp(40 * r.NormFloat64()) },
			"negative":  func() float64 { return r.NormFloat64() },
			"ties":      func() float64 { return float64(r.IntN(7) - 3) },
			"one":       func() float64 { return 2.5 },
			"zeros":     func() float64 { return math.Copysign(0, r.NormFloat64()) },
		} {
			values := make([]float64, n)
			for i := range values {
				values[i] = draw()
			}
			sorted := slices.Sorted(slices.Values(values))
			for i, got := range ranked(values) {
				first, _ := slices.BinarySearch(sorted, values[i])
				behind := first
				for behind < n && sorted[behind] == values[i] {
					behind++
				}
				if want := int32(first + behind - n); got != want {
					t.Fatalf("%d, %s: twice the rank of %g is %d, want %d", n, name, values[i], got, want)
				}
			}
		}
	}
}
