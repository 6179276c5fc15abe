package pattern_test

import (
	"testing"

	"github.com/inferometer/inferometer/internal/lib/pattern"
)

func TestNew(t *testing.T) {
	digits := pattern.New(`[0-9]+`)
	if got := digits().FindString("in 42 s"); got != "42" || digits() != digits() {
		t.Errorf("%q, or compiled twice", got)
	}
	wrong := pattern.New(`(`) // not looked at until it is used
	defer func() {
		if recover() == nil {
			t.Error("a faulty expression is taken")
		}
	}()
	wrong()
}
