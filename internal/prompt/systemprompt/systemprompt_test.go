package systemprompt

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
)

type words struct{}

func (words) Name() string          { return "words" }
func (words) Count(text string) int { return len(strings.Fields(text)) }

func (words) Cut(text string, n int) (int, bool) {
	fields := strings.Fields(text)
	if len(fields) < n {
		return 0, false
	}
	return len(strings.Join(fields[:n], " ")), true
}

// asker gives numbered prompts, of which every third is a conversation.
type asker struct {
	prompt.RestartPerStage
	seed uint64
}

func (a asker) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	p := prompt.Prompt{Text: fmt.Sprintf("question %d of %d stage %d", at.I, a.seed, at.Stage), Output: 5}
	p.Measure(words{})
	if at.I%3 == 2 {
		p.Rest = talk{p.Text}
	}
	return p, nil
}

type talk struct{ first string }

func (t talk) Next(a prompt.Response) (prompt.Prompt, time.Duration, error) {
	p := prompt.Prompt{Messages: []prompt.Message{{Role: "user", Content: t.first}, {Role: "assistant", Content: a.Text}, {Role: "user", Content: "and then"}}}
	p.Measure(words{})
	return p, time.Second, nil
}

func construct(t *testing.T, seed uint64, chat bool) *Source {
	t.Helper()
	s, err := New(asker{seed: seed}, 7, chat, words{}, seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSource(t *testing.T) {
	for _, chat := range []bool{false, true} {
		prompttest.Run(t, prompttest.Case{
			New:       func(t *testing.T, seed uint64) prompt.Source { return construct(t, seed, chat) },
			Tokenizer: words{}, MinOutput: 5, MaxOutput: 5, Seeded: true,
		})
	}
}

// The system prompt is a message of its own in a chat, in every turn once, and has its length.
func TestChat(t *testing.T) {
	s := construct(t, 1, true)
	first := prompttest.FirstPrompts(t, s, 3)
	shown := func(p prompt.Prompt) (roles string) {
		if p.Text != "" || p.Messages[0].Content != first[0].Messages[0].Content || len(strings.Fields(p.Messages[0].Content)) != 7 {
			t.Errorf("%+v does not begin with the system prompt of %+v", p, first[0])
		}
		n := 0
		for _, m := range p.Messages {
			roles += m.Role[:1]
			n += len(strings.Fields(m.Content))
		}
		if p.Tokens != n {
			t.Errorf("%d tokens of %d", p.Tokens, n)
		}
		return roles
	}
	if got := shown(first[0]) + " " + shown(first[2]); got != "su su" {
		t.Errorf("roles %s", got)
	}
	next, think, err := first[2].Rest.Next(prompt.Response{Text: "yes it is"})
	if err != nil || think != time.Second || shown(next) != "suau" {
		t.Errorf("%+v after %v: %v", next, think, err)
	}
	own, err := s.Change(prompt.Prompt{Messages: []prompt.Message{{Role: "system", Content: "mine"}, {Role: "user", Content: "so"}}})
	if err != nil || len(own.Messages) != 2 || own.Messages[0].Content != "mine" {
		t.Errorf("a chat keeps its own system prompt: %+v, %v", own, err)
	}
}

// A text begins with it.
func TestText(t *testing.T) {
	all := prompttest.FirstPrompts(t, construct(t, 1, false), 2)
	system, rest, ok := strings.Cut(all[0].Text, "\n\n")
	if !ok || len(strings.Fields(system)) != 7 || rest != "question 0 of 1 stage 0" || !strings.HasPrefix(all[1].Text, system+"\n\n") || all[0].Tokens != 13 {
		t.Errorf("%+v, %+v", all[0], all[1])
	}
}
