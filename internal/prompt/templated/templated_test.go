package templated

import (
	"context"
	"strings"
	"testing"

	"inferometer/internal/chat"
	"inferometer/internal/prompt"
)

// list gives its prompts once.
type list struct {
	prompts []prompt.Prompt
	stage   int
}

func (l *list) Next(context.Context) (prompt.Prompt, error) {
	p := l.prompts[0]
	l.prompts = l.prompts[1:]
	return p, nil
}

func (l *list) SetStage(i int) bool {
	l.stage = i
	return true
}

type words struct{}

func (words) Name() string          { return "words" }
func (words) Count(text string) int { return len(strings.Fields(text)) }

func TestPromptsAreCountedWithTheTemplateAroundThem(t *testing.T) {
	template, err := chat.Parse("{{ bos_token }} {% for m in messages %}[{{ m['role'] }}] {{ m['content'] }} {% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}")
	if err != nil {
		t.Fatal(err)
	}
	inner := &list{prompts: []prompt.Prompt{
		{Text: "one two three", Tokens: 3},
		{Messages: []prompt.Message{{Role: "system", Content: "be brief"}, {Role: "user", Content: "hello"}}, Tokens: 3},
	}}
	s := New(inner, template, chat.Options{Special: map[string]any{"bos_token": "<s>"}, AddGenerationPrompt: true}, words{})
	for _, want := range []int{6, 7} {
		p, err := s.Next(t.Context())
		if err != nil || p.Tokens != want {
			t.Errorf("%d tokens, error %v; want %d", p.Tokens, err, want)
		}
	}
	s.SetStage(4)
	if inner.stage != 4 {
		t.Error("the source was not told of the stage")
	}
}

func TestATemplateThatRefusesIsAnError(t *testing.T) {
	template, err := chat.Parse("{{ raise_exception('no system role') }}")
	if err != nil {
		t.Fatal(err)
	}
	s := New(&list{prompts: []prompt.Prompt{{Text: "x"}}}, template, chat.Options{}, words{})
	if _, err := s.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "no system role") {
		t.Errorf("error %v", err)
	}
}

// A server puts special tokens around the text of a completion.
func TestBetween(t *testing.T) {
	s := Between(&list{prompts: []prompt.Prompt{{Text: "one two", Tokens: 2}, {Text: "not counted", Tokens: -1}}}, 3)
	for _, want := range []int{5, -1} {
		if p, err := s.Next(t.Context()); err != nil || p.Tokens != want {
			t.Errorf("%d tokens, want %d: %v", p.Tokens, want, err)
		}
	}
}
