package number

import (
	"math"
	"strconv"
)

// PlusMinus writes how far a figure can be off, as a share of it: "±2.1 %".
func PlusMinus(share float64) string {
	percent := math.Abs(share * 100)
	switch {
	case percent == 0:
		return "±0 %"
	case percent < 0.01:
		return "±<0.01 %"
	case percent >= 9.95 || math.IsNaN(percent):
		return "±" + group(strconv.FormatFloat(percent, 'f', 0, 64)) + " %"
	case percent >= 0.995:
		return "±" + strconv.FormatFloat(percent, 'f', 1, 64) + " %"
	}
	return "±" + strconv.FormatFloat(percent, 'f', 2, 64) + " %"
}
