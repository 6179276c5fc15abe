package stat

import "testing"

// Linear is numpy.percentile to the last bit: it computes from the nearer end. The values are numpy's.
func TestLinearIsNumPys(t *testing.T) {
	for _, tt := range []struct {
		lo, hi int64
		q      float64
		want   float64
	}{
		{6395546, 7115377, 0.99, 7108178.69},
		{360538, 796935, 0.95, 775115.15},
		{7081781, 7614162, 0.99, 7608838.19},
		{496186, 988304, 0.99, 983382.82},
		{496186, 988304, 0.25, 619215.5},
		{496186, 988304, 1, 988304},
		{496186, 988304, 0, 496186},
	} {
		if got := Linear.Quantile([]int64{tt.lo, tt.hi}, tt.q); got != tt.want {
			t.Errorf("quantile %v of %d and %d = %v, want %v", tt.q, tt.lo, tt.hi, got, tt.want)
		}
	}
}
