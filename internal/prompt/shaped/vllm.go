package shaped

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/lib/orderedjson"
	"github.com/inferometer/inferometer/internal/lib/pyjson"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// bench is a body of plan.FormVLLM.
func (s *Source) bench(p *prompt.Prompt, model string) ([]byte, error) {
	o, usage := object{{"model", model}}, object{{"include_usage", true}}
	switch t := &s.target; t.Endpoint {
	case plan.EndpointCompletions:
		o.Set("prompt", oneOrAll(p))
		if s.release != plan.VLLMFork {
			o.Set("repetition_penalty", 1.0)
		}
		o.Set("max_tokens", p.Output)
		o.Set("logprobs", nil)
		o.Set("stream", true)
		o.Set("stream_options", usage)
	case plan.EndpointChat:
		o.Set("messages", []object{{{"role", "user"}, {"content", []object{{{"type", "text"}, {"text", p.Text}}}}}})
		o.Set("max_completion_tokens", p.Output)
		o.Set("stream", true)
		o.Set("stream_options", usage)
	case plan.EndpointEmbeddings:
		o.Set("input", oneOrAll(p))
		o.Set("truncate_prompt_tokens", -1)
	}
	if s.eos {
		o.Set("ignore_eos", true)
	}
	for _, name := range slices.Sorted(maps.Keys(s.target.Body)) {
		o.Set(name, s.target.Body[name])
	}
	for _, f := range p.Fields {
		o.Set(f.Name, f.Value)
	}
	body, err := orderedjson.Compact(spelled(o))
	return pyjson.Style(body), err
}

// oneOrAll is a prompt's text, or its texts where it has several.
func oneOrAll(p *prompt.Prompt) any {
	if p.Texts != nil {
		return p.Texts
	}
	return p.Text
}

// spelled is a value whose numbers stand as Python writes them: a float has a point.
func spelled(v any) any {
	switch v := v.(type) {
	case float64:
		return json.RawMessage(number.PythonJSON(v))
	case object:
		out := slices.Clone(v)
		for i := range out {
			out[i].Value = spelled(out[i].Value)
		}
		return out
	case map[string]any:
		out := maps.Clone(v)
		for name := range out {
			out[name] = spelled(out[name])
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = spelled(out[i])
		}
		return out
	}
	return v
}
