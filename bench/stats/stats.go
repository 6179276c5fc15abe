//go:build linux

// Package stats works out what measurements come to.
package stats

import (
	"cmp"
	"slices"
	"time"
)

// Number is what quantiles are taken of.
type Number interface {
	cmp.Ordered
	~int | ~int64 | ~float64
}

// Quantile is the value at rank ⌈q·n⌉ of xs, which it sorts; zero of none.
func Quantile[T Number](xs []T, q float64) T {
	if len(xs) == 0 {
		return 0
	}
	slices.Sort(xs)
	i := int(q*float64(len(xs))+0.999999) - 1
	return xs[min(max(i, 0), len(xs)-1)]
}

// MedianOf is the median of f over what was measured.
func MedianOf[M any, T Number](measured []M, f func(M) T) T {
	xs := make([]T, len(measured))
	for i, m := range measured {
		xs[i] = f(m)
	}
	return Quantile(xs, 0.5)
}

// Dispersion is variance ÷ mean of the number of times per bin of the given
// width, over [from, to): 1 for a Poisson process.
func Dispersion(moments []time.Duration, from, to, width time.Duration) float64 {
	n := int((to - from) / width)
	if n < 2 {
		return 0
	}
	bins := make([]int, n)
	for _, m := range moments {
		if i := int((m - from) / width); m >= from && i < n {
			bins[i]++
		}
	}
	total, sum := 0, 0.0
	for _, c := range bins {
		total += c
	}
	mean := float64(total) / float64(n)
	for _, c := range bins {
		sum += (float64(c) - mean) * (float64(c) - mean)
	}
	if mean == 0 {
		return 0
	}
	return sum / float64(n-1) / mean
}

// Milliseconds is a duration as a number of them.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Microseconds is a duration as a number of them.
func Microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// Span is the time from a request's first byte to its end.
type Span struct{ From, To time.Duration }

// InFlight is the average number of requests in flight between the time at
// which it was first at its largest and until, and that largest number.
func InFlight(spans []Span, until time.Duration) (average float64, most int) {
	type edge struct {
		at   time.Duration
		step int
	}
	var edges []edge
	for _, s := range spans {
		edges = append(edges, edge{s.From, 1}, edge{s.To, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step)) })
	now, full := 0, time.Duration(0)
	for _, e := range edges {
		if now += e.step; now > most {
			most, full = now, e.at
		}
	}
	if until <= full {
		return 0, most
	}
	total := time.Duration(0)
	for _, s := range spans {
		total += max(0, min(s.To, until)-max(s.From, full))
	}
	return float64(total) / float64(until-full), most
}
