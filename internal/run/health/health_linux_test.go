package health

import (
	"math"
	"testing"
)

func TestParseQuota(t *testing.T) {
	for _, tt := range []struct {
		text string
		want float64
		ok   bool
	}{
		{"max 100000\n", 0, false},
		{"200000 100000\n", 2, true},
		{"50000 100000", 0.5, true},
		{"150000 100000\n", 1.5, true},
		{"0 100000\n", 0, false},
		{"-1 100000\n", 0, false},
		{"100000 0\n", 0, false},
		{"100000\n", 0, false},
		{"", 0, false},
		{"a b", 0, false},
		{"NaN 100000", 0, false},
		{"Inf 100000", 0, false},
	} {
		got, ok := parseQuota(tt.text)
		if ok != tt.ok || math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("parseQuota(%q) = %v, %v; want %v, %v", tt.text, got, ok, tt.want, tt.ok)
		}
	}
}

func TestLinuxFacts(t *testing.T) {
	if residentSet() <= 0 {
		t.Error("no memory in use")
	}
	if kernelVersion() == "" {
		t.Error("no kernel version")
	}
	if runQueueWait() < 0 {
		t.Error("threads waited for less than nothing")
	}
}
