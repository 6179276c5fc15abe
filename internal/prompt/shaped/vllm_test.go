package shaped

import (
	"encoding/json"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// Bodies as vllm bench serve 0.32.0 sends them. What a user adds comes last here, in the order of its names.
func TestVLLM(t *testing.T) {
	for _, c := range []struct {
		endpoint string
		body     map[string]any
		p        prompt.Prompt
		eos      bool
		want     string
	}{
		{
			plan.EndpointCompletions, nil, prompt.Prompt{Text: "é \"x\"", Output: 16}, true,
			`{"model": "mock", "prompt": "\u00e9 \"x\"", "repetition_penalty": 1.0, "max_tokens": 16, "logprobs": null, "stream": true, "stream_options": {"include_usage": true}, "ignore_eos": true}`,
		},
		{
			plan.EndpointCompletions, map[string]any{"logprobs": int64(2), "temperature": 0.0, "x": map[string]any{"y": []any{1.0, int64(1)}}}, prompt.Prompt{Text: "a", Output: 1, Model: "lora"}, false,
			`{"model": "lora", "prompt": "a", "repetition_penalty": 1.0, "max_tokens": 1, "logprobs": 2, "stream": true, "stream_options": {"include_usage": true}, "temperature": 0.0, "x": {"y": [1.0, 1]}}`,
		},
		{
			plan.EndpointCompletions, nil, prompt.Prompt{Output: 3, Fields: []prompt.Field{{Name: "prompt", Value: json.RawMessage("[1,2]")}}}, true,
			`{"model": "mock", "prompt": [1, 2], "repetition_penalty": 1.0, "max_tokens": 3, "logprobs": null, "stream": true, "stream_options": {"include_usage": true}, "ignore_eos": true}`,
		},
		{
			plan.EndpointChat, map[string]any{"min_tokens": int64(2), "top_p": 0.9}, prompt.Prompt{Text: "a b", Output: 6}, true,
			`{"model": "mock", "messages": [{"role": "user", "content": [{"type": "text", "text": "a b"}]}], "max_completion_tokens": 6, "stream": true, "stream_options": {"include_usage": true}, "ignore_eos": true, "min_tokens": 2, "top_p": 0.9}`,
		},
		{
			plan.EndpointEmbeddings, nil, prompt.Prompt{Texts: []string{"a", "b"}}, false,
			`{"model": "mock", "input": ["a", "b"], "truncate_prompt_tokens": -1}`,
		},
	} {
		target := plan.Target{Protocol: plan.ProtocolOpenAI, Endpoint: c.endpoint, Form: plan.FormVLLM, Model: "mock", Streaming: true, Body: c.body}
		s, err := New(one{c.p}, target, plan.Data{IgnoreEOS: c.eos})
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Prompt(t.Context(), prompt.Position{})
		if err != nil || string(p.Body) != c.want {
			t.Errorf("%v\n%s, want\n%s", err, p.Body, c.want)
		}
	}
}
