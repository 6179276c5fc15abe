package inferometer

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/repeat"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
)

// Each side is first as often as the other, and a drift over two rounds is the same for both.
func TestOrderOfSides(t *testing.T) {
	var text strings.Builder
	for round := 1; round <= 4; round++ {
		for _, side := range order(round) {
			text.WriteString(sideNames[side])
		}
	}
	if got := text.String(); got != "ABBAABBA" {
		t.Errorf("order %s", got)
	}
}

// measured are runs with a time to first token each.
func measured(values ...float64) []repeat.Run {
	var runs []repeat.Run
	for _, v := range values {
		runs = append(runs, repeat.Run{Result: &result.Result{
			Verdict: result.Verdict{Status: result.Valid, Valid: true},
			Stages: []result.Stage{{Load: "8 in flight", Counts: result.Counts{Sent: 1}, Metrics: map[string]result.Stat{
				"time_to_first_token": {Unit: "ms", Avg: v, Distribution: &result.Distribution{P99: v}},
			}}},
		}})
	}
	return runs
}

func TestUntil(t *testing.T) {
	p := plan.Default()
	p.Stages = []plan.Stage{{Concurrency: 8}}
	for name, tt := range map[string]struct {
		runs []repeat.Run
		met  bool
	}{
		"narrow":            {measured(100, 100.1, 99.9), true},
		"wide":              {measured(80, 100, 120), false},
		"narrow by chance":  {measured(100, 100), false},
		"one does not tell": {measured(100), false},
	} {
		g, err := newGoal(&args.Repeat{Until: "ci(ttft.p99) < 5%"}, &p)
		if err != nil {
			t.Fatal(err)
		}
		d := repeat.Make(tt.runs, 20, "v")
		if got := g.met(d, tt.runs); got != tt.met || g.found().Met != tt.met {
			t.Errorf("%s: met %v, %+v", name, got, g.found())
		}
	}
	if g, err := newGoal(&args.Repeat{}, &p); g.met(nil, nil) || g.found() != nil || err != nil {
		t.Error("no goal is met")
	}
	for text, want := range map[string]string{
		"ttft.p99 < 5ms":               "is not about an interval",
		"ci(ttft.p99) > 5%":            "asks for a wide interval",
		"ci(nonsense) < 5%":            "not a metric",
		"ci(ttft.p99":                  "--until",
		"at rate 7: ci(ttft.p99) < 5%": "there is no level",
	} {
		if _, err := newGoal(&args.Repeat{Until: text}, &p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestCodeOfRepeats(t *testing.T) {
	for _, tt := range []struct {
		d    repeat.Document
		code int
	}{
		{repeat.Document{Valid: true}, tool.ExitOK},
		{repeat.Document{Valid: true, Ended: repeat.EndedUntil, Until: &repeat.Until{Met: true}}, tool.ExitOK},
		{repeat.Document{Valid: true, Until: &repeat.Until{}}, tool.ExitMissed},
		{repeat.Document{Until: &repeat.Until{}}, tool.ExitRun}, // what cannot be trusted comes first
		{repeat.Document{Valid: true, Ended: repeat.EndedInterrupted}, tool.ExitRun},
		{repeat.Document{Valid: true, Ended: repeat.EndedFailed}, tool.ExitRun},
	} {
		if got := repeatsCode(&tt.d); got != tt.code {
			t.Errorf("%+v: exit code %d", tt.d, got)
		}
	}
}
