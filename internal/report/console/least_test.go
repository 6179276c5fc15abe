package console

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/repeat"
	"github.com/inferometer/inferometer/internal/result"
)

// hung is a latency that is a lower bound in its average and its upper percentiles.
func hung() result.Stat {
	s := around("ms", 1400, 3000)
	s.Censored, s.AtLeast = 120, []string{"avg", "max", "std", "p95", "p99", "p99.9"}
	return s
}

// TestLowerBounds: a figure that is known only to be at least something says so wherever it is
// printed, and none else does.
func TestLowerBounds(t *testing.T) {
	one, several, parted := oneStage(), threeStages(), targets()
	one.Stages[0].Metrics["time_to_first_token"] = hung()
	several.Stages[1].Metrics["time_to_first_token"] = hung()
	parted.Stages[0].Targets[0].Metrics["time_to_first_token"] = hung()
	for name, tt := range map[string]struct {
		text string
		want string // of a line
	}{
		"a stage":  {text(t, one, Options{Width: 160}), `Time to first token +ms +≥ 3,060 +2,400.* 3,000 .* 3,600 +≥ 3,900 +≥ 5,400 +≥ 7,200 +≥ 7,500 +≥ 330`},
		"stages":   {text(t, several, Options{Width: 160}), `^ *2 .* ≥ 5,400`},
		"a target": {text(t, parted, Options{Width: 160}), `a:8000.* ≥ 5,400`},
	} {
		t.Run(name, func(t *testing.T) {
			if !regexp.MustCompile("(?m)" + tt.want).MatchString(tt.text) {
				t.Errorf("%s\nhas no line like %s", tt.text, tt.want)
			}
			if name != "a target" && !strings.Contains(tt.text, leastText) {
				t.Errorf("%s\ndoes not say what ≥ means", tt.text)
			}
		})
	}
	if text := text(t, oneStage(), Options{Width: 160}); strings.Contains(text, "≥") {
		t.Errorf("%s\nhas a lower bound", text)
	}
}

// TestLowerBoundsOverRuns: the mean over runs of which one has a lower bound is one, and has no
// interval.
func TestLowerBoundsOverRuns(t *testing.T) {
	runs := repeated(50.1, 52.3, 49.2)
	s := runs[1].Result.Stages[0].Metrics["time_to_first_token"]
	s.Censored, s.AtLeast = 3, []string{"avg", "p99"}
	runs[1].Result.Stages[0].Metrics["time_to_first_token"] = s
	d := repeat.Make(runs, 3, "v1")
	f := d.Stages[0].Metrics["time_to_first_token"].Stats
	if !f["avg"].AtLeast || f["avg"].Interval != nil || f["avg"].Within != nil || f["p50"].AtLeast || f["p50"].Interval == nil {
		t.Errorf("%+v", f)
	}
	if m := d.Mean(runs).Stages[0].Metrics["time_to_first_token"]; !m.Open("avg") || !m.Open("p99") || m.Open("p50") {
		t.Errorf("%+v", m)
	}
	var b bytes.Buffer
	if err := Repeats(&b, d, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"≥ 50.5", "~≥ 101", leastText} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s\ndoes not say %s", b.String(), want)
		}
	}
}
