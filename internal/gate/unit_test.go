package gate

import "testing"

// Units are read in either case where they stand for one thing.
func TestInUnit(t *testing.T) {
	for _, tt := range []struct {
		n            float64
		suffix, unit string
		want         float64
	}{
		{200, "ms", "ms", 200}, {200, "MS", "ms", 200}, {2, "s", "ms", 2000}, {2, "S", "ms", 2000},
		{5, "%", Share, 0.05}, {0.05, "", Share, 0.05}, {3, "kJ", "J", 3000}, {3, "MJ", "J", 3e6},
	} {
		if got, err := inUnit(tt.n, tt.suffix, tt.unit); err != nil || got != tt.want {
			t.Errorf("%v%s in %s: %v, %v, want %v", tt.n, tt.suffix, tt.unit, got, err, tt.want)
		}
	}
	if _, err := inUnit(3, "MILES", "ms"); err == nil {
		t.Error("miles are a unit of time")
	}
}
