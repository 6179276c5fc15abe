package prompt

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// wire is a chat as one line.
func wire(messages []Message) string {
	var out []string
	for _, m := range messages {
		text := m.Role + ":" + m.Content
		if m.Reasoning != "" {
			text += "(" + m.Reasoning + ")"
		}
		for _, c := range m.ToolCalls {
			text += fmt.Sprintf("[%s %s %s]", c.ID, c.Name, c.Arguments)
		}
		if m.ToolCallID != "" {
			text += "<" + m.ToolCallID
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func user(text string) Message { return Message{Role: "user", Content: text} }
func tool(id, text string) Message {
	return Message{Role: "tool", ToolCallID: id, Content: text}
}

// calling is a message that calls tools: "id name arguments" each.
func calling(text string, calls ...string) Message {
	m := Message{Role: "assistant", Content: text}
	for _, c := range calls {
		p := strings.SplitN(c, " ", 3)
		m.ToolCalls = append(m.ToolCalls, ToolCall{p[0], p[1], p[2]})
	}
	return m
}

func TestPlayPutsAnswersIn(t *testing.T) {
	recorded := []Message{user("a"), calling("", "r1 f {}", "r2 g {}"), tool("r1", "one"), tool("r2", "two"), user("b")}
	for _, tc := range []struct {
		name   string
		change func(*Play)
		answer Response
		want   string
	}{
		{"text", nil, Response{Text: "live", Reasoning: "hm"}, "user:a assistant:live(hm) tool:one<r1 tool:two<r2 user:b"},
		{"calls", nil, Response{ToolCalls: calling("", "l1 f {}", "l2 g {}").ToolCalls}, "user:a assistant:[l1 f {}][l2 g {}] tool:one<l1 tool:two<l2 user:b"},
		{"another order", nil, Response{ToolCalls: calling("", "l1 g {}", "l2 f {}").ToolCalls}, "user:a assistant:[l1 g {}][l2 f {}] tool:one<l2 tool:two<l1 user:b"},
		{"one is missing", nil, Response{ToolCalls: calling("", "l1 g {}").ToolCalls}, "user:a assistant:[l1 g {}] tool:one<r1 tool:two<l1 user:b"},
		{"the same twice", nil, Response{ToolCalls: calling("", "l1 f {}", "l2 f {}").ToolCalls}, "user:a assistant:[l1 f {}][l2 f {}] tool:one<l1 tool:two<r2 user:b"},
		{"no answer", nil, Response{Empty: true}, wire(recorded)},
		{"as recorded", func(p *Play) { p.Graph.Recorded = true }, Response{Text: "live"}, wire(recorded)},
		{"tag", func(p *Play) { p.Tag = "T " }, Response{Text: "live"}, "user:T a assistant:live tool:T one<r1 tool:T two<r2 user:T b"},
		{"broken", nil, Response{ToolCalls: calling("", "l1 f {").ToolCalls}, "user:a assistant:[l1 f {] tool:one<l1 tool:two<r2 user:b"},
		{"broken, repaired", func(p *Play) { p.Graph.Repair = true }, Response{ToolCalls: calling("", "l1 f {").ToolCalls}, wire(recorded)},
		{"no calls in the record", func(p *Play) { p.Graph.Calls[1].Prompt.Messages[1].ToolCalls = nil },
			Response{ToolCalls: calling("", "l1 x {}", "l2 y {}").ToolCalls}, "user:a assistant:[l1 x {}][l2 y {}] tool:one<l1 tool:two<l2 user:b"},
	} {
		messages := append([]Message(nil), recorded...)
		p := &Play{Name: "s", Graph: &Graph{Calls: []GraphCall{
			{ID: "first", Prompt: Prompt{Messages: messages[:1]}},
			{ID: "second", After: []int{0}, Prompt: Prompt{Messages: messages}, Segments: []Segment{{Shared, 1, 0}, {Output, 1, 0}, {Own, 3, 0}}},
		}}}
		if tc.change != nil {
			tc.change(p)
		}
		before := wire(messages)
		if _, err := p.Prompt(0); err != nil {
			t.Fatal(err)
		}
		p.Answer(0, tc.answer)
		got, err := p.Prompt(1)
		if err != nil || wire(got.Messages) != tc.want || got.Session != "s" || got.Turn != 1 || got.Call != "second" || got.Tokens != -1 {
			t.Errorf("%s: %v: %+v\n%s\nwant\n%s", tc.name, err, got, wire(got.Messages), tc.want)
		}
		if repaired := len(p.Repaired()) == 1; repaired != (tc.name == "broken, repaired") {
			t.Errorf("%s: repaired %v", tc.name, p.Repaired())
		}
		if wire(messages) != before {
			t.Errorf("%s: the record is another one:\n%s\n%s", tc.name, wire(messages), before)
		}
	}
}

// A record that is broken as well is no help.
func TestFaultyRecord(t *testing.T) {
	p := &Play{Graph: &Graph{Repair: true, Calls: []GraphCall{
		{ID: "first", Prompt: Prompt{Messages: []Message{user("a")}}},
		{After: []int{0}, Prompt: Prompt{Messages: []Message{calling("", "r1 f nonsense")}}, Segments: []Segment{{Output, 1, 0}}},
	}}}
	p.Answer(0, Response{ToolCalls: calling("", "l1 f {").ToolCalls})
	_, err := p.Prompt(1)
	if faulty := new(FaultyRecord); !errors.As(err, &faulty) || faulty.Of != "first" {
		t.Error(err)
	}
}

// chars counts characters.
type chars struct{ Tokenizer }

func (chars) Count(text string) int { return len(text) }

// What the model is told of its tools is part of the input, whose length no template gives.
func TestPlayCountsTools(t *testing.T) {
	tools := &Tools{List: []Tool{{Name: "look", Description: "See <it>.", Parameters: []byte(`{"type": "object"}`)}, {Name: "stop"}, {Name: "odd", Parameters: []byte(`{`)}}}
	const told = `{"type":"function","function":{"name":"look","description":"See <it>.","parameters":{"type":"object"}}}` + "\n" +
		`{"type":"function","function":{"name":"stop"}}` + "\n" +
		`{"type":"function","function":{"name":"odd"}}` + "\n{"
	if got := tools.text(); got != told {
		t.Errorf("told of tools:\n%s\nwant:\n%s", got, told)
	}
	for _, tc := range []struct {
		name string
		play *Play
		want int
	}{
		{"counted", &Play{Count: chars{}}, 1 + len(told)},
		{"as the server counts", &Play{Count: chars{}, Measure: func(Prompt) (int, error) { return 7, nil }}, 7},
		{"not counted", &Play{}, -1},
	} {
		tc.play.Graph = &Graph{Calls: []GraphCall{{ID: "first", Prompt: Prompt{Messages: []Message{user("a")}, Tools: tools}}}}
		if got, err := tc.play.Prompt(0); err != nil || got.Tokens != tc.want {
			t.Errorf("%s: %d tokens, want %d (%v)", tc.name, got.Tokens, tc.want, err)
		}
	}
}
