//go:build linux

package stats

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	xs := []int{5, 1, 4, 2, 3}
	for _, tt := range []struct {
		q    float64
		want int
	}{{0, 1}, {0.5, 3}, {0.8, 4}, {0.99, 5}, {1, 5}} {
		if got := Quantile(xs, tt.q); got != tt.want {
			t.Errorf("quantile %v = %d, want %d", tt.q, got, tt.want)
		}
	}
	if got := Quantile([]int(nil), 0.5); got != 0 {
		t.Errorf("quantile of nothing = %d", got)
	}
}

func TestDispersion(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var poisson, even []time.Duration
	at := time.Duration(0)
	for range 150_000 {
		at += time.Duration(rng.ExpFloat64() * 200e3)
		poisson = append(poisson, at)
		even = append(even, time.Duration(len(even))*200*time.Microsecond)
	}
	if d := Dispersion(poisson, 0, 29*time.Second, 10*time.Millisecond); d < 0.92 || d > 1.08 {
		t.Errorf("dispersion of a Poisson process = %v, want about 1", d)
	}
	if d := Dispersion(even, 0, 29*time.Second, 10*time.Millisecond); d != 0 {
		t.Errorf("dispersion of even sends = %v, want 0", d)
	}
	if d := Dispersion(nil, 0, time.Second, 10*time.Millisecond); d != 0 {
		t.Errorf("dispersion of nothing = %v, want 0", d)
	}
}

func TestInFlight(t *testing.T) {
	// Two slots, full from 1 s on; one of them stands empty for one of the
	// eight seconds until 9 s.
	spans := []Span{{0, 4 * time.Second}, {time.Second, 5 * time.Second}, {4 * time.Second, 10 * time.Second},
		{6 * time.Second, 11 * time.Second}}
	average, most := InFlight(spans, 9*time.Second)
	if most != 2 || average != 15.0/8 {
		t.Errorf("inFlight = %v, %d; want 1.875, 2", average, most)
	}
}
