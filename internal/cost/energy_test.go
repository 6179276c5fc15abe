package cost

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// wave is a draw that goes up and down every ten seconds; its integral is known.
func wave(at float64) float64 { return 500 + 200*math.Sin(2*math.Pi*at/10) }

func waveEnergy(at float64) float64 {
	return 500*at + 200*10/(2*math.Pi)*(1-math.Cos(2*math.Pi*at/10))
}

// read reads a function every so many seconds.
func read(f func(float64) float64, from, to, every float64) []Point {
	var out []Point
	for i := 0; ; i++ {
		at := from + float64(i)*every
		if at > to+1e-9 {
			return out
		}
		out = append(out, Point{at, f(at)})
	}
}

func TestIntegral(t *testing.T) {
	const begin, end = 3.21, 47.89
	want := waveEnergy(end) - waveEnergy(begin)
	for _, c := range []struct{ every, within float64 }{{0.1, 1e-4}, {0.5, 0.002}, {1, 0.01}} {
		e := Integrate([]GPU{{Name: "0", Power: read(wave, 0, 50, c.every)}, {Name: "1", Power: read(wave, 0, 50, c.every)}}, begin, end, 2)
		if len(e.Reasons) > 0 || math.Abs(e.Joules/(2*want)-1) > c.within || e.Counted {
			t.Errorf("every %v s: %+v, want %v J", c.every, e, 2*want)
		}
		if math.Abs(e.Peak-700) > 15 || math.Abs(e.Gap-c.every) > 1e-6 || e.Each[0].Joules != e.Joules/2 {
			t.Errorf("every %v s: %+v", c.every, e)
		}
	}
	// Straight lines are exact, whatever lies at the edges.
	ramp := func(at float64) float64 { return 100 * at }
	e := Integrate([]GPU{{Power: read(ramp, 0, 10, 1)}}, 2.5, 7.25, 0)
	if want := 50 * (7.25*7.25 - 2.5*2.5); math.Abs(e.Joules-want) > 1e-9 || len(e.Reasons) > 0 {
		t.Errorf("%+v, want %v J", e, want)
	}
}

func TestCounter(t *testing.T) {
	const begin, end = 3.21, 47.89
	want := waveEnergy(end) - waveEnergy(begin)
	since := func(at float64) float64 { return 1e6 + waveEnergy(at) }
	gpu := GPU{Name: "0", Power: read(wave, 0, 50, 1), Energy: read(since, 0, 50, 1)}
	e := Integrate([]GPU{gpu}, begin, end, 1)
	if !e.Counted || len(e.Reasons) > 0 || math.Abs(e.Joules/want-1) > 1e-3 || math.Abs(e.Integral/want-1) > 0.01 {
		t.Errorf("%+v, want %v J", e, want)
	}
	// Read every second, refreshed every two: the last value is owed.
	slow := func(at float64) float64 { return since(2 * math.Floor(at/2)) }
	gpu.Energy = read(slow, 0, 48, 1)
	if e := Integrate([]GPU{gpu}, 4, 47.9, 1); !e.Counted || len(e.Reasons) > 0 ||
		math.Abs(e.Joules/(waveEnergy(47.9)-waveEnergy(4))-1) > 0.02 {
		t.Errorf("refreshed every two seconds: %+v", e)
	}
	// A gap in the middle costs a counter nothing.
	gpu.Energy = slices.DeleteFunc(read(since, 0, 50, 1), func(p Point) bool { return p.At > 10 && p.At < 30 })
	if e := Integrate([]GPU{gpu}, begin, end, 1); !e.Counted || len(e.Reasons) > 0 || math.Abs(e.Joules/want-1) > 1e-3 {
		t.Errorf("a gap: %+v", e)
	}
	// One that began anew is not believed; the power is.
	gpu.Energy = read(func(at float64) float64 { return math.Mod(since(at), 1_010_000) }, 0, 50, 1)
	if e := Integrate([]GPU{gpu}, begin, end, 1); e.Counted || len(e.Reasons) > 0 || math.Abs(e.Joules/want-1) > 0.01 {
		t.Errorf("a reset: %+v", e)
	}
}

