package dataset

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
)

// Whole chats are the requests that inference-perf 0.7.0 sends for the same rows: it begins
// with the second one, and goes on where it was in the next stage.
//
// differs: ip-rows
func TestWholeChats(t *testing.T) {
	const rows = `[
		{"conversations": [{"from": "human", "value": "last of all"}, {"from": "gpt", "value": "a"}]},
		{"conversations": [{"from": "system", "value": "sys"}, {"from": "human", "value": "q1"}, {"from": "gpt", "value": "a1"}]},
		{"conversations": [{"from": "gpt", "value": "begins"}, {"from": "human", "value": "q2"}]},
		{"conversations": [{"from": "human", "value": "only one"}]},
		{"conversations": [{"from": "human", "value": ""}, {"from": "gpt", "value": "nothing asked"}]},
		{"conversations": []}]`
	for kind, want := range map[string][]string{
		plan.DatasetShareGPT: {"user: sys|user: q1|assistant: a1", "assistant: begins|user: q2", "user: |assistant: nothing asked", "user: last of all|assistant: a"},
		plan.DatasetBillsum:  {"system: sys|human: q1|gpt: a1", "gpt: begins|human: q2", "human: |gpt: nothing asked", "human: last of all|gpt: a"},
		plan.DatasetInfinity: {"assistant: sys|user: q1|assistant: a1", "assistant: begins|user: q2", "user: only one", "assistant: nothing asked", "user: last of all|assistant: a"},
	} {
		d := of(kind, write(t, t.TempDir(), "x.json", rows))
		d.Output = plan.Length{Dist: plan.DistFixed, Mean: 30}
		d.Dataset.Whole, d.Dataset.Start, d.Dataset.GoOn = true, 1, true
		d.Dataset.Input, d.Dataset.Output = plan.Bounds{Min: 100}, plan.Bounds{Min: 100}
		s := must(t, d, true)
		for i, p := range prompttest.FirstPrompts(t, s, 2*len(want)) {
			var got []string
			for _, m := range p.Messages {
				got = append(got, m.Role+": "+m.Content)
			}
			if text := strings.Join(got, "|"); text != want[i%len(want)] || p.Output != 30 {
				t.Errorf("%s, prompt %d: %q and %d tokens, want %q and 30", kind, i, text, p.Output, want[i%len(want)])
			}
			if s.SetStage(1) {
				t.Error("a stage begins anew")
			}
		}
	}
}
