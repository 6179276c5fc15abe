package load

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTrace(t *testing.T) {
	moments := []time.Duration{0, 5, 5, 70}
	a := Trace(moments)
	if diff := cmp.Diff(moments, take(a, 10)); diff != "" {
		t.Error(diff)
	}
	if _, ok := a.Next(); ok {
		t.Error("it goes on after its end")
	}
}
