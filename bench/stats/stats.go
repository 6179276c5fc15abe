//go:build linux

package main

import (
	"cmp"
	"slices"
	"time"
)

// number is what quantiles are taken of.
type number interface {
	cmp.Ordered
	~int | ~int64 | ~float64
}

// quantile is the value at rank ⌈q·n⌉ of xs, which it sorts; zero of none.
func quantile[T number](xs []T, q float64) T {
	if len(xs) == 0 {
		return 0
	}
	slices.Sort(xs)
	i := int(q*float64(len(xs))+0.999999) - 1
	return xs[min(max(i, 0), len(xs)-1)]
}

// medianOf is the median of f over what was measured.
func medianOf[M any, T number](measured []M, f func(M) T) T {
	xs := make([]T, len(measured))
	for i, m := range measured {
		xs[i] = f(m)
	}
	return quantile(xs, 0.5)
}

// dispersion is variance ÷ mean of the number of moments per bin of the given
// width, over [from, to): 1 for a Poisson process.
func dispersion(moments []time.Duration, from, to, width time.Duration) float64 {
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

// three is the p50, p99 and p99.9 of something in one cell.
func three(quantile func(p float64) float64, unit string) string {
	return show(quantile(0.5), "") + " / " + show(quantile(0.99), "") + " / " + show(quantile(0.999), unit)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// span is the time from a request's first byte to its end.
type span struct{ from, to time.Duration }

// inFlight is the average number of requests in flight between the moment at
// which it was first at its largest and until, and that largest number.
func inFlight(spans []span, until time.Duration) (average float64, most int) {
	type edge struct {
		at   time.Duration
		step int
	}
	var edges []edge
	for _, s := range spans {
		edges = append(edges, edge{s.from, 1}, edge{s.to, -1})
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
		total += max(0, min(s.to, until)-max(s.from, full))
	}
	return float64(total) / float64(until-full), most
}
