package anthropic

import (
	"reflect"
	"testing"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// session is a chat in which a tool was called.
func session() []prompt.Message {
	return []prompt.Message{
		{Role: "user", Content: "how late?"},
		{Role: "assistant", Content: "I look.", ToolCalls: []prompt.ToolCall{{ID: "c1", Name: "time", Arguments: `{"zone":"CET"}`}, {ID: "c2", Name: "time"}}},
		{Role: "tool", ToolCallID: "c1", Content: "noon"},
		{Role: "assistant", ToolCalls: []prompt.ToolCall{{ID: "c3", Name: "say", Arguments: "broken"}}},
	}
}

func TestToolBodies(t *testing.T) {
	list := []prompt.Tool{{Name: "time", Description: "The time.", Parameters: []byte(`{"type":"object"}`)}, {Name: "say"}}
	const (
		tools    = `"tools":[{"name":"time","description":"The time.","input_schema":{"type":"object"}},{"name":"say","input_schema":{"type":"object","properties":{}}}],`
		messages = `"messages":[{"role":"user","content":"how late?"},{"role":"assistant","content":[{"type":"text","text":"I look."},` +
			`{"type":"tool_use","id":"c1","name":"time","input":{"zone":"CET"}},{"type":"tool_use","id":"c2","name":"time","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"noon"}]},` +
			`{"role":"assistant","content":[{"type":"tool_use","id":"c3","name":"say","input":{"arguments":"broken"}}]}]}`
	)
	for choice, want := range map[prompt.Choice]string{
		prompt.ChoiceOpen: "", prompt.ChoiceNone: "", prompt.ChoiceAny: `"tool_choice":{"type":"any"},`, prompt.ChoiceNamed: `"tool_choice":{"type":"tool","name":"time"},`,
	} {
		p := prompt.Prompt{Output: 3, Messages: session(), Tools: &prompt.Tools{List: list, Choice: choice, Name: "time"}}
		want = `{"stream":true,"model":"mock","max_tokens":3,` + tools + want + messages
		if got, err := newEndpoint(t, target(nil), "").encode(&p); err != nil || string(got) != want {
			t.Errorf("%s, %v\nwant\n%s", got, err, want)
		}
	}
}

func TestReply(t *testing.T) {
	calls := []prompt.ToolCall{{ID: "a", Name: "f", Arguments: `{"x":1}`}, {ID: "b", Name: "g"}}
	for name, tt := range map[string]struct {
		body string
		want prompt.Response
	}{
		"whole": {`{"type":"message","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"so"},{"type":"tool_use","id":"a","name":"f","input":{"x":1}}]}`,
			prompt.Response{Text: "so", ToolCalls: calls[:1]}},
		"nothing": {`{"type":"message"}`, prompt.Response{Empty: true}},
		"stream": {"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"s\"}}\n\n" +
			"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"o\"}}\n\ndata: nonsense\n\n" +
			"data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"b\",\"name\":\"g\",\"input\":{}}}\n\n" +
			"data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{}}}\n\n" +
			"data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"x\\\":\"}}\n\n" +
			"data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"1}\"}}\n\n",
			prompt.Response{Text: "so", ToolCalls: calls}},
	} {
		if got := NewDecoder(nil, false).Reply(&record.Record{Body: []byte(tt.body)}); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v\nwant %+v", name, got, tt.want)
		}
	}
}

// Whatever a server sends, it is read, and read again it says the same.
func FuzzReply(f *testing.F) {
	f.Add([]byte(`{"type":"message","content":[{"type":"tool_use","id":"a","name":"f","input":{"x":1}}]}`))
	f.Add([]byte("data: {}\n\ndata: [DONE]\n\n"))
	mutate.Fuzz(f, func(t *testing.T, body []byte) {
		rec := &record.Record{Body: body}
		first, again := NewDecoder(nil, false).Reply(rec), NewDecoder(nil, false).Reply(rec)
		if !reflect.DeepEqual(first, again) || first.Empty && (first.Text != "" || first.ToolCalls != nil) {
			t.Errorf("%+v\n%+v", first, again)
		}
	})
}
