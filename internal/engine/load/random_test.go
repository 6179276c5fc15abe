package load

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// moments are the mean and the coefficient of variation of the gaps.
func moments(dues []time.Duration) (mean, cv float64) {
	var sum, squares, last float64
	for _, due := range dues {
		gap := due.Seconds() - last
		last = due.Seconds()
		sum += gap
		squares += gap * gap
	}
	n := float64(len(dues))
	mean = sum / n
	return mean, math.Sqrt(squares/n-mean*mean) / mean
}

func TestGapsHaveTheMeanAndVariationAskedFor(t *testing.T) {
	const n, rate = 200_000, 250.0
	for _, tc := range []struct {
		name string
		a    Arrivals
		cv   float64
	}{
		{"poisson", Poisson(ConstantRate(rate), 11), 1},
		{"gamma 0", Gamma(ConstantRate(rate), 0, 11), 0},
		{"gamma 0.1", Gamma(ConstantRate(rate), 0.1, 11), 0.1},
		{"gamma 0.5", Gamma(ConstantRate(rate), 0.5, 11), 0.5},
		{"gamma 1", Gamma(ConstantRate(rate), 1, 11), 1},
		{"gamma 2", Gamma(ConstantRate(rate), 2, 11), 2},
		{"gamma 5", Gamma(ConstantRate(rate), 5, 11), 5},
	} {
		mean, cv := moments(take(tc.a, n))
		// Four standard errors of the mean; the variation has fatter tails.
		if off := math.Abs(mean*rate - 1); off > 4*tc.cv/math.Sqrt(n)+1e-9 {
			t.Errorf("%s: mean gap is %v of what the rate says", tc.name, mean*rate)
		}
		if math.Abs(cv-tc.cv) > 0.03*tc.cv+1e-6 {
			t.Errorf("%s: coefficient of variation %v, want %v", tc.name, cv, tc.cv)
		}
	}
}

// The gaps that Perf Analyzer 2.60.0 left between its requests at --request-rate-range 4
// with --request-distribution poisson, five times alike; the first is ahead of all of them.
func TestUnseededGapsArePerfAnalyzers(t *testing.T) {
	want := []float64{450, 867, 62, 92, 198, 52, 1236, 1411}
	dues := take(UnseededPoisson(ConstantRate(4)), len(want)+1)
	for i, ms := range want {
		if gap := (dues[i+1] - dues[i]).Seconds() * 1000; math.Abs(gap-ms) > 1 {
			t.Errorf("gap %d is %.1f ms, want %v", i, gap, ms)
		}
	}
}

// chiSquare compares counts with equal expectations.
func chiSquare(counts []int) float64 {
	var total float64
	for _, c := range counts {
		total += float64(c)
	}
	want := total / float64(len(counts))
	var sum float64
	for _, c := range counts {
		sum += (float64(c) - want) * (float64(c) - want) / want
	}
	return sum
}

// Both laws that should be exponential are: gaps sorted into twenty classes of
// equal probability. 43.8 is the 0.1 % point of χ² with 19 degrees of freedom.
func TestExponentialLaw(t *testing.T) {
	const rate = 1000.0
	for name, a := range map[string]Arrivals{
		"poisson":   Poisson(ConstantRate(rate), 5),
		"gamma 1":   Gamma(ConstantRate(rate), 1, 5),
		"ramped":    rescaled{Poisson(ramp(100, 2000, 20*time.Second), 5), ramp(100, 2000, 20*time.Second), rate},
		"ramp down": rescaled{Poisson(ramp(3000, 1, 60*time.Second), 5), ramp(3000, 1, 60*time.Second), rate},
	} {
		var counts [20]int
		var last time.Duration
		for _, due := range take(a, 20_000) {
			u := -math.Expm1(-(due - last).Seconds() * rate)
			counts[min(int(u*20), 19)]++
			last = due
		}
		if x := chiSquare(counts[:]); x > 43.8 {
			t.Errorf("%s: gaps are not exponential: χ² = %.1f, counts %v", name, x, counts)
		}
	}
}

// rescaled turns a process of a changing rate back into one of a steady rate.
type rescaled struct {
	from Arrivals
	rate Rate
	to   float64
}

func (r rescaled) Next() (time.Duration, bool) {
	due, ok := r.from.Next()
	return time.Duration(expected(r.rate, due.Seconds()) / r.to * 1e9), ok
}

// Counts in windows of 10 ms have the variance of a Poisson process at 5,000/s.
func TestPoissonDispersion(t *testing.T) {
	const windows = 3000
	var counts [windows]int
	a := Poisson(ConstantRate(5000), 3)
	for {
		due, _ := a.Next()
		w := int(due / (10 * time.Millisecond))
		if w >= windows {
			break
		}
		counts[w]++
	}
	// χ²/(n-1) is variance ÷ mean; its standard error is √(2/n) = 0.026.
	if d := chiSquare(counts[:]) / (windows - 1); math.Abs(d-1) > 0.08 {
		t.Errorf("variance ÷ mean of arrivals in 10 ms is %.3f, want 1", d)
	}
}

// The shape below one takes another branch: its chance of a gap under x is known
// at shape ½, where the gamma law is that of a squared normal variate.
func TestGammaBelowShapeOne(t *testing.T) {
	const rate = 100.0
	a := Gamma(ConstantRate(rate), math.Sqrt2, 9)
	var counts [20]int
	var last time.Duration
	for _, due := range take(a, 20_000) {
		x := (due - last).Seconds() * rate // mean one: N² itself
		last = due
		counts[min(int(math.Erf(math.Sqrt(x/2))*20), 19)]++
	}
	if x := chiSquare(counts[:]); x > 43.8 {
		t.Errorf("gaps are not gamma: χ² = %.1f, counts %v", x, counts)
	}
}

func TestSeedFixesTheSequence(t *testing.T) {
	for name, make := range map[string]func(seed uint64) Arrivals{
		"poisson": func(s uint64) Arrivals { return Poisson(ramp(1, 9, time.Hour), s) },
		"gamma":   func(s uint64) Arrivals { return Gamma(ConstantRate(50), 1.7, s) },
	} {
		if diff := cmp.Diff(take(make(3), 500), take(make(3), 500)); diff != "" {
			t.Errorf("%s: the same seed differs:\n%s", name, diff)
		}
		if cmp.Equal(take(make(3), 5), take(make(4), 5)) {
			t.Errorf("%s: another seed gives the same arrivals", name)
		}
	}
}

// These moments are part of the promise that a seed gives the same run with every
// version of the program on every machine.
func TestSequencesNeverChange(t *testing.T) {
	for _, tc := range []struct {
		name string
		a    Arrivals
		want []time.Duration
	}{
		{"poisson", Poisson(ConstantRate(100), 42), []time.Duration{6394887, 9191527, 17011566, 30084709}},
		{"gamma", Gamma(ConstantRate(100), 2, 42), []time.Duration{783057, 880324, 936185, 1021520}},
		{"ramp", Poisson(ramp(10, 100, time.Second), 42), []time.Duration{51850663, 69917327, 112828970, 170314880}},
	} {
		if diff := cmp.Diff(tc.want, take(tc.a, 4)); diff != "" {
			t.Errorf("%s:\n%s", tc.name, diff)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for name, a := range map[string]Arrivals{
		"constant": Constant(ConstantRate(777.7)), "poisson": Poisson(ConstantRate(777.7), 1),
		"gamma": Gamma(ConstantRate(777.7), 2, 1), "ramp": Poisson(ramp(10, 1e6, time.Hour), 1),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				a.Next()
			}
		})
	}
}
