package wekatrace

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/token"
)

// TestOriginal holds sessions against what the original makes of the same traces, as
// testdata/original.py prints it: which calls there are, what each comes after, how long
// it waits, and the roles and lengths of its messages. The exceptions are explained in
// docs/differences.md.
// differs: ip-weka-forms
func TestOriginal(t *testing.T) {
	raw, err := os.ReadFile("testdata/original.json")
	if err != nil {
		t.Fatal(err)
	}
	var sessions map[string][]struct {
		ID       string
		After    []int
		WaitMS   int64 `json:"wait_ms"`
		Output   int
		Messages [][2]any
	}
	if err := json.Unmarshal(raw, &sessions); err != nil {
		t.Fatal(err)
	}
	// In the end it is always the user who speaks, and nobody speaks twice.
	shapes := map[string]string{
		"chain 3":   "system 32, user 32, assistant 32, user 48, assistant 32, user 16, assistant 16, user 16",
		"rewound 2": "system 16, user 48, assistant 48, user 16",
		"rewound 3": "system 16, user 48, assistant 48, user 16, assistant 16, user 16",
	}
	s := mustOpen(t, plan.Replay{
		Dir: "testdata/original", IdleGap: plan.Duration(time.Minute), MaxWait: plan.Duration(15 * time.Second), MaxTokens: 1000,
	}, token.Words{}, 1)
	if len(sessions) != 5 || s.Sessions() != 5 {
		t.Fatalf("%d sessions of the original, %d of ours", len(sessions), s.Sessions())
	}
	for i := range uint64(5) {
		p, sent := play(t, s, i)
		want := sessions[p.Name]
		if len(want) != len(sent) {
			t.Errorf("%s: %d calls, the original has %d", p.Name, len(sent), len(want))
			continue
		}
		ancestors := make([][]int, len(want))
		for i, w := range want {
			for _, a := range w.After {
				ancestors[i] = append(ancestors[i], append([]int{a}, ancestors[a]...)...)
			}
			// What follows from another edge stands in the original, too.
			after := slices.DeleteFunc(slices.Clone(w.After), func(a int) bool {
				return slices.ContainsFunc(w.After, func(b int) bool { return slices.Contains(ancestors[b], a) })
			})
			if w.Output == 0 {
				w.Output = 1000
			}
			c := p.Graph.Calls[i]
			if c.ID != w.ID || !slices.Equal(c.After, after) || c.Wait.Milliseconds() != w.WaitMS || c.Prompt.Output != w.Output {
				t.Errorf("%s: %s after %v and %v asks for %d; the original: %+v", p.Name, c.ID, c.After, c.Wait, c.Prompt.Output, w)
			}
			var parts []string
			for _, m := range w.Messages {
				parts = append(parts, fmt.Sprintf("%v %v", m[0], m[1]))
			}
			shaped := strings.Join(parts, ", ")
			if own, ok := shapes[fmt.Sprint(p.Graph.Origin, " ", i)]; ok {
				shaped = own
			}
			if got := shape(token.Words{}, sent[i]); got != shaped {
				t.Errorf("%s: %s: %s; the original: %s", p.Name, c.ID, got, shaped)
			}
		}
	}
}
