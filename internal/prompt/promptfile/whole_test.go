package promptfile

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/token"
)

const called = `{"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}`

func wholeSource(t *testing.T, d plan.Data, text string) *Source {
	t.Helper()
	d.File = "p.jsonl"
	s, err := New(d, token.Words{}, 1, func(string) ([]byte, error) { return []byte(text), nil })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Messages with more than a role and a text are kept as they stand, where they can be sent so.
func TestWholeMessages(t *testing.T) {
	const seen = `{"role": "user", "content": [{"type": "text", "text": "see "}, {"type": "image_url", "image_url": {"url": "https://h/x.png", "detail": "low"}}, {"type": "text", "text": "this"}]}`
	const lines = `{"messages": [{"role": "user", "content": "do"}, ` + called + `, {"role": "tool", "tool_call_id": "c", "content": "done"}]}` + "\n" + `{"messages": [` + seen + `]}` + "\n"
	s := wholeSource(t, plan.Data{}, lines)
	if err := s.Open(t.Context(), prompt.Use{Chat: true, Fields: true}); err != nil {
		t.Fatal(err)
	}
	all := prompttest.FirstPrompts(t, s, 2)
	m := all[0].Messages
	if m[0].Raw != nil || string(m[1].Raw) != called || m[1].ToolCalls[0].Name != "f" || m[2].ToolCallID != "c" || m[2].Content != "done" {
		t.Errorf("%+v", m)
	}
	if m := all[1].Messages[0]; string(m.Raw) != seen || m.Content != "see this" || all[1].Tokens != 2 {
		t.Errorf("%+v, %d tokens", m, all[1].Tokens)
	}
	for _, use := range []prompt.Use{{Chat: true}, {Fields: true}} {
		err := wholeSource(t, plan.Data{}, lines).Open(t.Context(), use)
		if err == nil || !strings.Contains(err.Error(), "p.jsonl:1: messages: has tool calls, images or other fields") {
			t.Errorf("%+v: %v", use, err)
		}
	}
}

// Salt comes first in such a message, too.
func TestSaltOfWholeMessages(t *testing.T) {
	for raw, want := range map[string]string{
		`{"role": "user", "name": "a", "content": "hi"}`:                                 `{"content":"SALT hi","name":"a","role":"user"}`,
		`{"role": "user", "content": [{"type": "input_audio", "input_audio": {"a":1}}]}`: `{"content":[{"text":"SALT ","type":"text"},{"type":"input_audio","input_audio":{"a":1}}],"role":"user"}`,
		called: `{"content":"SALT ","role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
	} {
		s := wholeSource(t, plan.Data{Salt: plan.SaltRequest}, `{"messages": [`+raw+`]}`)
		m := prompttest.FirstPrompts(t, s, 1)[0].Messages[0]
		word, _, _ := strings.Cut(m.Content, " ")
		if got := strings.ReplaceAll(string(m.Raw), word, "SALT"); len(word) != 13 || got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

// Every field of a line is sent where that is asked for, but for those that are its prompt.
func TestAllFields(t *testing.T) {
	const line = `{"question": "why?", "system_prompt": "s", "topic": {"a": [1]}, "temperature": 0.5, "osl": 3, "id": null}`
	for _, whole := range []bool{false, true} {
		s := wholeSource(t, plan.Data{AllFields: whole}, line)
		if err := s.Open(t.Context(), prompt.Use{Chat: true, Fields: true}); err != nil {
			t.Fatal(err)
		}
		sent := ""
		for _, f := range prompttest.FirstPrompts(t, s, 1)[0].Fields {
			sent += f.Name + "=" + string(f.Value) + " "
		}
		want, notes := "temperature=0.5 ", 1
		if whole {
			want, notes = `temperature=0.5 topic={"a": [1]} `, 0
		}
		if sent != want || len(s.Notes()) != notes {
			t.Errorf("all %t: sends %s, says %v", whole, sent, s.Notes())
		}
	}
}
