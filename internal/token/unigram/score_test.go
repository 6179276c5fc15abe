package unigram

import (
	"math"
	"strconv"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// TestParseScore has numbers whose nearest float is another than the one that the
// reference reads (its own responses), and such where both agree.
func TestParseScore(t *testing.T) {
	for text, want := range map[string]float64{
		"-7.4618460547367285":            -7.461846054736728,
		"-7.4767497965507435":            -7.476749796550744,
		"-9.393315374279704":             -9.393315374279704,
		"-10.24272356704256":             -10.24272356704256,
		"0":                              0,
		"0.0":                            0,
		"-0.5":                           -0.5,
		"1e2":                            100,
		"1.5E+3":                         1500,
		"25e-1":                          2.5,
		"18446744073709551615":           18446744073709551615,
		"18446744073709551616":           1844674407370955161 * 10,
		"1.00000000000000000001":         1,
		"123456789012345678901234567890": 12345678901234567890 * 1e10,
		"0e99999999999":                  0,
		"1e-99999999999":                 0,
		"1e-400":                         0,
		"5e-324":                         5e-324,
		"1e308":                          1e308,
	} {
		if got, ok := parseScore([]byte(text)); !ok || got != want {
			t.Errorf("%s is %v, %v; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"1e309", "10e308", "1e99999999999", "1e400"} {
		if got, ok := parseScore([]byte(text)); ok {
			t.Errorf("%s is %v", text, got)
		}
	}
}

func FuzzParseScore(f *testing.F) {
	f.Add(-12.345678901234567, 3)
	f.Add(0.1, -5)
	mutate.Fuzz(f, func(t *testing.T, v float64, digits int) {
		if math.IsNaN(v) || math.IsInf(v, 0) || digits < -1 || digits > 30 || math.Abs(v) > 1e300 {
			return
		}
		for _, format := range []byte{'e', 'f'} {
			text := strconv.FormatFloat(v, format, digits, 64)
			want, err := strconv.ParseFloat(text, 64)
			if err != nil || len(text) > 300 {
				return
			}
			got, ok := parseScore([]byte(text))
			if !ok || math.Abs(got-want) > math.Abs(want)*1e-15+1e-320 {
				t.Errorf("%s is %v, %v; the nearest float is %v", text, got, ok, want)
			}
		}
	})
}
