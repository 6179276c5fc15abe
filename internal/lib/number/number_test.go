package number

import (
	"math"
	"testing"
	"time"
)

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 12345: "12,345", 1234567: "1,234,567",
		-5: "-5", -999: "-999", -1000: "-1,000", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestThings(t *testing.T) {
	for n, want := range map[int64]string{0: "0 hits", 1: "1 hit", 2: "2 hits", 1000: "1,000 hits"} {
		if got := Plural(n, "hit"); got != want {
			t.Errorf("Things(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		unit   string
		ref, v float64
		want   string
		as     string
	}{
		{"ms", 51.234, 51.234, "51.23", "ms"},
		{"ms", 51.234, 1250.5, "1,250.50", "ms"},
		{"ms", 9999, 9999, "9,999", "ms"},
		{"ms", 10000, 10000, "10.00", "s"},
		{"ms", 10000, 31.5, "0.03", "s"},
		{"ms", 0.0987, 0.0987, "98.70", "µs"},
		{"ms", 0.1, 0.1, "0.100", "ms"},
		{"ms", 0, 0, "0.00", "ms"},
		{"tokens", 128, 128, "128.0", "tokens"},
		{"tokens/sec", 4244.13, 4244.13, "4,244", "tokens/sec"},
		{"", 0.0123, 0.0123, "0.0123", ""},
		{"share", 0.34, 0.345, "34.50", "%"},
		{"ms", -20000, -20000, "-20.00", "s"},
		{"ms", math.NaN(), math.NaN(), "-", "ms"},
		{"ms", 1, math.Inf(1), "-", "ms"},
	} {
		s := ScaleFor(c.unit, c.ref)
		if got := s.Format(c.v); got != c.want || s.Unit != c.as {
			t.Errorf("ScaleFor(%q, %v).Format(%v) = %q %q, want %q %q", c.unit, c.ref, c.v, got, s.Unit, c.want, c.as)
		}
	}
	if got := (Scale{}).Format(1234.4); got != "1,234" {
		t.Errorf("zero Scale gives %q", got)
	}
}

func TestScaleForAll(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0.05, 40000, "0.0500 40,000 ms"},
		{0.05, 0.08, "50.00 80.00 µs"},
		{0.05, 8, "0.0500 8.00 ms"},
		{500, 40000, "500.0 40,000 ms"},
		{20000, 400000, "20.00 400.0 s"},
	} {
		s := ScaleForAll("ms", c.lo, c.hi)
		if got := s.FormatOwn(c.lo) + " " + s.FormatOwn(c.hi) + " " + s.Unit; got != c.want {
			t.Errorf("ScaleForAll(%v, %v) gives %q, want %q", c.lo, c.hi, got, c.want)
		}
	}
}

func TestValue(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{200, "ms", "200 ms"},
		{51.25, "ms", "51.25 ms"},
		{0.02, "ms", "20 µs"},
		{60000, "ms", "60 s"},
		{100, "", "100"},
		{1000, "tokens", "1,000 tokens"},
		{0.85, "share", "85 %"},
		{0.999, "ratio", "99.9 %"},
	} {
		if got := Value(c.v, c.unit); got != c.want {
			t.Errorf("Value(%v, %q) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

func TestShare(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0 %", 1: "100 %", 0.5: "50 %", 0.1234: "12.3 %", 0.005: "0.5 %", 0.0012: "0.12 %",
		0.9999999: "> 99.99 %", 0.0000001: "< 0.01 %", 0.9985: "99.85 %", 1.25: "125 %", math.Inf(1): "-",
	} {
		if got := Share(v); got != want {
			t.Errorf("Share(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                                  "0 ms",
		20 * time.Microsecond:              "20 µs",
		850 * time.Millisecond:             "850 ms",
		time.Second:                        "1 s",
		30120 * time.Millisecond:           "30.1 s",
		125 * time.Second:                  "2 min 5 s",
		120 * time.Second:                  "2 min",
		time.Hour - time.Millisecond:       "60 min",
		time.Hour:                          "1 h",
		time.Hour + 3*time.Minute:          "1 h 3 min",
		-2 * time.Second:                   "-2 s",
		math.MinInt64:                      "-2,562,047 h 47 min",
		26*time.Hour + 30*time.Second:      "26 h 1 min",
		99*time.Second + 949999999:         "99.9 s",
		time.Second - 400*time.Nanosecond:  "1,000 ms",
		100*time.Second - time.Millisecond: "100 s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%v) = %q, want %q", d, got, want)
		}
	}
	for s, want := range map[float64]string{30.12: "30.1 s", 0.25: "250 ms", math.NaN(): "-", 1e12: "-"} {
		if got := Seconds(s); got != want {
			t.Errorf("Seconds(%v) = %q, want %q", s, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	for v, want := range map[float64]string{0: "0 %", 0.001: "0.1 %", 0.0123: "1.2 %", 0.05: "5 %", 0.42: "42 %", 0.9896: "98.96 %", 1: "100 %"} {
		if got := Percent(v); got != want {
			t.Errorf("Percent(%v) = %q, want %q", v, got, want)
		}
	}
	for v, want := range map[float64]string{0.0123: "0.0123 ms", 5.054: "5.05 ms", 42.3: "42 ms", 12345: "12.3 s"} {
		if got := Millis(v); got != want {
			t.Errorf("Millis(%v) = %q, want %q", v, got, want)
		}
	}
}

// Where a number of digits, or of words, ends and the next begins.
func TestDigitsAtTheirBounds(t *testing.T) {
	for v, want := range map[float64]int{1000: 0, 999.9: 1, 100: 1, 99.9: 2, 1: 2, 0.99: 3, 0.1: 3, 0.09: 4, 0: 2} {
		if got := decimals(v); got != want {
			t.Errorf("%v has %d decimals, want %d", v, got, want)
		}
	}
	for v, want := range map[float64]string{0.0001: "0.01 %", 0.00009: "< 0.01 %", 0: "0 %", 1: "100 %", 0.9999: "99.99 %", 0.99991: "> 99.99 %"} {
		if got := Share(v); got != want {
			t.Errorf("Share(%v) = %q, want %q", v, got, want)
		}
	}
}
