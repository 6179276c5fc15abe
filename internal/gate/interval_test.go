package gate_test

import (
	"testing"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
)

// oneStage has a p99 of 200 ms that can be 180 to 220 by sampling and 199 to 230 by this client.
func oneStage() *result.Stage {
	return &result.Stage{Name: "s", Counts: result.Counts{Sent: 2000, OK: 2000}, Metrics: map[string]result.Stat{
		"time_to_first_token": {
			Unit: "ms", Count: 2000, Distribution: &result.Distribution{P99: 200, P50: 100, P90: 150}, AtLeast: []string{"p90"},
			Intervals: map[string]result.ConfidenceInterval{"p99": {Lo: 180, Hi: 220}}, Error: map[string]result.ErrorBar{"p99": {Lo: 199, Hi: 230}, "p50": {Lo: 98, Hi: 102}},
		},
	}}
}

// TestUnless: what must be shown to hold is missed unless all that the figure can be holds.
func TestUnless(t *testing.T) {
	for text, want := range map[string]struct{ word, why, more string }{
		"ttft.p99 < 231ms": {"held", "", ""},
		"ttft.p99 < 225ms": {"MISSED undecided", "not shown: 225 ms lies within what it can be", "this client can tell it only to be 199 ms to 230 ms, however many requests there are"},
		"ttft.p99 > 190ms": {"MISSED undecided", "not shown: 190 ms lies within what it can be", "if it is 200 ms, about 17,000 requests would show that, 8.2 times as many"},
		"ttft.p99 > 198ms": {"MISSED undecided", "not shown: 198 ms lies within what it can be", "if it is 200 ms, about 410,000 requests would show that, 210 times as many"},
		"ttft.p99 < 190ms": {"MISSED undecided", "not shown: 190 ms lies within what it can be", ""},
		"ttft.p99 < 170ms": {"MISSED", "", ""},
		"ttft.p99 > 170ms": {"held", "", ""},
		"ttft.p50 < 200ms": {"MISSED undecided", "not shown: too few requests for a confidence interval", ""},
		"ttft.p90 < 100ms": {"MISSED", "", ""}, // at least 150 ms
		"itl.p90 < 100ms":  {"MISSED absent", "itl was not measured: no successful request has it", ""},
	} {
		g, err := gate.ParseUnless(text)
		if err != nil {
			t.Fatal(err)
		}
		o := g.JudgeStage(oneStage())
		out := o.Result()
		word := out.Word()
		if out.Undecided {
			word += " undecided"
		}
		if out.Absent {
			word += " absent"
		}
		if word != want.word || out.Why != want.why || out.More != want.more || !out.Unless {
			t.Errorf("%s: %s: %q, %q", text, word, out.Why, out.More)
		}
	}
}

// TestDoubt: a figure that decides a gate says if it might as well lie on the other side.
func TestDoubt(t *testing.T) {
	for text, want := range map[string]string{
		"ttft.p99 > 210ms": "210 ms lies within its 95 % interval, 180 ms to 220 ms: the next run may end otherwise",
		"ttft.p99 > 199ms": "199 ms lies within its 95 % interval, 180 ms to 220 ms: the next run may end otherwise",
		"ttft.p99 > 225ms": "225 ms lies within its error bar, 199 ms to 230 ms: this client cannot tell",
		"ttft.p50 > 101ms": "101 ms lies within its error bar, 98 ms to 102 ms: this client cannot tell",
		"ttft.p99 > 300ms": "",
	} {
		g, err := gate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		o := g.JudgeStage(oneStage())
		if out := o.Result(); out.Why != want || out.Undecided || out.Failed != (o.Value > g.Bound) {
			t.Errorf("%s: %+v, want %q", text, out, want)
		}
	}
}

// TestUnlessFaults: what has no interval cannot be shown.
func TestUnlessFaults(t *testing.T) {
	for text, want := range map[string]string{
		"ttft.max < 200ms":  "there is no confidence interval of max (use avg or a percentile)",
		"output_cost < $2":  "there is no confidence interval of output_cost (of the metrics that are one number, rps, tps, goodput and errors have one)",
		"ci(ttft.p99) < 5%": `"ci(ttft.p99) < 5%" is about an interval, of which nothing is to be shown (use --fail-if)`,
		"tftt.p99 < 5ms":    `"tftt" is not a metric (did you mean ttft?)`,
	} {
		if g, err := gate.Read(plan.Condition{Text: text, Unless: true}); err == nil || g != nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestRounded(t *testing.T) {
	for v, want := range map[float64]int64{0.2: 1, 1: 1, 9.1: 10, 99: 99, 101: 110, 16_320: 17_000} {
		if got := gate.Rounded(v); got != want {
			t.Errorf("%v: %d, want %d", v, got, want)
		}
	}
}
