package numpy_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/inferometer/inferometer/internal/lib/numpy"
)

// TestGenerator holds draws against those of numpy 2: default_rng(SEED).
func TestGenerator(t *testing.T) {
	g := numpy.New(5)
	normals := func() float64 { return g.Normal() }
	floats := func() float64 { return g.Float() }
	for _, c := range []struct {
		name string
		draw func() float64
		want []float64
	}{
		{"normal", normals, []float64{-0.8019314252534474, -1.324358995628145, -0.24836162209524854, 0.4204452380655215}},
		{"uniform", floats, []float64{0.053930702381656426, 0.38336888078551823}},
		{"integers", func() float64 { return float64(g.Below(1000)) }, []float64{571, 408, 131, 45, 1}},
		{"few", func() float64 { return g.Poisson(3) }, []float64{6, 3, 3, 5, 1}},
		{"many", func() float64 { return g.Poisson(40) }, []float64{40, 34, 46, 32, 39}},
		// A seed of more than 32 bits.
		{"long seed", func() float64 { return 10 + 50*g.Float() }, []float64{13.885209471244078, 30.47039435076381, 51.2100720941529}},
		{"and on", normals, []float64{-0.3166060857599185, 0.37279740850579, 0.24540758670379015}},
	} {
		if c.name == "long seed" {
			g = numpy.New(1763478000123)
		}
		for i, want := range c.want {
			if got := c.draw(); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: number %d is %v, not %v", c.name, i, got, want)
			}
		}
	}
}

func TestPermutation(t *testing.T) {
	g := numpy.New(9)
	for range 8 {
		g.Below(1000)
	}
	if got := fmt.Sprint(g.Permutation(10)); got != "[1 3 6 9 4 2 7 8 0 5]" {
		t.Errorf("%s", got)
	}
	if n := g.Normal(); math.Abs(n+2.032552427456725) > 1e-12 {
		t.Errorf("the next number is %v", n)
	}
}
