package mersenne_test

import (
	"math"
	"slices"
	"testing"

	"github.com/inferometer/inferometer/internal/lib/mersenne"
)

// What numpy 2.4.6 and CPython 3.11 draw.
func TestNumPyAndPython(t *testing.T) {
	gamma := func(seed uint32, shape, scale float64) func() float64 {
		r := mersenne.NewNumPy(seed)
		return func() float64 { return r.Gamma(shape) * scale }
	}
	for _, c := range []struct {
		name string
		draw func() float64
		want []float64
	}{
		{"exponential", gamma(0, 1, 0.1), []float64{0.07958745081631101, 0.12559307629658378, 0.09232231458040689, 0.07872011523172708, 0.05510484910954993}},
		{"in bursts", gamma(0, 0.5, 0.2), []float64{0.06080037795214088, 0.07565434401356312, 0.03589667780057752, 0.03829651349213206, 0.17592170793623915}},
		{"another seed", gamma(42, 0.5, 0.2), []float64{0.028056060125239285, 0.131803606568437, 0.004868363233101258, 0.0006747412005011618, 0.07514582790947844}},
	} {
		for i, want := range c.want {
			if got := c.draw(); math.Abs(got-want) > 1e-15*math.Max(1, want) {
				t.Errorf("%s: number %d is %v, not %v", c.name, i, got, want)
			}
		}
	}
	numbers := mersenne.NewNumPy(0)
	var drawn []int
	for _, n := range []int{14, 5, 8000} {
		for range 6 {
			drawn = append(drawn, numbers.Below(n))
		}
	}
	if want := []int{12, 5, 0, 3, 11, 3, 1, 3, 2, 4, 0, 0, 3468, 6458, 705, 7654, 2599, 2135}; !slices.Equal(drawn, want) {
		t.Errorf("integers: %v, want %v", drawn, want)
	}
	for seed, want := range map[uint64][3][]int{
		0:  {{7, 8, 1, 5, 3, 4, 2, 0, 9, 6}, {6, 6, 0, 4, 8, 7}, {6755, 6063, 3364, 2071, 4090, 3239}},
		42: {{7, 3, 2, 8, 5, 6, 9, 4, 0, 1}, {1, 0, 4, 3, 3, 2}, {5115, 200, 2200, 1785, 5891, 5413}},
	} {
		list := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
		mersenne.NewPython(seed).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		r, choose := mersenne.NewPython(seed), mersenne.NewPython(seed)
		var one, several []int
		for range 6 {
			one, several = append(one, r.Below(10)), append(several, int(choose.Float()*8000))
		}
		if !slices.Equal(list, want[0]) || !slices.Equal(one, want[1]) || !slices.Equal(several, want[2]) {
			t.Errorf("seed %d: %v %v %v, want %v", seed, list, one, several, want)
		}
	}
}
