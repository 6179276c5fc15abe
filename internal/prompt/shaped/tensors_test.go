package shaped

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/pool"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// inputsOf are the tensors of a prompt as one text.
func inputsOf(p *prompt.Prompt) string {
	var parts []string
	for _, f := range p.Tensors {
		parts = append(parts, f.Name+"="+string(f.Value))
	}
	return strings.Join(parts, " ")
}

func model(names ...string) *tensor.Signature {
	m := &tensor.Signature{Name: "m"}
	for _, name := range names {
		required := strings.HasSuffix(name, "!")
		m.Inputs = append(m.Inputs, tensor.Spec{Name: strings.TrimSuffix(name, "!"), Datatype: tensor.Bytes, Optional: !required})
	}
	return m
}

// Requests to Triton have the inputs of the original; those that the model lacks are
// neither sent nor listed.
func TestTensors(t *testing.T) {
	vllm := plan.Target{Protocol: plan.ProtocolTriton, Endpoint: plan.EndpointStream, Streaming: true,
		Triton: plan.Triton{Convention: plan.ConventionVLLM}}
	warm := vllm
	warm.Body = map[string]any{"temperature": 0.5}
	trtllm := plan.Target{Protocol: plan.ProtocolTriton, Endpoint: plan.EndpointStream, Triton: plan.Triton{Convention: plan.ConventionTRTLLM}}
	const all = "text_input stream sampling_parameters exclude_input_in_output max_tokens min_length"
	for _, tt := range []struct {
		name    string
		target  plan.Target
		minimum bool
		prompt  prompt.Prompt
		model   string
		want    string
	}{
		{"vLLM", vllm, false, prompt.Prompt{Text: "a <b>", Output: 8}, all, `text_input="a <b>" exclude_input_in_output=true stream=true sampling_parameters="{\"max_tokens\":\"8\"}"`},
		{"vLLM, no shorter", vllm, true, prompt.Prompt{Text: "a", Output: 8}, all, `text_input="a" exclude_input_in_output=true stream=true sampling_parameters="{\"max_tokens\":\"8\",\"min_tokens\":\"8\"}"`},
		{"vLLM, the server's length", vllm, false, prompt.Prompt{Text: "a"}, all, `text_input="a" exclude_input_in_output=true stream=true`},
		{"vLLM, a sampling parameter", warm, false, prompt.Prompt{Text: "a", Output: 8}, all, `text_input="a" exclude_input_in_output=true stream=true sampling_parameters="{\"max_tokens\":\"8\",\"temperature\":0.5}"`},
		{"vLLM, an input", warm, false, prompt.Prompt{Text: "a"}, all + " temperature", `text_input="a" exclude_input_in_output=true stream=true temperature=0.5`},
		{"TensorRT-LLM", trtllm, true, prompt.Prompt{Text: "a", Output: 8}, all, `text_input="a" max_tokens=8 exclude_input_in_output=true min_length=8`},
		{"TensorRT-LLM, the usual length", trtllm, false, prompt.Prompt{Text: "a"}, all, `text_input="a" max_tokens=256 exclude_input_in_output=true`},
		// differs: genai-lacking-inputs
		{"what the model lacks", trtllm, true, prompt.Prompt{Text: "a", Output: 8}, "text_input! max_tokens! min_tokens", `text_input="a" max_tokens=8 min_tokens=8`},
		{"what the model insists on", trtllm, false, prompt.Prompt{Text: "a", Output: 8}, "text_input max_tokens bad_words! stop_words!", `text_input="a" max_tokens=8 bad_words="" stop_words=""`},
		{"inputs of its own", trtllm, false, prompt.Prompt{Text: "a", Output: 8, Tensors: []prompt.Field{{Name: "max_tokens", Value: json.RawMessage("[3]")}}}, all, `text_input="a" max_tokens=3 exclude_input_in_output=true`},
	} {
		s, err := New(one{tt.prompt}, tt.target, plan.Data{MinTokens: tt.minimum})
		if err != nil {
			t.Fatal(err)
		}
		pool, err := pool.New(t.Context(), s, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := pool.Fit(model(strings.Fields(tt.model)...)); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got := inputsOf(&pool.All()[0]); got != tt.want {
			t.Errorf("%s:\n%s, want\n%s", tt.name, got, tt.want)
		}
	}
}

func TestTensorsThatDoNotFit(t *testing.T) {
	target := plan.Target{Protocol: plan.ProtocolTriton, Endpoint: plan.EndpointStream, Triton: plan.Triton{Convention: plan.ConventionTRTLLM}, Body: map[string]any{"warmth": 3}}
	for inputs, want := range map[string]string{
		"text_input max_tokens":                  "the input warmth, which model m does not have: its inputs are text_input, max_tokens",
		"text_input max_tokens warmth language!": "model m needs the input language",
	} {
		s, err := New(one{prompt.Prompt{Text: "a"}}, target, plan.Data{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Fit(model(strings.Fields(inputs)...)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Prompt(t.Context(), prompt.Position{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", inputs, err, want)
		}
	}
}

// Triton's endpoint generate gets the original's body, and nothing else.
func TestGenerate(t *testing.T) {
	target := plan.Target{Protocol: plan.ProtocolTriton, Endpoint: plan.EndpointGenerate, Model: "m", Streaming: true, Body: map[string]any{"temperature": 0.5}}
	p := shape(t, target, prompt.Prompt{Text: "a", Output: 8})
	if want := `{"text_input":["a"],"stream":true,"max_tokens":8,"temperature":0.5}`; string(p.Body) != want {
		t.Errorf("%s, want %s", p.Body, want)
	}
}
