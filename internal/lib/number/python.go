package number

import (
	"math"
	"strconv"
	"strings"
)

// Python writes a number with all its digits, as Python's print does: reports in the
// shape of tools written in it are read by scripts made for them.
func Python(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case v != 0 && (math.Abs(v) < 1e-4 || math.Abs(v) >= 1e16):
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// PythonJSON is the same for JSON, which has no word for what is not finite: null.
func PythonJSON(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "null"
	}
	return Python(v)
}
