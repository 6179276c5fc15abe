package compare

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
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
			if o.Failed && o.Undecided {
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

// TestGateTexts: each line says what it could have seen, and one that is undecided how much more to
// measure.
func TestGateTexts(t *testing.T) {
	dir := t.TempDir()
	a := made{seed: 1, requests: 200, tokens: 2}.write(t, filepath.Join(dir, "a"))
	b := made{seed: 2, requests: 200, tokens: 2}.write(t, filepath.Join(dir, "b"))
	failing := made{seed: 3, requests: 200, tokens: 2, change: func(r *record.Record) {
		if r.Seq%10 == 0 {
			r.Failure = &record.Failure{Class: record.HTTPStatus}
		}
	}}.write(t, filepath.Join(dir, "failing"))
	for _, c := range []struct{ b, text, want string }{
		{b, "ttft.p50 > +10%", `held .*; \+20 % would have been noticed 99 times in 100`},
		{b, "ttft.p50 > +0.5%", `undecided .*; \+1 % would have been noticed \d times? in 10, \+\d.\d % 4 times in 5; noticing \+1 % 4 times in 5 takes [\d,]+ requests on each side, [\d.]+ times as many`},
		{b, "ttft.p50 > +0%", `undecided .*; \+\d.\d % would have been noticed 4 times in 5`},
		{b, "ttft.p50 > +0.5ms", `undecided .*; \+1 ms would have been noticed \d times? in 10, .*`},
		{b, "ttft.p50 < -10%", `held .*; -20 % would have been noticed 99 times in 100`},
		{b, "errors > +1pp", `undecided .*; \+2 percentage points would have been noticed \d times? in 10, .*`},
		{b, "unless ttft.p50 < +10%", `held .*; a side that has not changed would have held it 99 times in 100`},
		{b, "unless ttft.p50 < +0.5%", `MISSED .*; a side that has not changed would have held it \d times? in 10; holding it 4 times in 5 takes [\d,]+ requests on each side, .*`},
		{b, "unless ttft.p50 < +0%", `MISSED .*; a side that has not changed does not hold it; -\d.\d % would have held it 4 times in 5; no length shows that nothing has changed: allow some, such as < \+2%`},
		{failing, "errors > +1%", `MISSED \+10 % \(.*\); 0 on the first side: any more is more than a percentage of that; .*`},
	} {
		sides, err := Open([]string{a, c.b}, OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		made, err := Make(sides, Options{})
		if err != nil {
			t.Fatal(err)
		}
		text, unless := strings.CutPrefix(c.text, "unless ")
		g, err := gate.Read(plan.Condition{Text: text, Unless: unless})
		if err != nil {
			t.Fatal(err)
		}
		o := made.JudgeGates(sides, []*gate.Gate{g})[0]
		line := o.Word() + " " + strings.Join(append([]string{o.Found()}, o.Notes()...), "; ")
		if !regexp.MustCompile("^" + c.want + "$").MatchString(line) {
			t.Errorf("%s: %s", c.text, line)
		}
	}
}

// TestGateDoubt: what the clients can have made is not missed, and what they can have hidden not held.
func TestGateDoubt(t *testing.T) {
	for _, c := range []struct {
		lo, hi, bent  float64
		verdict, want string
	}{
		{-1, 3, 0.5, NoneSeen, "held"},
		{-1, 3, 2.5, NoneSeen, "undecided: the clients' own delays can hide 2.5 ms"},
		{6, 9, 1, Worse, "MISSED"},
		{6, 9, 10, NoneSeen, "undecided: made by the clients"},
		{3, 9, 10, Worse, "undecided"},
	} {
		g, err := gate.Parse("ttft.p50 > +5ms")
		if err != nil {
			t.Fatal(err)
		}
		mid := (c.lo + c.hi) / 2
		r := &Row{Unit: "ms", A: &SideStat{Value: 100}, B: &SideStat{Value: 100 + mid}, Verdict: c.verdict, bent: c.bent, Delta: &Difference{Value: mid, Interval: &Interval{Lo: c.lo, Hi: c.hi}}}
		if c.verdict == NoneSeen {
			r.Why = "made by the clients"
		}
		made := &Comparison{Loads: []Load{{Name: "l"}}}
		out := made.judge(g, &Found{&made.Loads[0], &Table{}, r})
		got := out.Word()
		if out.Why != "" {
			got += ": " + out.Why
		}
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
