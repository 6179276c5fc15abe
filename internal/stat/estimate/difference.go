package estimate

import (
	"math"

	"github.com/inferometer/inferometer/internal/stat"
)

// The methods.
const (
	Blocks = "blocks" // within one run of each side
	Runs   = "runs"   // over several runs of each side
	Pairs  = "pairs"  // over rounds, each a run of either side
	// Prompts: within one run of each side, prompt by prompt.
	Prompts = "prompts"
)

// Difference is how far side B is from side A.
type Difference struct {
	A, B          float64
	Delta, Lo, Hi float64 // B − A, with its interval
	P             float64 // the probability of a difference this large by chance alone; NaN: not known
	Known         bool
	Least         float64 // the smallest difference that would be found with 80 % power at this length, in the unit
	Method        string  // how the error is known: Blocks, Runs, Pairs or Prompts

	runs       float64 // by which the degrees of freedom grow; 0: they stay
	df         float64
	ofB        float64 // share of the variance that comes from side B
	confidence float64
}

// power is with which probability a difference of the size Least is found.
const power = 0.8

// Diff are the differences between figures of one metric on two sides.
func Diff(a, b *Samples, figures []Statistic, confidence float64) []Difference {
	out := make([]Difference, len(figures))
	as, bs := estimatesOf(a, b, figures)
	for i := range out {
		out[i] = between(&as[i], &bs[i], confidence)
	}
	return out
}

// BetweenFlows is the difference between two rates.
func BetweenFlows(a, b *Flow, confidence float64) Difference {
	x, y := a.rate(), b.rate()
	return between(&x, &y, confidence)
}

// between joins the errors of both sides: below the difference count the lower error of B and
// the upper one of A, above it the others, which do not need to be alike.
func between(a, b *estimate, confidence float64) Difference {
	d := Difference{A: a.value, B: b.value, Delta: b.value - a.value, P: math.NaN(), Least: math.NaN(), Method: Blocks, confidence: confidence}
	if !a.known || !b.known {
		return d
	}
	d.Known = true
	limits := func(t float64) (lo, hi float64) {
		la, ha := a.limits(t)
		lb, hb := b.limits(t)
		return d.Delta - math.Hypot(b.value-lb, ha-a.value), d.Delta + math.Hypot(hb-b.value, a.value-la)
	}
	d.df, d.ofB = welch(a.error(), a.df, b.error(), b.df), part(a.error(), b.error())
	d.test(limits)
	return d
}

// welch are the degrees of freedom of the difference of two figures, by Welch and Satterthwaite.
func welch(a, dfA, b, dfB float64) float64 {
	if a == 0 && b == 0 {
		return dfA + dfB
	}
	top := max(a, b)
	a, b = a/top*a/top, b/top*b/top
	return (a + b) * (a + b) / (a*a/dfA + b*b/dfB)
}

// test fills in interval, probability and power of a difference by its limits at ±t standard
// errors.
func (d *Difference) test(limits func(t float64) (lo, hi float64)) {
	if math.Abs(d.Delta) <= rounding*max(math.Abs(d.A), math.Abs(d.B)) {
		d.Delta = 0
	}
	bound := stat.StudentBound(1-d.confidence, d.df)
	d.Lo, d.Hi = limits(bound)
	if !finite(d.Delta, d.Lo, d.Hi) {
		d.Known = false
		return
	}
	d.Least = math.Hypot(d.Hi-d.Delta, d.Delta-d.Lo) / math.Sqrt2 * (bound + stat.StudentBound(2*(1-power), d.df)) / bound
	excludes := func(t float64) bool {
		lo, hi := limits(t)
		return lo > 0 || hi < 0
	}
	switch {
	case d.Delta == 0:
		d.P = 1
		return
	case excludes(furthest):
		d.P = 0
		return
	}
	// The greatest t at which 0 is outside.
	out, in := 0.0, furthest
	for range 60 {
		if mid := (in + out) / 2; excludes(mid) {
			out = mid
		} else {
			in = mid
		}
	}
	d.P = stat.StudentTail(out, d.df)
	// Interval and probability agree to the last bit.
	if found := d.Lo > 0 || d.Hi < 0; found {
		d.P = min(d.P, math.Nextafter(1-d.confidence, 0))
	} else {
		d.P = max(d.P, 1-d.confidence)
	}
}

const (
	rounding = 1e-12 // by which share figures differ that are the same
	furthest = 1e3   // standard errors: beyond, chance has no part in it
)

// SampleFactor is how many times as long to run, or how many times as many runs to make, to find a
// difference of this size with 80 % power. It is NaN where that is not known.
func (d Difference) SampleFactor(size float64) float64 {
	if !d.Known || !(size > 0) {
		return math.NaN()
	}
	times := (d.Least / size) * (d.Least / size)
	if d.runs == 0 {
		return times
	}
	// More runs also make the error better known.
	at := func(df float64) float64 {
		return stat.StudentBound(1-d.confidence, df) + stat.StudentBound(2*(1-power), df)
	}
	for range 30 {
		df := max(1, (d.df+d.runs)*times-d.runs)
		times = math.Pow(d.Least/size*at(df)/at(d.df), 2)
	}
	return times
}
