package cost

import (
	"math"
	"strconv"
	"testing"
)

// TestInferenceX holds the formulas against figures that InferenceX publishes: the power and
// prices of its table of GPUs, and what its pages and their tests make of them.
func TestInferenceX(t *testing.T) {
	for _, c := range []struct {
		name           string
		price, kW      float64 // of one GPU
		rate           float64 // tokens/s/GPU
		gpus           int
		dollars, perMW string
		joules         string
	}{
		{"a price in its tests", 2.8, 0, 1000, 1, "0.778", "", ""},
		{"power in its tests", 0, 0.7, 2000, 1, "", "2857143", "0.350"},
		{"H100, hyperscaler", 1.30, 1.73, 1000, 8, "0.361", "578035", "1.730"},
		{"H100, neocloud", 1.69, 1.73, 1000, 8, "0.469", "578035", "1.730"},
		{"H200, 3-year rental", 1.60, 1.73, 2500, 8, "0.178", "1445087", "0.692"},
		{"B200: two cents at 30,000 tokens/s", 1.95, 2.17, 30_000, 8, "0.018", "13824885", "0.072"},
		{"GB200, 72 GPUs", 2.21, 2.10, 10_000, 72, "0.061", "4761905", "0.210"},
		{"MI300X", 1.12, 1.79, 1000, 8, "0.311", "558659", "1.790"},
		{"MI355X", 1.48, 2.65, 5000, 4, "0.082", "1886792", "0.530"},
	} {
		const seconds = 60
		all := c.rate * float64(c.gpus)
		b := GPUUsage{GPUs: c.gpus, Price: c.price, Joules: c.kW * 1e3 * float64(c.gpus) * seconds}
		for _, f := range []struct {
			what   string
			value  func() (float64, bool)
			digits int
			want   string
		}{
			{"$/M tokens", func() (float64, bool) { return b.PerMillion(all) }, 3, c.dollars},
			{"tokens/s/MW", func() (float64, bool) { return b.PerMegawatt(all, seconds) }, 0, c.perMW},
			{"J/token", func() (float64, bool) { return b.JoulesPer(int64(all * seconds)) }, 3, c.joules},
		} {
			got := ""
			if v, ok := f.value(); ok {
				got = strconv.FormatFloat(v, 'f', f.digits, 64)
			}
			if got != f.want {
				t.Errorf("%s: %s is %q, want %q", c.name, f.what, got, f.want)
			}
		}
		if v, ok := b.Watts(seconds); ok != (c.kW > 0) || math.Abs(v-c.kW*1e3) > 1e-6 {
			t.Errorf("%s: %v W, want %v", c.name, v, c.kW*1e3)
		}
		if v, ok := b.PerGPU(all); !ok || v != c.rate {
			t.Errorf("%s: %v tokens/s/GPU, want %v", c.name, v, c.rate)
		}
	}
}

func TestNothingIsNotZero(t *testing.T) {
	var b GPUUsage
	for i, f := range []func() (float64, bool){
		func() (float64, bool) { return b.PerMillion(10) }, func() (float64, bool) { return b.PerGPU(10) },
		func() (float64, bool) { return b.PerMegawatt(10, 1) }, func() (float64, bool) { return b.Watts(1) },
		func() (float64, bool) { return b.JoulesPer(1) },
		func() (float64, bool) { return (&GPUUsage{GPUs: 1, Price: 1}).PerMillion(0) },
		func() (float64, bool) { return (&GPUUsage{GPUs: 1, Joules: 1}).JoulesPer(0) },
	} {
		if v, known := f(); known {
			t.Errorf("%d: %v, and nothing is known", i, v)
		}
	}
}
