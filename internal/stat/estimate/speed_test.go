package estimate

import (
	"math/rand/v2"
	"testing"
)

var eight = append([]Statistic{{Quantile, 0.01}, {Quantile, 0.25}, {Quantile, 0.999}}, usual...)

func BenchmarkRequests(b *testing.B) {
	s := autoregressive(0.9)(rand.New(rand.NewPCG(1, 1)), 100_000)
	for b.Loop() {
		Intervals(s, eight, Confidence)
	}
}

func BenchmarkCompare(b *testing.B) {
	x, y := autoregressive(0.9)(rand.New(rand.NewPCG(1, 1)), 100_000), autoregressive(0.9)(rand.New(rand.NewPCG(2, 1)), 100_000)
	for b.Loop() {
		Diff(x, y, eight, Confidence)
	}
}

// BenchmarkGaps: fifty million samples of a hundred thousand requests.
func BenchmarkGaps(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	s := &Samples{Values: make([]float64, 50_000_000)}
	for i := range s.Values {
		s.Values[i] = 10 + 5*r.ExpFloat64()
		if i%500 == 499 {
			s.Ends = append(s.Ends, i+1)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		Intervals(s, eight, Confidence)
	}
}
