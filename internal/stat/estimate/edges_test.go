package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// flat are samples that are all the same.
func flat(value float64, n int) *Samples {
	return &Samples{Values: slices.Repeat([]float64{value}, n)}
}

func noise(seed uint64, n int) *Samples {
	return autoregressive(0.3)(rand.New(rand.NewPCG(seed, 1)), n)
}

// TestSamplesAllTheSame: they have no error, and no difference where there is none.
func TestSamplesAllTheSame(t *testing.T) {
	for _, in := range Intervals(flat(0.1, 1000), usual[:4], 0.95) {
		if !in.Known || in.Value != 0.1 || in.Lo != 0.1 || in.Hi != 0.1 {
			t.Errorf("%+v", in)
		}
	}
	for i, d := range Diff(flat(0.1, 1000), flat(0.1, 777), usual[:4], 0.95) {
		if !d.Known || d.P != 1 || d.Lo > 0 || d.Hi < 0 {
			t.Errorf("the same: %s %+v", titles[i], d)
		}
	}
	for i, d := range Diff(flat(0.1, 1000), flat(0.2, 1000), usual[:4], 0.95) {
		if !d.Known || d.P != 0 || d.Least != 0 {
			t.Errorf("different: %s %+v", titles[i], d)
		}
	}
	if d := Diff(flat(5, 1000), noise(1, 1000), usual, 0.95)[0]; !d.Known || d.P >= 0.05 {
		t.Errorf("one side without error: %+v", d)
	}
	x := noise(1, 1000)
	for i, d := range Diff(x, x, usual, 0.95) {
		if d.Known && d.P != 1 {
			t.Errorf("a run against itself: %s %+v", titles[i], d)
		}
	}
}

// TestTooLittle: what cannot be known is said to be so.
func TestTooLittle(t *testing.T) {
	known := func(n int, f Statistic) bool { return Intervals(noise(2, n), []Statistic{f}, 0.95)[0].Known }
	for n, f := range map[int]Statistic{0: {}, 1: {}, 31: {}, 60: {Quantile, 0.95}, 200: {Quantile, 0.99}, 1000: {Quantile, 1},
		1001: {Quantile, 0}, 1002: {Kind: Rate}} {
		if known(n, f) {
			t.Errorf("%v of %d is known", f, n)
		}
	}
	for n, f := range map[int]Statistic{200: {}, 1000: {Quantile, 0.95}, 5000: {Quantile, 0.99}} {
		if !known(n, f) {
			t.Errorf("%v of %d is not known", f, n)
		}
	}
	one := &Samples{Values: noise(2, 1000).Values, Ends: []int{1000}}
	if in := Intervals(one, usual, 0.95)[0]; in.Known || in.Value == 0 {
		t.Errorf("a thousand samples of one request: %+v", in)
	}
	if d := Diff(noise(1, 1000), noise(2, 10), usual, 0.95)[0]; d.Known || !math.IsNaN(d.P) || !math.IsNaN(d.SampleFactor(1)) || d.Delta == 0 {
		t.Errorf("one side with too little: %+v", d)
	}
}

// TestBadSamples: they have no figures, and nothing panics.
func TestBadSamples(t *testing.T) {
	good := noise(3, 100).Values
	for name, s := range map[string]*Samples{
		"empty":     {},
		"NaN":       {Values: append(slices.Clone(good), math.NaN())},
		"infinite":  {Values: append(slices.Clone(good), math.Inf(1))},
		"backward":  {Values: good, Ends: []int{50, 40, 100}},
		"short":     {Values: good, Ends: []int{50, 60}},
		"too long":  {Values: good, Ends: []int{50, 101}},
		"below":     {Values: good, Ends: []int{-1, 100}},
		"no values": {Ends: []int{0, 0}},
	} {
		for _, in := range Intervals(s, usual, 0.95) {
			if in.Known || !math.IsNaN(in.Value) {
				t.Errorf("%s: %+v", name, in)
			}
		}
	}
	for _, scale := range []float64{1e-200, 1e150, 1e307, math.MaxFloat64 / 100} {
		s := noise(3, 1000)
		for i := range s.Values {
			s.Values[i] *= scale / 100
		}
		for i, in := range Intervals(s, usual[:3], 0.95) {
			if in.Known && !(in.Lo < in.Value && in.Value < in.Hi && finite(in.Lo, in.Hi)) || scale < 1e300 && !in.Known {
				t.Errorf("%g: %s %+v", scale, titles[i], in)
			}
		}
	}
	empty := &Samples{Values: good, Ends: slices.Repeat([]int{100}, 50)}
	empty.Ends[0] = 0
	Intervals(empty, usual, 0.95)
}

