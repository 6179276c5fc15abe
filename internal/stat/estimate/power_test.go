package estimate

import (
	"math"
	"testing"
)

// TestBeyond: the chance rises with the true difference, is half the error where it is at the bound,
// and 80 % at what Surely says.
func TestBeyond(t *testing.T) {
	d := BetweenRuns([]float64{100, 102, 98, 101, 99}, []float64{101, 103, 99, 104, 98}, Confidence)
	for _, above := range []bool{true, false} {
		sign := 1.0
		if !above {
			sign = -1
		}
		if p := d.Beyond(5*sign, 5*sign, above); math.Abs(p-(1-Confidence)/2) > 1e-6 {
			t.Errorf("at the bound: %v", p)
		}
		if p := d.Beyond(5*sign, sign*(5+d.Surely(5*sign, above)), above); math.Abs(p-power) > 1e-6 {
			t.Errorf("surely: %v", p)
		}
		last := 0.0
		for truth := -20.0; truth <= 20; truth++ {
			p := d.Beyond(5*sign, sign*truth, above)
			if p < last || p > 1 {
				t.Errorf("%v after %v", p, last)
			}
			last = p
		}
	}
	wide := BetweenRuns([]float64{100, 10}, []float64{90, 20}, Confidence)
	if far := wide.Surely(5, true); !math.IsInf(far, 1) {
		t.Errorf("of two runs that differ tenfold %v is noticed", far)
	}
	exact := BetweenRuns([]float64{1, 1}, []float64{1, 1}, Confidence)
	if over, under := exact.Beyond(0.1, 0.2, true), exact.Beyond(0.1, 0.05, true); over != 1 || under != 0 {
		t.Errorf("without an error: %v and %v", over, under)
	}
	if p := (Difference{}).Beyond(1, 2, true); !math.IsNaN(p) {
		t.Errorf("not known: %v", p)
	}
	if p := (Difference{}).Surely(0, true); !math.IsNaN(p) {
		t.Errorf("not known: %v", p)
	}
}
