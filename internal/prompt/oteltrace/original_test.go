package oteltrace

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// played is a call as testdata/original.json has it: what inference-perf 0.7.0 made of the
// traces beside it, and the requests that it sent where each call was answered as answer
// below does.
type played struct {
	ID       string         `json:"id"`
	After    []int          `json:"after"`
	Wait     int            `json:"wait_ms"`
	Segments [][]any        `json:"segments"`
	User     bool           `json:"user"`
	Program  bool           `json:"program"`
	Body     map[string]any `json:"body"`
}

// liveAnswer is the text of a call's number; a call that called tools calls the same ones
// in the other order.
func liveAnswer(c *prompt.GraphCall, k int, names []string) prompt.Response {
	if len(names) == 0 {
		return prompt.Response{Text: fmt.Sprintf("live %d", k)}
	}
	var a prompt.Response
	for n, name := range slices.Backward(names) {
		n = len(names) - 1 - n
		a.ToolCalls = append(a.ToolCalls, prompt.ToolCall{ID: fmt.Sprintf("live_%d_%d", k, n), Name: name, Arguments: fmt.Sprintf(`{"n": %d}`, n)})
	}
	if len(names) > 1 {
		a.Text = fmt.Sprintf("live text %d", k)
	}
	return a
}

func TestLikeTheOriginal(t *testing.T) {
	raw, err := os.ReadFile("testdata/original.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string][]played
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	tools := map[string][][]string{"tools": {{"weather", "weather"}, {"time"}, nil, nil}}
	for name, want := range all {
		t.Run(name, func(t *testing.T) {
			file, how, _ := strings.Cut(name, ", ")
			r := plan.Replay{Files: []string{"testdata/" + file + ".json"}, ToolMaxTokens: 4096}
			switch how {
			case "no errors":
				r.SkipErrors = true
			case "recorded":
				r.NoSubstitution, r.ToolMaxTokens, r.ToolChoice = true, 0, "as_recorded"
			}
			s := opened(t, r)
			p, err := s.Prompt(t.Context(), prompt.Position{})
			if err != nil {
				t.Fatal(err)
			}
			g := p.Play.Graph
			if len(g.Calls) != len(want) {
				t.Fatalf("%d calls, want %d", len(g.Calls), len(want))
			}
			for i := range g.Calls {
				c := &g.Calls[i]
				got := played{ID: c.ID, After: c.After, Wait: int(c.Wait / time.Millisecond), User: c.User, Program: c.Program}
				if got.After == nil {
					got.After = []int{}
				}
				for _, seg := range c.Segments {
					one := []any{[]string{"unique", "shared", "output"}[seg.Kind], float64(seg.Messages)}
					if seg.Kind != prompt.Own {
						one = append(one, float64(seg.From))
					}
					got.Segments = append(got.Segments, one)
				}
				sent, err := p.Play.Prompt(i)
				if err != nil {
					t.Fatal(err)
				}
				got.Body = want[i].Body // compared below where it is a chat's
				if !reflect.DeepEqual(got, want[i]) {
					got.Body, want[i].Body = nil, nil
					t.Errorf("call %d is %+v\nwant %+v", i, got, want[i])
				}
				if how != "anthropic" {
					sameBody(t, i, &sent, want[i].Body)
				}
				var names []string
				if list := tools[file]; list != nil {
					names = list[i]
				}
				p.Play.Answer(i, liveAnswer(c, i, names))
			}
		})
	}
}

// sameBody compares a prompt with the chat that the original sent.
func sameBody(t *testing.T, i int, p *prompt.Prompt, want map[string]any) {
	t.Helper()
	got := map[string]any{"model": "served", "max_tokens": p.Output, "stream": true, "stream_options": map[string]any{"include_usage": true}, "ignore_eos": p.Tools == nil}
	var messages []any
	for _, m := range p.Messages {
		one := map[string]any{"role": m.Role}
		var calls []any
		for _, c := range m.ToolCalls {
			calls = append(calls, map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments}})
		}
		if calls != nil {
			one["tool_calls"] = calls
		}
		if calls == nil || m.Content != "" {
			one["content"] = m.Content
		}
		if m.ToolCallID != "" {
			one["tool_call_id"] = m.ToolCallID
		}
		messages = append(messages, one)
	}
	got["messages"] = messages
	if p.Tools != nil {
		var list []any
		for _, tool := range p.Tools.List {
			f := map[string]any{"name": tool.Name, "description": nil, "parameters": json.RawMessage(tool.Parameters)}
			if tool.Description != "" {
				f["description"] = tool.Description
			}
			list = append(list, map[string]any{"type": "function", "function": f})
		}
		got["tools"] = list
		switch p.Tools.Choice {
		case prompt.ChoiceNone:
			got["tool_choice"] = "none"
		case prompt.ChoiceAny:
			got["tool_choice"] = "required"
		case prompt.ChoiceNamed:
			got["tool_choice"] = map[string]any{"type": "function", "function": map[string]any{"name": p.Tools.Name}}
		}
	}
	a, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(want, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	var x, y any
	_, _ = json.Unmarshal(a, &x), json.Unmarshal(b, &y)
	if !reflect.DeepEqual(x, y) {
		t.Errorf("call %d sends\n%s\nwant\n%s", i, a, b)
	}
}
