package pattern_test

import (
	"testing"

	"github.com/inferometer/inferometer/internal/lib/pattern"
)

func TestNew(t *testing.T) {
	digits := pattern.New(`[0-9]+`)
	first := digits()
	if got := first.FindString("in 42 s"); got != "42" {
		t.Errorf("found %q", got)
	}
	if digits() != first {
		t.Error("compiled twice")
	}
	wrong := pattern.New(`(`) // not looked at until it is used
	defer func() {
		if recover() == nil {
			t.Error("a faulty expression is taken")
		}
	}()
	wrong()
}
