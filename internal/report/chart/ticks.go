package chart

import (
	"fmt"
	"math"
	"slices"
)

// tick is a mark on an axis.
type tick struct {
	value float64
	label string
}

// ticksAt puts a tick at each value, which reads better on a logarithmic axis of few
// values than powers of ten.
func ticksAt(values []float64) []tick {
	var ticks []tick
	for _, v := range slices.Compact(slices.Sorted(slices.Values(values))) {
		ticks = append(ticks, tick{v, label(v)})
	}
	return ticks
}

// roundTicks puts a few ticks at round numbers.
func roundTicks(low, high float64) []tick {
	step := roundStep((high - low) / 4)
	var ticks []tick
	for i := math.Ceil(low / step); i*step <= high && len(ticks) < 20; i++ {
		ticks = append(ticks, tick{i * step, label(i * step)})
	}
	return ticks
}

// roundStep is the largest of 1, 2, 5, 10 … that is not more than x.
func roundStep(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{5, 2} {
		if m*unit <= x*(1+1e-9) {
			return m * unit
		}
	}
	return unit
}

// label writes a number shortly.
func label(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e6 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}
