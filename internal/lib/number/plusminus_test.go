package number_test

import (
	"testing"

	"github.com/inferometer/inferometer/internal/lib/number"
)

func TestPlusMinus(t *testing.T) {
	for share, want := range map[float64]string{0: "±0 %", 0.00001: "±<0.01 %", 0.0043: "±0.43 %", 0.00996: "±1.0 %", 0.021: "±2.1 %", 0.0996: "±10 %", 0.118: "±12 %", 14.2: "±1,420 %"} {
		if got := number.PlusMinus(share); got != want {
			t.Errorf("%v is %q, want %q", share, got, want)
		}
	}
}
