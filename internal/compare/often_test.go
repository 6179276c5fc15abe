package compare

import (
	"testing"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/result"
)

func TestOften(t *testing.T) {
	for p, want := range map[float64]string{
		1: "99 times in 100", 0.985: "99 times in 100", 0.9849: "19 times in 20", 0.93: "19 times in 20",
		0.9299: "9 times in 10", 0.5: "5 times in 10", 0.15: "2 times in 10", 0.149: "1 time in 10", 0.1: "1 time in 10",
		0.07: "1 time in 10", 0.0699: "1 time in 20", 0.02: "1 time in 20", 0.0199: "hardly ever", 0: "hardly ever",
	} {
		if got := often(p); got != want {
			t.Errorf("a chance of %v is %q, not %q", p, got, want)
		}
	}
}

// What clients can hide counts from the point on at which it reaches the bound, and not before.
func TestDoubtBegins(t *testing.T) {
	for _, c := range []struct {
		name       string
		unless     bool
		before     gate.Judgement
		bent, high float64
		undecided  bool
		hidden     bool
	}{
		{"undecided, half of the bound hidden", true, gate.Judgement{Undecided: true}, 0.25, 0.75, true, false},
		{"undecided, more than half hidden", true, gate.Judgement{Undecided: true}, 0.26, 0.75, true, true},
		{"held, and as far from the bound as is hidden", false, gate.Judgement{}, 0.25, 0.25, false, false},
		{"held, and nearer to the bound than is hidden", false, gate.Judgement{}, 0.26, 0.25, true, true},
	} {
		g := &gate.Gate{Op: ">", Bound: 0.5, Unless: c.unless}
		d := &gated{bound: 0.5, at: result.ConfidenceInterval{Lo: 0, Hi: c.high}, bent: c.bent, scale: 1}
		o := c.before
		if d.doubt(g, &o, &Row{}); o.Undecided != c.undecided || (o.Why != "") != c.hidden {
			t.Errorf("%s: %+v", c.name, o)
		}
	}
}
