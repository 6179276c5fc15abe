package result

import (
	"strings"
	"testing"
)

// TestGateWords: what came of gates, in words.
func TestGateWords(t *testing.T) {
	held, missed := Gate{Gate: "a > 1"}, Gate{Gate: "b > 1", Failed: true}
	undecided, unshown := Gate{Gate: "c > +1%", Undecided: true}, Gate{Gate: "d < 1", Unless: true, Undecided: true, Failed: true}
	for _, c := range []struct {
		gates                    []Gate
		headline, column, titled string
	}{
		{[]Gate{held}, "1 gate held", "a > 1", "Fail if"},
		{[]Gate{held, held}, "2 gates held", "a > 1, a > 1", "Fail if"},
		{[]Gate{held, missed}, "1 of 2 gates missed", "a > 1, b > 1", "Fail if"},
		{[]Gate{held, undecided}, "1 of 2 gates undecided, none missed", "a > 1, c > +1%", "Fail if"},
		{[]Gate{missed, undecided, held}, "1 of 3 gates missed, 1 undecided", "b > 1, c > +1%, a > 1", "Fail if"},
		{[]Gate{held, unshown}, "1 of 2 gates missed", "if a > 1, unless d < 1", "Fail"},
	} {
		title, cells := Conditions(c.gates)
		if got := Headline(c.gates); got != c.headline || title != c.titled || strings.Join(cells, ", ") != c.column {
			t.Errorf("%s: %s: %q, want %s: %s: %s", got, title, cells, c.headline, c.titled, c.column)
		}
	}
	for want, g := range map[string]Gate{"held": held, "MISSED": missed, "undecided": undecided} {
		if g.Word() != want {
			t.Errorf("%s, want %s", g.Word(), want)
		}
	}
	if unshown.Word() != "MISSED" {
		t.Error("what is not shown passes")
	}
	difference := Gate{Value: -0.00001, Unit: "share", Difference: true, Interval: &ConfidenceInterval{Lo: -0.02, Hi: 0.013}}
	if got := difference.Found(); got != "< 0.01 % (-2 % to +1.3 %)" {
		t.Error(got)
	}
}
