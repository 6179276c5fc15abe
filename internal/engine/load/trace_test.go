package load

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTrace(t *testing.T) {
	moments := []time.Duration{0, 5, 5, 70}
	left := moments
	next := func() (time.Duration, bool) {
		if len(left) == 0 {
			return 0, false
		}
		due := left[0]
		left = left[1:]
		return due, true
	}
	a := Trace(next)
	if diff := cmp.Diff(moments, take(a, 10)); diff != "" {
		t.Error(diff)
	}
	if _, ok := a.Next(); ok {
		t.Error("it goes on after its end")
	}
	left = moments
	s := &sessions{Arrivals: Trace(next)}
	if diff := cmp.Diff([]time.Duration{0, 5, 5, 70, 70, 70}, take(s, 6)); diff != "" {
		t.Error(diff)
	}
}
