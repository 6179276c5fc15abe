//go:build linux

package table

import (
	"errors"
	"testing"
)

func TestShow(t *testing.T) {
	for _, tt := range []struct {
		v    float64
		want string
	}{{0.123, "0.12 ms"}, {12.34, "12.3 ms"}, {123.4, "123 ms"}, {1234567, "1,234,567 ms"}, {-4321, "-4,320 ms"}} {
		if got := Show(tt.v, " ms"); got != tt.want {
			t.Errorf("show(%v) = %q, want %q", tt.v, got, tt.want)
		}
	}
}

func TestLineState(t *testing.T) {
	var met, missed, unmeasured Line
	met.AtMost("x", 1, 1, "")
	missed.AtMost("x", 1, 1, "")
	missed.AtLeast("y", 0.99, 1, "")
	unmeasured.AtMost("x", 1, 1, "")
	unmeasured.Miss("peer", errors.New("not installed"))
	for _, tt := range []struct {
		l    Line
		want string
	}{{met, "met"}, {missed, "MISSED"}, {unmeasured, "NOT MEASURED"}, {Line{}, "NOT MEASURED"}} {
		if got := tt.l.State(); got != tt.want {
			t.Errorf("state = %q, want %q", got, tt.want)
		}
	}
}
