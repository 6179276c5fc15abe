//go:build linux

package adversary

import (
	"encoding/json"
	"math"
	"testing"
)

// Bars are read in every form that a result has had.
func TestPrinted(t *testing.T) {
	for _, tt := range []struct {
		text, stat string
		want       printed
	}{
		{`{"avg":5}`, "avg", printed{value: 5, lo: 5, hi: 5}},
		{`{"avg":5,"error":{"avg":0.5}}`, "avg", printed{value: 5, lo: 4.5, hi: 5.5}},
		{`{"p50":5,"error":{"avg":0.5,"p99":2}}`, "p50", printed{value: 5, lo: 3, hi: 7}},
		{`{"p50":5,"error":{"p50":{"lo":4,"hi":9}}}`, "p50", printed{value: 5, lo: 4, hi: 9, barred: true}},
		{`{"p90":5,"error":{"p99":{"lo":4,"hi":9}}}`, "p90", printed{value: 5, lo: 5, hi: 5}},
		{`{"p99":5,"at_least":["p99"]}`, "p99", printed{value: 5, lo: 5, hi: 5, least: true}},
	} {
		var m map[string]any
		if err := json.Unmarshal([]byte(tt.text), &m); err != nil {
			t.Fatal(err)
		}
		if got, ok := (figures{"x": m}).get("x", tt.stat); !ok || got != tt.want {
			t.Errorf("%s: %s is %+v, want %+v", tt.text, tt.stat, got, tt.want)
		}
	}
	if _, ok := (figures{}).get("x", "avg"); ok {
		t.Error("what is not there is printed")
	}
}

// A figure is judged by its bar, and one that is a lower bound by that.
func TestBeside(t *testing.T) {
	for _, tt := range []struct {
		said      printed
		low, high float64
		want      string
	}{
		{printed{value: 50, lo: 49, hi: 51}, 51.2, 51.2, isTrue},
		{printed{value: 50, lo: 49, hi: 51}, 51.4, 51.4, isLie},
		{printed{value: 50, lo: 49, hi: 51}, 40, 48.8, isTrue},
		{printed{value: 50, lo: 49, hi: 51}, 40, 48.6, isLie},
		{printed{value: 50, lo: 51, hi: 52}, 51, 51, isLie}, // outside of its own bar
		{printed{value: 50, lo: 50, hi: 50, least: true}, 400, math.Inf(1), isTrue},
		{printed{value: 50, lo: 50, hi: 50, least: true}, 40, 400, isTrue},
		{printed{value: 50, lo: 50, hi: 50, least: true}, 40, 45, isLie},
		{printed{value: 50, lo: 50, hi: 50}, 400, math.Inf(1), isLie},
	} {
		f := tt.said.beside("x", tt.low, tt.high, path)
		if got := f.judge(); got != tt.want {
			t.Errorf("%+v, truly %v to %v: %s, want %s", tt.said, tt.low, tt.high, got, tt.want)
		}
	}
}

// Percentiles are those of the reports: interpolated between the two samples next to them.
func TestStatistic(t *testing.T) {
	v := []float64{4, 1, 3, 2, 5}
	for name, want := range map[string]float64{"avg": 3, "min": 1, "max": 5, "p50": 3, "p90": 4.6, "p99.9": 4.996} {
		if got := statistic(name, v); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}
