package chattemplate

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/token/chat"
)

// growing is a conversation whose turns repeat all that was said.
type growing struct {
	said string
	left int
}

func (g *growing) Next(a prompt.Response) (prompt.Prompt, time.Duration, error) {
	if g.left == 0 {
		return prompt.Prompt{}, 0, io.EOF
	}
	g.left--
	g.said += " " + a.Text + " more"
	return prompt.Prompt{Text: g.said, Tokens: -1, Rest: g}, time.Second, nil
}

func TestLaterTurnsAreCountedToo(t *testing.T) {
	template, err := chat.Parse("<s> {% for m in messages %}{{ m['content'] }}{% endfor %} [assistant]")
	if err != nil {
		t.Fatal(err)
	}
	s := New(&list{prompts: []prompt.Prompt{{Text: "one", Rest: &growing{said: "one", left: 2}}}}, template, chat.Options{}, words{})
	p, err := s.Prompt(t.Context(), prompt.Position{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{3, 5, 7} {
		if p.Tokens != want {
			t.Errorf("%q is counted as %d, want %d", p.Text, p.Tokens, want)
		}
		if want == 7 {
			break
		}
		var think time.Duration
		if p, think, err = p.Rest.Next(prompt.Response{Text: "answer"}); err != nil || think != time.Second {
			t.Fatal(think, err)
		}
	}
	if _, _, err := p.Rest.Next(prompt.Response{}); !errors.Is(err, io.EOF) {
		t.Errorf("the end is %v", err)
	}
}

// Calls of a session whose texts are made late are counted when they are made.
func TestPlaysAreCountedToo(t *testing.T) {
	template, err := chat.Parse("<s> {% for m in messages %}{{ m['role'] }} {{ m['content'] }} {% endfor %}[assistant]")
	if err != nil {
		t.Fatal(err)
	}
	graph := &prompt.Graph{Calls: []prompt.GraphCall{{Make: func(tag string) ([]prompt.Message, int, error) {
		return []prompt.Message{{Role: "system", Content: tag + " be brief"}, {Role: "user", Content: "one two"}}, 5, nil
	}}}}
	source := New(&list{prompts: []prompt.Prompt{{Play: &prompt.Play{Graph: graph, Tag: "[tag]"}}}}, template, chat.Options{}, words{})
	p, err := source.Prompt(t.Context(), prompt.Position{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Play.Prompt(0); err != nil || got.Tokens != 9 {
		t.Errorf("counted as %d, want 9: %v", got.Tokens, err)
	}
	bare := &prompt.Play{Graph: graph}
	if got, err := bare.Prompt(0); err != nil || got.Tokens != 5 {
		t.Errorf("without a template: %d, want 5: %v", got.Tokens, err)
	}
}

// Calls whose messages are kept are counted with live responses, tools and tool calls in them.
func TestRecordedCallsAreCountedToo(t *testing.T) {
	template, err := chat.Parse(`{% for t in tools or [] %}{{ t.function.name }} {{ t.function.parameters.type }} {% endfor %}` +
		`{% for m in messages %}{{ m.role }} {{ m.content }} {% for c in m.tool_calls or [] %}{{ c.function.name }} {{ c.function.arguments.place }} {% endfor %}{% endfor %}[assistant]`)
	if err != nil {
		t.Fatal(err)
	}
	user := prompt.Message{Role: "user", Content: "where"}
	tools := &prompt.Tools{List: []prompt.Tool{{Name: "look", Parameters: []byte(`{"type":"object"}`)}}}
	graph := &prompt.Graph{Calls: []prompt.GraphCall{
		{Prompt: prompt.Prompt{Messages: []prompt.Message{user}, Tools: tools}},
		{After: []int{0}, Prompt: prompt.Prompt{Messages: []prompt.Message{user, {Role: "assistant", Content: "recorded"}, {Role: "tool", Content: "here"}}},
			Segments: []prompt.Segment{{Kind: prompt.Shared, Messages: 1, From: 0}, {Kind: prompt.Output, Messages: 1, From: 0}}},
	}}
	source := New(&list{prompts: []prompt.Prompt{{Play: &prompt.Play{Graph: graph}}}}, template, chat.Options{}, words{})
	p, err := source.Prompt(t.Context(), prompt.Position{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Play.Prompt(0); err != nil || got.Tokens != len([]string{"look", "object", "user", "where", "[assistant]"}) {
		t.Errorf("with a tool: %d: %v", got.Tokens, err)
	}
	p.Play.Answer(0, prompt.Response{Text: "I see", ToolCalls: []prompt.ToolCall{{ID: "1", Name: "look", Arguments: `{"place":"a b c"}`}}})
	if got, err := p.Play.Prompt(1); err != nil || got.Tokens != 2+3+4+2+1 {
		t.Errorf("with a live answer: %d of %+v: %v", got.Tokens, got.Messages, err)
	}
}
