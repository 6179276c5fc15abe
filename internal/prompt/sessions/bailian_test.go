package sessions

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// bailian are lines as Alibaba publishes its traces: seconds, and blocks of 16 tokens.
const bailian = `{"chat_id": 159, "parent_chat_id": -1, "timestamp": 61.114, "input_length": 40, "output_length": 132, "type": "text", "turn": 1, "hash_ids": [1089, 1090, 1091]}
{"chat_id": 160, "parent_chat_id": 159, "timestamp": 62.5, "input_length": 60, "output_length": 80, "type": "search", "turn": 2, "hash_ids": [1089, 1090, 7, 8]}
`

func TestBailianTrace(t *testing.T) {
	s, err := payload(t, bailian, plan.Payload{Alone: true})
	if err != nil {
		t.Fatal(err)
	}
	if due := s.Schedule().List(); !slices.Equal(due, []time.Duration{0, 1386 * time.Millisecond}) {
		t.Errorf("due at %v, want 0 and 1.386s", due)
	}
	var texts []string
	for i, want := range []struct{ tokens, output int }{{40, 132}, {60, 80}} {
		p, err := s.Prompt(t.Context(), prompt.Position{I: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		if p.Tokens != want.tokens || p.Output != want.output || p.Session != "" || p.Rest != nil || len(p.Fields) > 0 {
			t.Errorf("request %d: %+v, want %+v and a request of its own", i, p, want)
		}
		texts = append(texts, p.Text)
	}
	a, b := strings.Fields(texts[0]), strings.Fields(texts[1])
	if !slices.Equal(a[:32], b[:32]) || a[33] == b[33] && a[34] == b[34] {
		t.Errorf("two blocks of 16 tokens are to be the same:\n%q\n%q", texts[0], texts[1])
	}
	if notes := s.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "Bailian") {
		t.Errorf("noted %q", notes)
	}
}

func TestTracesOfOtherBlocksAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		// Bailian's without the names that tell it.
		`{"timestamp": 1, "input_length": 40, "output_length": 3, "hash_ids": [1, 2, 3]}`: "at 512 per hash",
		bailian + `{"timestamp": 70, "input_length": 40}`:                                 "not all lines have them",
		`{"timestamp": 70, "input_length": 40}` + "\n" + bailian:                          "not all lines have them",
		strings.Replace(bailian, "61.114", `"noon"`, 1):                                   "not a number of seconds",
	} {
		if _, err := payload(t, text, plan.Payload{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
