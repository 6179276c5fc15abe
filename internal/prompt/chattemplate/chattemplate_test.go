package chattemplate

import (
	"context"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/token/chat"
)

// list gives its prompts by their place.
type list struct {
	prompts []prompt.Prompt
	stage   int
}

func (l *list) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	return l.prompts[at.I], nil
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
	for i, want := range []int{6, 7} {
		p, err := s.Prompt(t.Context(), prompt.Position{I: uint64(i)})
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
	if _, err := s.Prompt(t.Context(), prompt.Position{}); err == nil || !strings.Contains(err.Error(), "no system role") {
		t.Errorf("error %v", err)
	}
}

// A server puts special tokens around the text of a completion.
func TestBetween(t *testing.T) {
	s := Between(&list{prompts: []prompt.Prompt{{Text: "one two", Tokens: 2}, {Text: "not counted", Tokens: -1}}}, 3)
	for i, want := range []int{5, -1} {
		if p, err := s.Prompt(t.Context(), prompt.Position{I: uint64(i)}); err != nil || p.Tokens != want {
			t.Errorf("%d tokens, want %d: %v", p.Tokens, want, err)
		}
	}
}

// A request's own fields change what the server renders.
func TestFieldsOfARequestAreCounted(t *testing.T) {
	template, err := chat.Parse("{% for f in tools or [] %}{{ f.function.name }} {% endfor %}{% for m in messages %}{{ m.content }} {% endfor %}" +
		"{% if add_generation_prompt %}[assistant] {% if enable_thinking is false %}<think> </think>{% endif %}{% endif %}{{ documents | default([], true) | join(' ') }}")
	if err != nil {
		t.Fatal(err)
	}
	field := func(pairs ...string) (fields []prompt.Field) {
		for i := 0; i < len(pairs); i += 2 {
			fields = append(fields, prompt.Field{Name: pairs[i], Value: []byte(pairs[i+1])})
		}
		return fields
	}
	run := chat.Options{AddGenerationPrompt: true, Extra: map[string]any{"enable_thinking": false}}
	for _, tc := range []struct {
		fields []prompt.Field
		want   int
	}{
		{nil, 5},
		{field("temperature", "0"), 5},
		{field("chat_template_kwargs", `{"enable_thinking":true}`), 3},
		{field("chat_template_kwargs", `null`), 3},
		{field("add_generation_prompt", "false"), 2},
		{field("continue_final_message", "true"), 2},
		{field("continue_final_message", "true", "add_generation_prompt", "false"), 2},
		{field("continue_final_message", "false"), 5},
		{field("tools", `[{"type":"function","function":{"name":"look"}}]`), 6},
		{field("tools", `[{"type":"function","function":{"name":"look"}}]`, "tool_choice", `"none"`), 5},
		{field("documents", `["a","b c"]`), 7},
	} {
		s := New(&list{prompts: []prompt.Prompt{{Text: "one two", Fields: tc.fields}}}, template, run, words{})
		if p, err := s.Prompt(t.Context(), prompt.Position{}); err != nil || p.Tokens != tc.want {
			t.Errorf("%s: %d tokens, want %d: %v", tc.fields, p.Tokens, tc.want, err)
		}
	}
	s := Between(&list{prompts: []prompt.Prompt{{Text: "a", Tokens: 1, Fields: field("add_special_tokens", "false")}}}, 3)
	if p, err := s.Prompt(t.Context(), prompt.Position{}); err != nil || p.Tokens != 1 {
		t.Errorf("without special tokens: %d, %v", p.Tokens, err)
	}
}
