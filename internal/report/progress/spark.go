package progress

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/report/screen"
)

// levels are the bars of a sparkline, and plainLevels what stands for each where there are no
// such characters.
const (
	levels      = "▁▂▃▄▅▆▇█"
	plainLevels = "_.:-=+*#"
)

// spark draws values, the oldest first, as bars from zero to their greatest, in at most n
// columns. Where there are more values, each bar is the mean of some. A value that is not a
// number is a gap.
func spark(values []float64, n int) string {
	values = squeeze(values, n)
	top := 0.0
	for _, v := range values {
		if v > top && !math.IsInf(v, 0) {
			top = v
		}
	}
	bars := []rune(levels)
	var b strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			b.WriteByte(' ')
		case v <= 0 || top == 0:
			b.WriteRune(bars[0])
		default:
			b.WriteRune(bars[int(math.Round(v/top*float64(len(bars)-1)))])
		}
	}
	return b.String()
}

// squeeze makes at most n values of a list: the means of as many neighbours as it takes.
func squeeze(values []float64, n int) []float64 {
	if len(values) <= n || n <= 0 {
		return values[:min(len(values), max(n, 0))]
	}
	out := make([]float64, n)
	for i := range out {
		sum, count := 0.0, 0
		for _, v := range values[i*len(values)/n : (i+1)*len(values)/n] {
			if !math.IsNaN(v) {
				sum += v
				count++
			}
		}
		out[i] = math.NaN()
		if count > 0 {
			out[i] = sum / float64(count)
		}
	}
	return out
}

// ascii is a text of the same width without any other characters.
func ascii(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch i := strings.IndexRune(levels, r); {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case i >= 0:
			b.WriteByte(plainLevels[i/utf8.RuneLen(r)])
		case r == 'µ':
			b.WriteByte('u')
		case r == '…':
			b.WriteByte('.')
		default:
			b.WriteString(strings.Repeat("?", screen.Width(string(r))))
		}
	}
	return b.String()
}
