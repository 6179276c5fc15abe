// Package estimate says between what a figure lies, and whether two differ, where the figures
// are made of samples that depend on their neighbours in time.
package estimate

import (
	"math"
	"slices"

	"github.com/inferometer/inferometer/internal/stat"
)

// Confidence is the usual one.
const Confidence = 0.95

// Samples are those of one metric in one run, in the order in which their requests were sent.
type Samples struct {
	Values []float64
	Ends   []int // where the samples of each request end in Values, for metrics with several per request; nil: one each
}

// Kind is what a figure is: how it is worked out of samples.
type Kind uint8

// The kinds.
const (
	Mean Kind = iota
	Quantile
	Rate // of a Flow alone
)

// Figure is what is worked out of samples.
type Figure struct {
	Kind Kind
	Q    float64 // of a quantile, from 0 to 1
}

// Interval is a figure and between what it lies with the given confidence.
type Interval struct {
	Value, Lo, Hi float64
	Blocks        int  // how many parts of the run, independent of one another, the width is worked out of
	Known         bool // false: there is too little to say, and Lo and Hi mean nothing
}

// Of are the intervals of figures of one metric.
func Of(s *Samples, figures []Figure, confidence float64) []Interval {
	out := make([]Interval, len(figures))
	for i, e := range estimates(s, figures) {
		out[i] = e.interval(confidence)
	}
	return out
}

// estimate is a figure with what its error is known by.
type estimate struct {
	value  float64
	known  bool
	df     float64                          // degrees of freedom of the error
	limits func(t float64) (lo, hi float64) // t standard errors to either side
}

// unknown is a figure without an error.
func unknown(value float64) estimate { return estimate{value: value} }

func (e *estimate) interval(confidence float64) Interval {
	out := Interval{Value: e.value, Blocks: int(e.df), Known: e.known}
	if e.known {
		out.Lo, out.Hi = e.limits(stat.StudentBound(1-confidence, e.df))
	}
	return out
}

// estimates works out figures of one metric.
func estimates(s *Samples, figures []Figure) []estimate {
	out := make([]estimate, len(figures))
	var sorted []float64
	for i, f := range figures {
		out[i] = unknown(math.NaN())
		if !s.sound() {
			continue
		}
		switch f.Kind {
		case Mean:
			out[i] = s.mean()
		case Quantile:
			if sorted == nil {
				sorted = slices.Clone(s.Values)
				slices.Sort(sorted)
			}
			out[i] = s.quantile(sorted, f.Q)
		}
	}
	return out
}

// sound reports whether these are samples that something can be worked out of.
func (s *Samples) sound() bool {
	if len(s.Values) == 0 {
		return false
	}
	end := 0
	for _, e := range s.Ends {
		if e < end {
			return false
		}
		end = e
	}
	if s.Ends != nil && end != len(s.Values) {
		return false
	}
	for _, v := range s.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// requests is how many there are.
func (s *Samples) requests() int {
	if s.Ends == nil {
		return len(s.Values)
	}
	return len(s.Ends)
}

// scores are, for each request, the sum of f over its samples.
func (s *Samples) scores(f func(v float64) float64) []float64 {
	out := make([]float64, s.requests())
	if s.Ends == nil {
		for i, v := range s.Values {
			out[i] = f(v)
		}
		return out
	}
	begin := 0
	for i, end := range s.Ends {
		for _, v := range s.Values[begin:end] {
			out[i] += f(v)
		}
		begin = end
	}
	return out
}

func (s *Samples) mean() estimate {
	n := float64(len(s.Values))
	var m float64
	for i, v := range s.Values {
		m += (v - m) / float64(i+1)
	}
	sum, df, ok := spread(s.scores(func(v float64) float64 { return v - m }))
	if !ok {
		return unknown(m)
	}
	se := sum / n
	return estimate{value: m, known: true, df: df, limits: func(t float64) (float64, float64) { return m - t*se, m + t*se }}
}

// quantile takes the interval of how many samples lie below the quantile, and the samples of
// those ranks: Woodruff's.
func (s *Samples) quantile(sorted []float64, q float64) estimate {
	n := float64(len(sorted))
	at := stat.Linear.QuantileOf(sorted, q)
	if !(q > 0 && q < 1) {
		return unknown(at)
	}
	sum, df, ok := spread(s.scores(func(v float64) float64 {
		if v <= at {
			return 1 - q
		}
		return -q
	}))
	se := sum / n
	// What lies beyond must be several samples, each worth as much as one that is independent.
	if beyond := min(q, 1-q) * q * (1 - q) / (se * se); !ok || beyond < 6 || min(q, 1-q)*n < 6 {
		return unknown(at)
	}
	return estimate{value: at, known: true, df: df, limits: func(t float64) (float64, float64) {
		lo := stat.Linear.QuantileOf(sorted, max(0, q-t*se))
		return lo, stat.Linear.QuantileOf(sorted, min(1, q+t*se))
	}}
}
