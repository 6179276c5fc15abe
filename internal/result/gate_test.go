package result_test

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/result"
)

// TestGateWords: what came of gates, in words.
func TestGateWords(t *testing.T) {
	held, missed := result.Gate{Gate: "a > 1"}, result.Gate{Gate: "b > 1", Failed: true}
	undecided, unshown := result.Gate{Gate: "c > +1%", Undecided: true}, result.Gate{Gate: "d < 1", Unless: true, Undecided: true, Failed: true}
	for _, c := range []struct {
		gates                    []result.Gate
		headline, column, titled string
	}{
		{[]result.Gate{held}, "1 gate held", "a > 1", "Fail if"},
		{[]result.Gate{held, held}, "2 gates held", "a > 1, a > 1", "Fail if"},
		{[]result.Gate{held, missed}, "1 of 2 gates missed", "a > 1, b > 1", "Fail if"},
		{[]result.Gate{held, undecided}, "1 of 2 gates undecided, none missed", "a > 1, c > +1%", "Fail if"},
		{[]result.Gate{missed, undecided, held}, "1 of 3 gates missed, 1 undecided", "b > 1, c > +1%, a > 1", "Fail if"},
		{[]result.Gate{held, unshown}, "1 of 2 gates missed", "if a > 1, unless d < 1", "Fail"},
	} {
		title, cells := result.Conditions(c.gates)
		if got := result.Headline(c.gates); got != c.headline || title != c.titled || strings.Join(cells, ", ") != c.column {
			t.Errorf("%s: %s: %q, want %s: %s: %s", got, title, cells, c.headline, c.titled, c.column)
		}
	}
	for want, g := range map[string]result.Gate{"held": held, "MISSED": missed, "undecided": undecided} {
		if g.Word() != want {
			t.Errorf("%s, want %s", g.Word(), want)
		}
	}
	if unshown.Word() != "MISSED" {
		t.Error("what is not shown passes")
	}
	difference := result.Gate{Value: -0.00001, Unit: "share", Difference: true, Interval: &result.ConfidenceInterval{Lo: -0.02, Hi: 0.013}}
	if got := difference.Found(); got != "< 0.01 % (-2 % to +1.3 %)" {
		t.Error(got)
	}
}