func TestNotValid(t *testing.T) {
	good := read(wave, 0, 50, 1)
	less := func(drop func(Point) bool) []Point { return slices.DeleteFunc(slices.Clone(good), drop) }
	one := func(p []Point) []GPU { return []GPU{{Name: "GPU 0", Power: p}} }
	rare := func(at float64) float64 { return 1e6 + waveEnergy(30*math.Floor(at/30)) }
	for _, c := range []struct {
		name       string
		gpus       []GPU
		want       int
		begin, end float64
		reason     string
	}{
		{"nothing", nil, 0, 1, 9, "no power was read of any GPU"},
		{"one is missing", one(good), 2, 1, 9, "power was read of 1 GPUs, and 2 were expected"},
		{"one too many", append(one(good), one(good)...), 1, 1, 9, "power was read of 2 GPUs, and 1 were expected"},
		{"one has no readings", append(one(good), GPU{Name: "GPU 1"}), 2, 1, 9, "GPU 1: there are no readings"},
		{"a gap", one(less(func(p Point) bool { return p.At > 20 && p.At < 24 })), 1, 1, 40, "4.0 s between two readings"},
		{"a gap at the edge", one(less(func(p Point) bool { return p.At > 0 && p.At < 4 })), 1, 2, 40, "4.0 s between two readings"},
		{"begins late", one(good[5:]), 1, 2, 40, "the first reading came 3.0 s after the window began"},
		{"ends early", one(good[:30]), 1, 2, 40, "the last reading came 11.0 s before the window ended"},
		{"too few", one(good), 1, 2.5, 4.5, "4 readings for the window, at least 5"},
		{"no window", one(good), 1, 5, 5, "the window is empty"},
		{"no numbers", one(read(func(float64) float64 { return math.NaN() }, 0, 50, 1)), 1, 2, 40, "there are no readings"},
		{"below zero", one(read(func(float64) float64 { return -1 }, 0, 50, 1)), 1, 2, 40, "there are no readings"},
		{"stands still", one(read(func(float64) float64 { return 71.25 }, 0, 50, 1)), 1, 2, 40, "no reading changed for more than 3 s"},
		{"a counter that is refreshed every 30 s", []GPU{{Name: "GPU 0", Power: good, Energy: read(rare, 0, 100, 1)}}, 1, 2, 65, "30.0 s between two values of its energy counter"},
	} {
		e := Integrate(c.gpus, c.begin, c.end, c.want)
		if len(e.Reasons) != 1 || !strings.Contains(e.Reasons[0], c.reason) {
			t.Errorf("%s: %q, want %q", c.name, e.Reasons, c.reason)
		}
	}
	if e := Integrate(one(less(func(p Point) bool { return p.At > 20 && p.At < 23 })), 1, 40, 1); len(e.Reasons) > 0 {
		t.Errorf("3 s are allowed: %q", e.Reasons)
	}
	if e := Integrate(one(read(func(float64) float64 { return 70 }, 0, 50, 1)), 1, 40, 1); len(e.Reasons) > 0 ||
		math.Abs(e.Joules-39*70) > 1e-9 {
		t.Errorf("whole watts may stay the same: %+v", e)
	}
}

// A clock that steps back puts readings out of order, or two on one moment.
func TestClockSteps(t *testing.T) {
	good := read(wave, 0, 50, 1)
	mixed := slices.Clone(good)
	slices.Reverse(mixed[10:30])
	mixed = append(mixed, mixed[40], Point{good[20].At, good[20].Value})
	a, b := Integrate([]GPU{{Power: good}}, 3, 40, 1), Integrate([]GPU{{Power: mixed}}, 3, 40, 1)
	if len(b.Reasons) > 0 || math.Abs(a.Joules-b.Joules) > 1e-6 {
		t.Errorf("%v J in order, %v J out of it %q", a.Joules, b.Joules, b.Reasons)
	}
	twice := append(slices.Clone(good), Point{20, good[20].Value + 40}, Point{20, good[20].Value + 80})
	if c := Integrate([]GPU{{Power: twice}}, 3, 40, 1); math.Abs(c.Joules-a.Joules-40) > 1e-6 {
		t.Errorf("readings of one moment have their mean: %v J more, want 40", c.Joules-a.Joules)
	}
}

// A reading at either edge of a window is one of the window.
func TestPeakAtTheEdges(t *testing.T) {
	points := []Point{{1, 9}, {2, 5}, {3, 4}, {4, 6}, {5, 8}}
	for _, c := range []struct{ begin, end, want float64 }{{2, 3, 5}, {3, 4, 6}, {2.5, 3.5, 4}, {5, 6, 8}, {6, 7, 0}} {
		if got := peak(points, c.begin, c.end); got != c.want {
			t.Errorf("from %v to %v: a peak of %v, want %v", c.begin, c.end, got, c.want)
		}
	}
}

// The integral of the power stands beside a counter, for comparison: only where there are both.
func TestIntegralBesideACounter(t *testing.T) {
	since := func(at float64) float64 { return 1e6 + waveEnergy(at) }
	whole := GPU{Name: "0", Power: read(wave, 0, 50, 1), Energy: read(since, 0, 50, 1)}
	torn := whole
	torn.Power = slices.DeleteFunc(slices.Clone(whole.Power), func(p Point) bool { return p.At > 10 && p.At < 30 })
	if e := Integrate([]GPU{torn}, 3, 48, 1); !e.Counted || e.Integral != 0 || len(e.Reasons) > 0 {
		t.Errorf("power with a gap: %+v", e)
	}
	uncounted := whole
	uncounted.Energy = nil
	if e := Integrate([]GPU{uncounted}, 3, 48, 1); e.Counted || e.Integral != 0 || len(e.Reasons) > 0 {
		t.Errorf("no counter: %+v", e)
	}
}
