package responses

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

func newEndpoint(t *testing.T, d plan.Data, change func(*plan.Target)) (*Endpoint, error) {
	t.Helper()
	target := plan.Default().Target
	target.Endpoint, target.Model, target.URLs = plan.EndpointResponses, "mock", []string{"http://localhost:1"}
	if change != nil {
		change(&target)
	}
	return New(target, endpoint.Options{Clock: timedconn.NewClock(), TLS: new(tls.Config), RunID: "run", Data: d})
}

func TestBodies(t *testing.T) {
	image := prompt.Part{Kind: prompt.Image, Type: "image/png", Data: []byte("abc")}
	sound := prompt.Part{Kind: prompt.Audio, Type: "audio/wav", Data: []byte("abc")}
	const front = `{"store":false,"stream":true,"model":"mock",`
	tools := &prompt.Tools{List: []prompt.Tool{{Name: "time", Description: "The time.", Parameters: []byte(`{"type":"object"}`)}, {Name: "say"}},
		Choice: prompt.ChoiceNamed, Name: "time"}
	const said = `"tools":[{"type":"function","name":"time","description":"The time.","parameters":{"type":"object"}},` +
		`{"type":"function","name":"say","parameters":{"type":"object","properties":{}}}],"tool_choice":{"type":"function","name":"time"},`
	for _, tt := range []struct {
		data   plan.Data
		change func(*plan.Target)
		prompt prompt.Prompt
		want   string
	}{
		{plan.Data{}, nil, prompt.Prompt{Text: "hi", Output: 3}, front + `"max_output_tokens":3,"input":"hi"}`},
		{plan.Data{}, func(t *plan.Target) { t.Streaming = false }, prompt.Prompt{Text: "hi", Model: "a"}, `{"store":false,"model":"a","input":"hi"}`},
		{plan.Data{IgnoreEOS: true, MinTokens: true}, nil, prompt.Prompt{Text: "hi", Output: 3},
			`{"ignore_eos":true,"store":false,"stream":true,"model":"mock","max_output_tokens":3,"min_tokens":3,"input":"hi"}`},
		{plan.Data{}, func(t *plan.Target) { t.Body = map[string]any{"max_output_tokens": 9, "store": nil} }, prompt.Prompt{Text: "hi", Output: 3},
			`{"max_output_tokens":9,"stream":true,"model":"mock","input":"hi"}`},
		{plan.Data{}, nil, prompt.Prompt{Text: "see", Parts: []prompt.Part{{Text: "see"}, image, {Kind: prompt.Image, URL: "http://x/y"}, sound}},
			front + `"input":[{"role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,YWJj"},` +
				`{"type":"input_image","detail":"auto","image_url":"http://x/y"},{"type":"input_audio","input_audio":{"data":"YWJj","format":"wav"}}]}]}`},
		{plan.Data{IgnoreEOS: true}, nil, prompt.Prompt{Tools: tools, Messages: []prompt.Message{
			{Role: "system", Content: "be"}, {Role: "user", Content: "how late?"},
			{Role: "assistant", Content: "I look.", Reasoning: "hm", ToolCalls: []prompt.ToolCall{{ID: "c1", Name: "time", Arguments: `{"a":1}`}, {ID: "c2", Name: "say"}}},
			{Role: "tool", ToolCallID: "c1", Content: "noon"}, {Role: "assistant", Parts: []prompt.Part{{Text: "so"}}}, {Raw: []byte(`{"own":1}`)},
			{Role: "user", Content: "x", Raw: []byte(`{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"http://x","detail":"low"}}]}`)},
			{Role: "tool", Content: "y", ToolCallID: "c1", Raw: []byte(`{"role":"tool","content":"y","tool_call_id":"c1"}`)},
			{Role: "user", Content: "z", Raw: []byte(`{"role":"user","content":"z","name":"n"}`)},
		}}, front + said + `"input":[{"role":"system","content":"be"},{"role":"user","content":"how late?"},` +
			`{"type":"reasoning","id":"rs_2","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},{"role":"assistant","content":"I look."},` +
			`{"type":"function_call","call_id":"c1","name":"time","arguments":"{\"a\":1}"},{"type":"function_call","call_id":"c2","name":"say","arguments":""},` +
			`{"type":"function_call_output","call_id":"c1","output":"noon"},{"role":"assistant","content":[{"type":"output_text","text":"so"}]},{"own":1},` +
			`{"role":"user","content":[{"text":"x","type":"input_text"},{"detail":"low","image_url":"http://x","type":"input_image"}]},` +
			`{"type":"function_call_output","call_id":"c1","output":"y"},{"role":"user","content":"z"}]}`},
	} {
		e, err := newEndpoint(t, tt.data, tt.change)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.encode(&tt.prompt); err != nil || string(got) != tt.want {
			t.Errorf("%s, %v\nwant\n%s", got, err, tt.want)
		}
	}
	e, err := newEndpoint(t, plan.Data{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Prepare(&prompt.Prompt{Text: "x", Parts: []prompt.Part{{Kind: prompt.Video}}}); err == nil || !strings.Contains(err.Error(), "not video") {
		t.Errorf("a video: %v", err)
	}
	if _, err := newEndpoint(t, plan.Data{}, func(t *plan.Target) { t.Body = map[string]any{"input": 1} }); err == nil {
		t.Error("the input could be replaced")
	}
}
