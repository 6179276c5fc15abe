package compare

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/plan"
)

// TestGates: a gate on a difference is missed where all of its interval is beyond the bound.
func TestGates(t *testing.T) {
	dir := t.TempDir()
	levels := func(p *plan.Plan) { p.Stages = append(p.Stages, plan.Stage{Rate: 5, Requests: p.Stages[0].Requests}) }
	sides, err := Open([]string{
		made{seed: 1, requests: 600, tokens: 2, edit: levels}.write(t, filepath.Join(dir, "a")), made{seed: 2, requests: 600, tokens: 2, edit: levels, slower: 1.1}.write(t, filepath.Join(dir, "b")),
	}, OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Make(sides, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"at rate 5: ttft.p50 > +5%":         "MISSED",
		"ttft.p50 > +5%":                    "MISSED MISSED",
		"at rate 5: ttft.p50 > +9.99%":      "undecided", // within the interval
		"at rate 5: ttft.p50 > +50%":        "held",
		"at rate 5: ttft.p50 > +5ms":        "MISSED",
		"at rate 5: ttft.p50 < +50%":        "MISSED",
		"at rate 5: rps < -3%":              "MISSED",
		"at rate 5: rps < -30%":             "held",
		"at rate 5: ttft.p50 > 105ms":       "MISSED", // of side B
		"at rate 5: ttft.p50 > 150ms":       "held",
		"at rate 5: errors > +1%":           "held 0 on both sides: no change",
		"at rate 5: errors > +1pp":          "held",
		"at concurrency 1: ttft.p50 > +5%":  "MISSED",
		"unless at rate 5: ttft.p50 < +50%": "held",
		"unless at rate 5: ttft.p50 < +5%":  "MISSED",
		"unless at rate 5: ttft.p50 < +10%": "MISSED undecided",
		"unless at rate 5: errors < +1%":    "held 0 on both sides: no change",
		"unless at rate 5: errors < -1%":    "MISSED 0 on both sides: no change",
	} {
		condition, unless := strings.CutPrefix(text, "unless ")
		g, err := gate.Read(plan.Condition{Text: condition, Unless: unless})
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckGate(sides, g); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		var got []string
		for _, o := range c.JudgeGates(sides, []*gate.Gate{g}) {
			got = append(got, o.Word())
			if o.Missed && o.Undecided {
				got = append(got, "undecided")
			}
			if o.Why != "" {
				got = append(got, o.Why)
			}
			if g.Relative() && o.Why == "" && (o.Interval == nil || o.Interval.Lo > o.Value || o.Interval.Hi < o.Value || o.Sensitivity == nil) {
				t.Errorf("%s: %+v", text, o)
			}
		}
		if line := strings.Join(got, " "); line != want {
			t.Errorf("%s: %s, want %s", text, line, want)
		}
	}
	for text, want := range map[string]string{
		"ci(rps) > 5%":         "is about one run",
		"ttft.max > +5%":       "max is not compared (use avg or a percentile)",
		"goodput < -5%":        "a: goodput is not measured",
		"at rate 6: rps < -5%": "no side has a level with rate 6",
	} {
		g, err := gate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckGate(sides, g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
