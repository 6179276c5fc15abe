package number_test

import (
	"math"
	"testing"

	"github.com/inferometer/inferometer/internal/lib/number"
)

func TestPython(t *testing.T) {
	for want, v := range map[string]float64{
		"0.0": 0, "1.0": 1, "0.3065654714375": 0.3065654714375, "0.0001": 1e-4, "9.5e-05": 9.5e-5, "1e+16": 1e16, "1000000000000000.0": 1e15, "33.87773848529009": 33.87773848529009,
		"-2.5": -2.5, "nan": math.NaN(), "inf": math.Inf(1), "-inf": math.Inf(-1),
	} {
		if got := number.Python(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}

// JSON has no word for what is not finite.
func TestPythonJSON(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := number.PythonJSON(v); got != "null" {
			t.Errorf("%v is %q", v, got)
		}
	}
	if got := number.PythonJSON(1); got != "1.0" {
		t.Errorf("1 is %q", got)
	}
}
