package promptfile

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
)

const talks = `{"session_id": "a", "prompt": "one", "osl": 7}
{"session_id": "b", "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "two"}]}
{"prompt": "alone", "model": "m"}
{"session_id": "a", "prompt": "three", "delay": 1.5}
{"session_id": "a", "messages": [{"role": "user", "content": "four"}], "delay": 20, "osl": 3}
`

func TestConversation(t *testing.T) {
	s := source(t, plan.Data{File: "p.jsonl"}, talks)
	p, err := s.Prompt(t.Context(), prompt.Position{})
	if err != nil || p.Session != "a" || p.Turn != 0 || p.Text != "one" || p.Rest == nil {
		t.Fatalf("first turn %+v, %v", p, err)
	}
	type turn struct {
		Turn, Output, Tokens int
		Think                time.Duration
		Said                 []prompt.Message
	}
	var got []turn
	for rest := p.Rest; rest != nil; {
		p, think, err := rest.Next(prompt.Response{Text: "yes indeed"})
		if err != nil {
			t.Fatal(err)
		}
		if p.Session != "a" || p.Hash != prompt.HashMessages(p.Messages) {
			t.Errorf("%+v", p)
		}
		got = append(got, turn{p.Turn, p.Output, p.Tokens, think, p.Messages})
		rest = p.Rest
	}
	first := []prompt.Message{{Role: "user", Content: "one"}, {Role: "assistant", Content: "yes indeed"}, {Role: "user", Content: "three"}}
	second := append(first[:3:3], prompt.Message{Role: "assistant", Content: "yes indeed"}, prompt.Message{Role: "user", Content: "four"})
	want := []turn{{1, 7, 4, 1500 * time.Microsecond, first}, {2, 3, 7, 20 * time.Millisecond, second}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestConversationsOfTheFile(t *testing.T) {
	s := source(t, plan.Data{File: "p.jsonl"}, talks)
	var sessions []string
	for _, p := range prompttest.FirstPrompts(t, s, 5) {
		sessions = append(sessions, p.Session+"/"+p.Model)
	}
	if diff := cmp.Diff([]string{"a/", "b/", "/m", "a#2/", "b#2/"}, sessions); diff != "" {
		t.Error(diff)
	}
	// Two rounds of one conversation share nothing.
	s.SetStage(0)
	list := prompttest.FirstPrompts(t, s, 4)
	one, two := list[0], list[3]
	if _, _, err := one.Rest.Next(prompt.Response{Failed: true}); !errors.Is(err, io.EOF) {
		t.Errorf("after a failure: %v", err)
	}
	if p, _, err := two.Rest.Next(prompt.Response{Text: "x"}); err != nil || len(p.Messages) != 3 || p.Session != "a#2" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestSchedule(t *testing.T) {
	s := source(t, plan.Data{File: "p.jsonl"}, `{"timestamp": 1000.5, "prompt": "second"}
{"timestamp": 1000, "prompt": "first", "session_id": "s"}
{"timestamp": 4000, "prompt": "last"}
{"prompt": "later turn", "session_id": "s"}
`)
	if diff := cmp.Diff([]time.Duration{0, 500 * time.Microsecond, 3 * time.Second}, s.Schedule().List()); diff != "" {
		t.Error(diff)
	}
	if p, _ := s.Prompt(t.Context(), prompt.Position{}); p.Text != "first" || p.Rest == nil {
		t.Errorf("the first is %+v", p)
	}
	if got := source(t, plan.Data{File: "p.jsonl"}, talks).Schedule().List(); got != nil {
		t.Errorf("a file without timestamps has %v", got)
	}
}

func TestFaultsOfConversations(t *testing.T) {
	for text, want := range map[string]string{
		`{"prompt": "x", "delay": -1}`:                               `p.jsonl:1:26: delay: must be a number of milliseconds, is -1`,
		`{"prompt": "x", "timestamp": "now"}`:                        `p.jsonl:1:30: timestamp: must be a number of milliseconds, is "now"`,
		`{"prompt": "x", "session_id": 7}`:                           `p.jsonl:1:31: session_id: must be a string, is a number`,
		"{\"prompt\": \"x\", \"timestamp\": 5}\n{\"prompt\": \"y\"}": `p.jsonl:2:1: timestamp: is missing, and other lines have one (give every line one, or none)`,
	} {
		if _, err := parse("p.jsonl", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}
