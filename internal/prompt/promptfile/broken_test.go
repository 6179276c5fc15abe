package promptfile

import (
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/token"
)

func TestBrokenFiles(t *testing.T) {
	seeds := []string{
		tooled, "one\ntwo\r\n\n", `["a", {"prompt": "b"}]`, `{"data": [{"payload": [{"messages": [{"role": "user", "content": "x"}], "model": "m"}]}]}`,
		`{"rows": [{"row": {"question": "q", "system_prompt": ""}}]}`, `{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}], "image": ["https://h/x.png"]}`,
		`{"prompt":"a","session_id":"s","timestamp":2.5}` + "\n" + `{"prompt":"b","session_id":"s","delay":10}`,
	}
	for _, name := range []string{"p.jsonl", "p"} {
		mutate.Try(t, mutate.Usual, seeds, func(text string) {
			s, err := New(plan.Data{File: name}, token.Words{}, 1, with(text))
			if err != nil {
				return
			}
			if err := s.Open(t.Context(), prompt.Use{Chat: true, Fields: true}); err != nil {
				t.Error(err)
			}
			for i := range uint64(len(s.chats)) {
				if _, err := s.Prompt(t.Context(), prompt.Position{I: i}); err != nil {
					t.Errorf("%q: %v", text, err)
				}
			}
			s.Notes()
			s.Schedule()
		})
	}
}
