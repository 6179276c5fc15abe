package openai

import (
	"reflect"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
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
		tools    = `"tools":[{"type":"function","function":{"name":"time","description":"The time.","parameters":{"type":"object"}}},{"type":"function","function":{"name":"say"}}],`
		messages = `"messages":[{"role":"user","content":"how late?"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"time","arguments":"{\"zone\":\"CET\"}"}},` +
			`{"id":"c2","type":"function","function":{"name":"time","arguments":""}}],"content":"I look."},{"role":"tool","tool_call_id":"c1","content":"noon"},` +
			`{"role":"assistant","tool_calls":[{"id":"c3","type":"function","function":{"name":"say","arguments":"broken"}}]}]}`
	)
	e, err := newBodyEncoder(Chat, plan.Target{Model: "m"}, plan.Data{IgnoreEOS: true, MinTokens: true})
	if err != nil {
		t.Fatal(err)
	}
	for choice, want := range map[prompt.Choice]string{
		prompt.ChoiceOpen: "", prompt.ChoiceNone: `"tool_choice":"none",`, prompt.ChoiceAny: `"tool_choice":"required",`,
		prompt.ChoiceNamed: `"tool_choice":{"type":"function","function":{"name":"time"}},`,
	} {
		p := prompt.Prompt{Output: 3, Messages: session(), Tools: &prompt.Tools{List: list, Choice: choice, Name: "time"}}
		want = `{"ignore_eos":false,"model":"m","max_tokens":3,` + tools + want + messages
		if got := encoded(t, &e, &p); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
	p := prompt.Prompt{Messages: []prompt.Message{{Role: "assistant", Reasoning: "hm", Content: "so"}}}
	want := `{"ignore_eos":true,"model":"m","messages":[{"role":"assistant","reasoning_content":"hm","reasoning":"hm","content":"so"}]}`
	if got := encoded(t, &e, &p); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestReply(t *testing.T) {
	calls := []prompt.ToolCall{{ID: "a", Name: "f", Arguments: `{"x":1}`}, {ID: "b", Name: "g"}}
	chunk := func(delta string) string { return `data: {"choices":[{"index":0,"delta":` + delta + "}]}\n\n" }
	for name, tt := range map[string]struct {
		body string
		want prompt.Response
	}{
		"whole": {`{"choices":[{"index":0,"message":{"role":"assistant","content":"so","reasoning":"hm","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"b","function":{"name":"g","arguments":""}}]}}]}`,
			prompt.Response{Text: "so", Reasoning: "hm", ToolCalls: calls}},
		"parts": {chunk(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"h"},{"type":"text","text":"m"}]}]}`) + chunk(`{"content":[{"type":"thinking","thinking":"!"},{"type":"text","text":"so"}]}`),
			prompt.Response{Text: "so", Reasoning: "hm!"}},
		"no content": {`{"choices":[{"index":0,"message":{"content":null}}]}`, prompt.Response{}},
		"no choices": {`{"choices":[]}`, prompt.Response{Empty: true}},
		"stream": {chunk(`{"role":"assistant","content":""}`) + chunk(`{"reasoning_content":"hm"}`) + chunk(`{"content":"so"}`) +
			chunk(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}`) +
			chunk(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"g"}},{"index":0,"function":{"arguments":"{\"x\":"}}]}`) +
			chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`) + `data: {"choices":[{"index":1,"delta":{"content":"other"}}]}` + "\n\ndata: [DONE]\n\n",
			prompt.Response{Text: "so", Reasoning: "hm", ToolCalls: calls}},
	} {
		if got := NewDecoder(Chat, nil, false).Reply(&record.Record{Body: []byte(tt.body)}); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v\nwant %+v", name, got, tt.want)
		}
	}
}

// Whatever a server sends, it is read, and read again it says the same.
func FuzzReply(f *testing.F) {
	f.Add([]byte(`{"choices":[{"message":{"content":"so","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}`))
	f.Add([]byte("data: {}\n\ndata: [DONE]\n\n"))
	f.Add([]byte(`{"choices":[{"message":{"content":[{"thinking":[{"text":"a"}]},{"text":"b"}]}}]}`))
	mutate.Fuzz(f, func(t *testing.T, body []byte) {
		rec := &record.Record{Body: body}
		first, again := NewDecoder(Chat, nil, false).Reply(rec), NewDecoder(Chat, nil, false).Reply(rec)
		if !reflect.DeepEqual(first, again) || first.Empty && (first.Text != "" || first.ToolCalls != nil) {
			t.Errorf("%+v\n%+v", first, again)
		}
	})
}
