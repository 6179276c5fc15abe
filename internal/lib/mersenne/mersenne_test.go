package mersenne_test

import (
	"testing"

	"github.com/inferometer/inferometer/internal/lib/mersenne"
)

// The C++ standard says what the 10000th number without a seed is ([rand.predef]).
func TestNumberOfTheStandard(t *testing.T) {
	m := mersenne.New()
	var n uint32
	for range 10000 {
		n = m.Uint32()
	}
	if n != 4123659995 {
		t.Errorf("the 10000th number is %d, want 4123659995", n)
	}
}

func TestFloatsAreBelowOne(t *testing.T) {
	m, sum := mersenne.New(), 0.0
	for range 100000 {
		f := m.Float64()
		if f < 0 || f >= 1 {
			t.Fatalf("%v is not in [0, 1)", f)
		}
		sum += f
	}
	if mean := sum / 100000; mean < 0.49 || mean > 0.51 {
		t.Errorf("the mean of 100000 numbers is %v", mean)
	}
}
