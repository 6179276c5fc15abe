// Package number writes numbers for people: in units that are read at a glance, with as
// many digits as say something. The same figure looks the same wherever it is shown.
package number

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Count writes n with a comma between thousands.
func Count(n int64) string {
	return group(strconv.FormatInt(n, 10))
}

// Plural writes how many there are of a thing: "1 request", "2,000 requests".
func Plural(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Count(n) + " " + thing
}

// Scale is a unit and a number of decimals that suit a group of values, so that
// a row of a table has one unit and its digits line up.
type Scale struct {
	Unit     string
	factor   float64
	decimals int
}

// ScaleFor picks the scale for values of a unit of which ref is typical: milliseconds may become
// seconds or microseconds, shares become per cent.
func ScaleFor(unit string, ref float64) Scale {
	s := Scale{Unit: unit, factor: 1}
	ref = math.Abs(ref)
	if unit == "ms" && ref > 0 {
		switch {
		case ref >= 10_000:
			s.Unit, s.factor = "s", 1e-3
		case ref < 0.1:
			s.Unit, s.factor = "µs", 1e3
		}
	}
	if isShare(unit) {
		s.Unit, s.factor = "%", 100
	}
	s.decimals = decimals(ref * s.factor)
	return s
}

func isShare(unit string) bool { return unit == "share" || unit == "ratio" }

// ScaleForAll picks the scale for values between lo and hi. Milliseconds stay
// milliseconds unless all of the values are many or all are few.
func ScaleForAll(unit string, lo, hi float64) Scale {
	low, high := ScaleFor(unit, lo), ScaleFor(unit, hi)
	if low.Unit == high.Unit {
		return high
	}
	return Scale{Unit: unit, factor: 1, decimals: decimals(hi)}
}

// decimals keeps about four digits of a number of this size.
func decimals(ref float64) int {
	switch {
	case ref >= 1000:
		return 0
	case ref >= 100:
		return 1
	case ref >= 1 || ref == 0:
		return 2
	case ref >= 0.1:
		return 3
	default:
		return 4
	}
}

// Format writes v, in the unit that the scale was made for, without the unit; a dash if not finite.
func (s Scale) Format(v float64) string {
	return s.format(v, s.decimals)
}

// FormatOwn is Format with the decimals that suit v itself, for values of very
// different sizes.
func (s Scale) FormatOwn(v float64) string {
	return s.format(v, decimals(math.Abs(v)*s.multiplier()))
}

func (s Scale) multiplier() float64 {
	if s.factor == 0 { // the zero Scale
		return 1
	}
	return s.factor
}

func (s Scale) format(v float64, decimals int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return group(strconv.FormatFloat(v*s.multiplier(), 'f', decimals, 64))
}

// Value writes one value with its unit, scaled to itself and without trailing
// zeros: "51.2 ms", "1.5 s", "85 %". Shares of one are written as per cent.
func Value(v float64, unit string) string {
	if isShare(unit) {
		return Share(v)
	}
	s := ScaleFor(unit, v)
	n := trimZeros(s.Format(v))
	if s.Unit == "" {
		return n
	}
	return n + " " + s.Unit
}

// Least stands before a number that is known only to be that much or more.
const Least = "≥ "

// AtLeast is a number as text, marked where it is a lower bound.
func AtLeast(text string, bound bool) string {
	if bound {
		return Least + text
	}
	return text
}

// Share writes a share of one as per cent. Only a share of exactly all or
// nothing is written as 100 % or 0 %: a few failures in a million stay visible.
func Share(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	p := v * 100
	switch {
	case p > 0 && p < 0.01:
		return "< 0.01 %"
	case p > 99.99 && p < 100:
		return "> 99.99 %"
	}
	d := 1
	if p < 1 || p > 99 && p < 100 {
		d = 2
	}
	return trimZeros(strconv.FormatFloat(p, 'f', d, 64)) + " %"
}

// Percent writes a share of one in a sentence, with as many digits as a budget has.
func Percent(v float64) string {
	p := v * 100
	digits := 0
	switch {
	case p == 0:
	case math.Abs(p) < 1:
		return strconv.FormatFloat(p, 'g', 2, 64) + " %"
	case p > 90 && p < 100: // where budgets for what was achieved lie
		digits = 2
	case math.Abs(p) < 10:
		digits = 1
	}
	return trimZeros(strconv.FormatFloat(p, 'f', digits, 64)) + " %"
}

// Span writes a time in a sentence, with three digits or so.
func Span(d time.Duration) string { return Millis(float64(d) / float64(time.Millisecond)) }

// Millis is Span for a number of milliseconds.
func Millis(v float64) string {
	switch {
	case v >= 10_000:
		return strconv.FormatFloat(v/1000, 'f', 1, 64) + " s"
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 0, 64) + " ms"
	default:
		return strconv.FormatFloat(v, 'g', 3, 64) + " ms"
	}
}

// Duration writes d as a person says it: "850 ms", "30.1 s", "2 min 5 s",
// "1 h 3 min".
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Duration(-max(d, -math.MaxInt64)) // the least of all has no opposite
	case d < time.Second:
		return Value(float64(d)/1e6, "ms")
	case d < 100*time.Second:
		return trimZeros(strconv.FormatFloat(d.Seconds(), 'f', 1, 64)) + " s"
	case d < time.Hour:
		d = d.Round(time.Second)
		return parts(int64(d/time.Minute), "min", int64(d%time.Minute/time.Second), "s")
	default:
		d = d.Round(time.Minute)
		return parts(int64(d/time.Hour), "h", int64(d%time.Hour/time.Minute), "min")
	}
}

func parts(a int64, unitA string, b int64, unitB string) string {
	s := Count(a) + " " + unitA
	if b != 0 {
		s += " " + Count(b) + " " + unitB
	}
	return s
}

// Seconds is Duration for a number of seconds.
func Seconds(s float64) string {
	if math.IsNaN(s) || math.Abs(s) > math.MaxInt64/1e9 {
		return "-"
	}
	return Duration(time.Duration(s * 1e9))
}

// group puts a comma between the thousands of a plain decimal.
func group(s string) string {
	end := strings.IndexByte(s, '.')
	if end < 0 {
		end = len(s)
	}
	for i := end - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// trimZeros takes the zeros at the end of a decimal fraction away.
func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

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
