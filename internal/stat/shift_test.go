package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Values of Student's t from printed tables.
func TestStudentBound(t *testing.T) {
	for _, c := range []struct{ probability, df, want float64 }{
		{0.05, 1, 12.706}, {0.05, 10, 2.228}, {0.01, 4, 4.604}, {0.002, 5, 5.893}, {0.001, 30, 3.646}, {0.05, 1000, 1.962},
	} {
		if got := StudentBound(c.probability, c.df); math.Abs(got-c.want) > 0.001 {
			t.Errorf("t(%v, %v) = %v, want %v", c.probability, c.df, got, c.want)
		}
	}
}

func TestFindShift(t *testing.T) {
	for _, c := range []struct {
		name   string
		blocks []float64
		at     int // 0: it does not stand out
	}{
		{"two alike", []float64{1, 1.1}, 0},
		{"two apart", []float64{1, 3}, 1},
		{"level", []float64{1, 1.1, 0.9, 1, 1.05, 0.95, 1, 1}, 0},
		{"noise", []float64{1, 2, 0, 1.5, 0.5, 2, 0, 1}, 0},
		{"step", []float64{1, 1.1, 0.9, 3, 3.1, 2.9, 3, 3}, 3},
		{"slope", []float64{1, 1.2, 1.4, 1.6, 1.8, 2, 2.2, 2.4}, 4},
		{"first only", []float64{3, 1, 1.1, 0.9, 1, 1, 1.1, 1}, 1},
		{"exactly alike", []float64{1, 1, 1, 1, 1, 1, 1, 1}, 0},
	} {
		s := FindShift(c.blocks, 0.1)
		if stands(s) != (c.at > 0) || c.at > 0 && s.At != c.at {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

// Noise alone stands out no more often than it is allowed to, also where the habitual
// spread is a poor guess.
func TestShiftOfNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, spread := range []float64{0.05, 0.1, 0.2} {
		found := 0
		const runs = 500
		for range runs {
			blocks := make([]float64, 2+r.IntN(15))
			for i := range blocks {
				blocks[i] = r.NormFloat64() * spread
			}
			if s := FindShift(blocks, 0.1); stands(s) {
				found++
			}
		}
		if found > runs/50 {
			t.Errorf("noise of %v stands out in %d of %d series", spread, found, runs)
		}
	}
}

func TestKendall(t *testing.T) {
	for _, c := range []struct {
		vals []float64
		want float64
	}{
		{nil, 0}, {[]float64{1}, 0}, {[]float64{1, 2, 3}, 1}, {[]float64{3, 2, 1}, -1}, {[]float64{1, 1, 1}, 0}, {[]float64{1, 3, 2}, 1.0 / 3},
	} {
		if got := Kendall(c.vals); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.vals, got, c.want)
		}
	}
}

// stands reports whether a change is more than chance explains.
func stands(s Shift) bool { return math.Abs(s.After-s.Before) > s.Noise }