// TestSidesAreAlike: the sides can be swapped, and interval and probability agree.
func TestSidesAreAlike(t *testing.T) {
	for seed := range uint64(2) {
		a, b := noise(seed, 300), noise(seed+100, 300+int(seed)*400)
		if seed%2 == 0 { // ties
			for i := range a.Values {
				a.Values[i] = math.Round(a.Values[i] / 10)
			}
			for i := range b.Values {
				b.Values[i] = math.Round(b.Values[i] / 10)
			}
		}
		for _, confidence := range []float64{0.8, 0.95} {
			forth, back := Diff(a, b, usual, confidence), Diff(b, a, usual, confidence)
			for i, d := range forth {
				o := back[i]
				if d.Known != o.Known || d.Delta != -o.Delta || d.Known && (math.Abs(d.Lo+o.Hi) > 1e-9 || math.Abs(d.P-o.P) > 1e-9) {
					t.Errorf("%d %s: %+v, the other way %+v", seed, titles[i], d, o)
				}
				if d.Known && (d.Lo > 0 || d.Hi < 0) != (d.P < 1-confidence) {
					t.Errorf("%d %s: the interval and p disagree: %+v", seed, titles[i], d)
				}
			}
		}
	}
}

// TestOutlier: a single sample that is far out makes the mean's interval wide enough to hold what
// the mean would be without it, and leaves the median where it is.
func TestOutlier(t *testing.T) {
	s := noise(4, 1000)
	before := Intervals(s, usual, 0.95)
	s.Values[700] = 1e6
	after := Intervals(s, usual, 0.95)
	if m := after[0]; !m.Known || m.Lo > before[0].Value || m.Hi < m.Value+1000 {
		t.Errorf("mean %+v, without the outlier %+v", m, before[0])
	}
	near(t, "median", after[1].Hi, before[1].Hi, 0.5)
}

// TestDrift: a trend, a step and a slow wave make no interval narrower.
func TestDrift(t *testing.T) {
	const n = 2000
	for name, drift := range map[string]func(x float64) float64{
		"trend": func(x float64) float64 { return 100 * (x - 0.5) },
		"step":  func(x float64) float64 { return 60 * math.Round(x) },
		"wave":  func(x float64) float64 { return 50 * math.Sin(5*x) },
	} {
		for seed := range uint64(2) {
			s := noise(seed, n)
			before := Intervals(s, usual[:4], 0.95)
			for i := range s.Values {
				s.Values[i] += drift(float64(i) / n)
			}
			for i, in := range Intervals(s, usual[:4], 0.95) {
				if in.Known && in.Hi-in.Lo < before[i].Hi-before[i].Lo {
					t.Errorf("%s: %s %+v, before %+v", name, titles[i], in, before[i])
				}
			}
		}
	}
}

// TestShare: all of a thousand is not all of all.
func TestShare(t *testing.T) {
	share := []Statistic{{Kind: Share}}
	all := Intervals(flat(1, 1000), share, 0.95)[0]
	near(t, "all", all.Lo, 0.996, 0.0005)
	near(t, "all", all.Hi, 1, 0)
	none := Intervals(flat(0, 1000), share, 0.95)[0]
	near(t, "none", none.Hi, 0.004, 0.0005)
	r := rand.New(rand.NewPCG(5, 5))
	some := each(func(*rand.Rand) float64 { return math.Floor(r.Float64() + 0.9) })(r, 2000)
	in := Intervals(some, share, 0.95)[0]
	near(t, "nine of ten", in.Hi-in.Lo, 2*1.96*math.Sqrt(0.09/2000), 0.008)
	if d := Diff(flat(1, 1000), flat(1, 500), share, 0.95)[0]; d.P != 1 || d.Least <= 0 || d.Lo >= 0 {
		t.Errorf("all of both: %+v", d)
	}
}
