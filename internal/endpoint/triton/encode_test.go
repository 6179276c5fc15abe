package triton

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/lib/kserve/kservetest"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// spec is an input or output of one element; "?" behind its name: it is optional.
func spec(name string, d tensor.Datatype, shape ...int64) tensor.Spec {
	bare, optional := strings.CutSuffix(name, "?")
	if shape == nil {
		shape = []int64{1}
	}
	return tensor.Spec{Name: bare, Datatype: d, Shape: shape, Optional: optional}
}

func vllmModel() *ModelInfo {
	return &ModelInfo{Name: "vllm_model", Backend: "vllm", Decoupled: true,
		Inputs: []tensor.Spec{
			spec("text_input", tensor.Bytes), spec("stream?", tensor.Bool), spec("sampling_parameters?", tensor.Bytes),
			spec("exclude_input_in_output?", tensor.Bool), spec("return_num_output_tokens?", tensor.Bool),
		},
		Outputs: []tensor.Spec{spec("text_output", tensor.Bytes, -1), spec("num_output_tokens", tensor.Uint32, -1)},
	}
}

func ensembleModel() *ModelInfo {
	return &ModelInfo{Name: "ensemble", Platform: "ensemble", MaxBatch: 8, Decoupled: true,
		Inputs: []tensor.Spec{
			spec("text_input", tensor.Bytes), spec("max_tokens", tensor.Int32), spec("min_length?", tensor.Int32),
			spec("bad_words", tensor.Bytes, -1), spec("temperature?", tensor.FP32), spec("random_seed?", tensor.Uint64), spec("stream?", tensor.Bool),
		},
		Outputs: []tensor.Spec{spec("text_output", tensor.Bytes)},
	}
}

func oldModel() *ModelInfo {
	return &ModelInfo{Name: "vllm", Decoupled: true,
		Inputs:  []tensor.Spec{spec("PROMPT", tensor.Bytes), spec("STREAM", tensor.Bool), spec("SAMPLING_PARAMETERS?", tensor.Bytes)},
		Outputs: []tensor.Spec{spec("TEXT", tensor.Bytes, -1)},
	}
}

func engineModel() *ModelInfo {
	return &ModelInfo{Name: "tensorrt_llm", MaxBatch: 8, Decoupled: true,
		Inputs: []tensor.Spec{
			spec("input_ids", tensor.Int32, -1), spec("input_lengths", tensor.Int32), spec("request_output_len", tensor.Int32), spec("streaming?", tensor.Bool),
		},
		Outputs: []tensor.Spec{spec("output_ids", tensor.Int32, -1, -1), spec("sequence_length", tensor.Int32, -1)},
	}
}

func plainModel() *ModelInfo {
	return &ModelInfo{Name: "simple", Backend: "onnx", MaxBatch: 8,
		Inputs:  []tensor.Spec{spec("A", tensor.Int32, 2), spec("B", tensor.FP32, 2)},
		Outputs: []tensor.Spec{spec("SUM", tensor.FP32, 2)},
	}
}

// letters is a tokenizer whose ids are the bytes of the text.
type letters struct{}

func (letters) Name() string          { return "letters" }
func (letters) Count(text string) int { return len(text) }
func (letters) Encode(text string, _ bool) []int32 {
	var ids []int32
	for _, b := range []byte(text) {
		ids = append(ids, int32(b))
	}
	return ids
}

// shown is a request as the definition reads it, on a line for each input.
func shown(t *testing.T, message []byte) string {
	t.Helper()
	var m kservetest.Request
	if err := kserve.Request(kserve.ModelInferMethod).Decode(message, &m); err != nil {
		t.Fatalf("the message cannot be read: %v", err)
	}
	if len(m.Inputs) != len(m.RawInputContents) {
		t.Fatalf("%d inputs and %d contents", len(m.Inputs), len(m.RawInputContents))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q %s", m.ModelName, m.ModelVersion, m.ID)
	var params []string
	for name, v := range m.Parameters {
		params = append(params, fmt.Sprintf(" %s=%s", name, parameterText(v)))
	}
	slices.Sort(params)
	b.WriteString(strings.Join(params, "") + "\n")
	for i, in := range m.Inputs {
		d, err := tensor.ParseDatatype(in.Datatype)
		if err != nil {
			t.Fatal(err)
		}
		x := tensor.Tensor{Name: in.Name, Datatype: d, Shape: in.Shape, Data: m.RawInputContents[i]}
		if err := x.Check(); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(&b, "%s %s%s %s\n", in.Name, in.Datatype, tensor.ShapeText(in.Shape), x.AppendJSON(nil))
	}
	return b.String()
}

func parameterText(p kservetest.Parameter) string {
	switch {
	case p.BoolParam != nil:
		return fmt.Sprintf("bool_param:%v", *p.BoolParam)
	case p.Int64Param != nil:
		return fmt.Sprintf("int64_param:%d", *p.Int64Param)
	case p.StringParam != nil:
		return fmt.Sprintf("string_param:%q", *p.StringParam)
	case p.DoubleParam != nil:
		return fmt.Sprintf("double_param:%v", *p.DoubleParam)
	case p.Uint64Param != nil:
		return fmt.Sprintf("uint64_param:%d", *p.Uint64Param)
	}
	return ""
}

func TestConventionsAndMessages(t *testing.T) {
	streaming := plan.Target{Streaming: true}
	for _, c := range []struct {
		name       string
		model      *ModelInfo
		target     plan.Target
		data       plan.Data
		prompt     prompt.Prompt
		convention string
		want       string
	}{
		{"vllm", vllmModel(), streaming, plan.Data{}, prompt.Prompt{Text: "Hi", Output: 5}, plan.ConventionVLLM, `vllm_model "" id triton_enable_empty_final_response=bool_param:true
text_input BYTES[1] ["Hi"]
stream BOOL[1] [true]
exclude_input_in_output BOOL[1] [true]
return_num_output_tokens BOOL[1] [true]
sampling_parameters BYTES[1] ["{\"max_tokens\":5}"]
`},
		{"vllm without a length", vllmModel(), plan.Target{}, plan.Data{}, prompt.Prompt{Text: "Hi"}, plan.ConventionVLLM, `vllm_model "" id triton_enable_empty_final_response=bool_param:true
text_input BYTES[1] ["Hi"]
stream BOOL[1] [false]
exclude_input_in_output BOOL[1] [true]
return_num_output_tokens BOOL[1] [true]
`},
		{"vllm with all", vllmModel(), plan.Target{Streaming: true, Body: map[string]any{"temperature": 0.5, "exclude_input_in_output": false, "return_num_output_tokens": nil}},
			plan.Data{IgnoreEOS: true, MinTokens: true}, prompt.Prompt{Messages: []prompt.Message{{Content: "a"}, {Content: "b"}}, Output: 7}, plan.ConventionVLLM,
			`vllm_model "" id triton_enable_empty_final_response=bool_param:true
text_input BYTES[1] ["a\nb"]
stream BOOL[1] [true]
exclude_input_in_output BOOL[1] [false]
sampling_parameters BYTES[1] ["{\"max_tokens\":7,\"min_tokens\":7,\"ignore_eos\":true,\"temperature\":0.5}"]
`},
		{"ensemble", ensembleModel(), streaming, plan.Data{IgnoreEOS: true}, prompt.Prompt{Text: "Hi", Output: 5}, plan.ConventionTRTLLM, `ensemble "" id triton_enable_empty_final_response=bool_param:true
text_input BYTES[1,1] ["Hi"]
max_tokens INT32[1,1] [5]
min_length INT32[1,1] [5]
stream BOOL[1,1] [true]
bad_words BYTES[1,1] [""]
`},
		{"ensemble without a length", ensembleModel(), plan.Target{Streaming: true, Body: map[string]any{"temperature": 0.5, "random_seed": 7, "bad_words": []any{"a", "b"}}},
			plan.Data{}, prompt.Prompt{Text: "Hi"}, plan.ConventionTRTLLM, `ensemble "" id triton_enable_empty_final_response=bool_param:true
text_input BYTES[1,1] ["Hi"]
max_tokens INT32[1,1] [256]
stream BOOL[1,1] [true]
bad_words BYTES[1,2] ["a","b"]
random_seed UINT64[1,1] [7]
temperature FP32[1,1] [0.5]
`},
		{"old vllm", oldModel(), plan.Target{Streaming: true, Triton: plan.Triton{Version: "3", Parameters: map[string]any{"n": 2, "f": 0.5, "s": "x", "b": true}}},
			plan.Data{}, prompt.Prompt{Text: "Hi", Output: 5}, plan.ConventionVLLMOld,
			`vllm "3" id b=bool_param:true f=double_param:0.5 n=int64_param:2 s=string_param:"x" triton_enable_empty_final_response=bool_param:true
PROMPT BYTES[1] ["Hi"]
STREAM BOOL[1] [true]
SAMPLING_PARAMETERS BYTES[1] ["{\"max_tokens\":5}"]
`},
		{"engine", engineModel(), streaming, plan.Data{}, prompt.Prompt{Text: "abc", Output: 5, Sequence: prompt.Sequence{ID: 9, Start: true}}, plan.ConventionEngine,
			`tensorrt_llm "" id sequence_end=bool_param:false sequence_id=int64_param:9 sequence_start=bool_param:true triton_enable_empty_final_response=bool_param:true
input_ids INT32[1,3] [97,98,99]
input_lengths INT32[1,1] [3]
request_output_len INT32[1,1] [5]
streaming BOOL[1,1] [true]
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			conv := detect(c.model)
			if conv.name != c.convention {
				t.Fatalf("the model is taken for %s", conv.name)
			}
			l, err := newLayout(c.model, conv, c.target, c.data, letters{})
			if err != nil {
				t.Fatal(err)
			}
			m, err := newMessages(l, c.target.Triton.Version, c.target.Triton.Parameters, true)
			if err != nil {
				t.Fatal(err)
			}
			content := l.fill(&c.prompt)
			if diff := cmp.Diff(c.want, shown(t, m.encode(&c.prompt, "id", &content))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Inputs that a request has for itself stand in the place of those of all, or beside them;
// the next request has none of them.
func TestInputsOfARequest(t *testing.T) {
	l, err := newLayout(ensembleModel(), detect(ensembleModel()), plan.Target{Streaming: true, Body: map[string]any{"temperature": 0.5}}, plan.Data{}, letters{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := newMessages(l, "", nil, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		prompt prompt.Prompt
		want   string
	}{
		{prompt.Prompt{Text: "Hi", Output: 5, Tensors: []prompt.Field{{Name: "temperature", Value: []byte("[0.75]")}, {Name: "bad_words", Value: []byte(`["a", "b"]`)}, {Name: "random_seed", Value: []byte("7")}}},
			"stream BOOL[1,1] [true]\ntemperature FP32[1,1] [0.75]\nbad_words BYTES[1,2] [\"a\",\"b\"]\nrandom_seed UINT64[1,1] [7]\n"},
		{prompt.Prompt{Text: "Hi", Output: 5}, "stream BOOL[1,1] [true]\ntemperature FP32[1,1] [0.5]\nbad_words BYTES[1,1] [\"\"]\n"},
	} {
		content := l.fill(&c.prompt)
		if err := l.setInputs(&content, c.prompt.Tensors); err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(shown(t, m.encode(&c.prompt, "id", &content)), "max_tokens INT32[1,1] [5]\n")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(diff)
		}
	}
	content := l.fill(&prompt.Prompt{Text: "Hi"})
	for name, want := range map[string]string{"warmth": "a request has the input warmth, which model ensemble does not have: its inputs are text_input", "random_seed": "the input random_seed of a request to model ensemble: "} {
		if err := l.setInputs(&content, []prompt.Field{{Name: name, Value: []byte(`["x"]`)}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPlainTensors(t *testing.T) {
	m := plainModel()
	if c := detect(m); c.name != plan.ConventionTensors {
		t.Fatalf("the model is taken for %s", c.name)
	}
	e := &Endpoint{model: *m, built: map[*tensor.Inputs]*inputs{}}
	var err error
	if e.layout, err = newLayout(m, detect(m), plan.Target{Body: map[string]any{"B": []any{0.5, 1}}}, plan.Data{}, nil); err != nil {
		t.Fatal(err)
	}
	given := &tensor.Inputs{
		Items:      []tensor.Item{{Values: []tensor.Value{{Name: "A", Text: []byte("[1,2]")}, {Name: "B", Text: []byte("[3,4]")}}}},
		Parameters: map[string]any{"priority": int64(3)},
	}
	in, err := e.build(given)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := e.build(given); again != in {
		t.Error("the same data is built twice")
	}
	msgs, err := newMessages(e.layout, "", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	message, err := msgs.tensors(&prompt.Prompt{Inputs: given}, "id", in)
	if err != nil {
		t.Fatal(err)
	}
	want := `simple "" id priority=int64_param:3
A INT32[1,2] [1,2]
B FP32[1,2] [3,4]
`
	if diff := cmp.Diff(want, shown(t, message)); diff != "" {
		t.Error(diff)
	}
}

func TestFaultsNameModelAndTensor(t *testing.T) {
	wrongType := vllmModel()
	wrongType.Inputs[0].Datatype = tensor.Int32
	needy := vllmModel()
	needy.Inputs = append(needy.Inputs, spec("image", tensor.FP32, -1, -1))
	wide := ensembleModel()
	wide.Inputs[1].Shape = []int64{3}
	for _, c := range []struct {
		name  string
		model *ModelInfo
		body  map[string]any
		want  []string
	}{
		{"wrong name", ensembleModel(), map[string]any{"max_tokns": 1}, []string{"model ensemble has no input max_tokns", "text_input (BYTES[1])", "did you mean max_tokens?"}},
		{"wrong datatype of a value", ensembleModel(), map[string]any{"temperature": "hot"}, []string{"model ensemble", `tensor "temperature"`, "FP32", `"hot"`}},
		{"too large a value", ensembleModel(), map[string]any{"max_tokens": 1 << 40}, []string{"max_tokens", "out of range for INT32"}},
		{"wrong datatype of the model", wrongType, nil, []string{"input text_input of model vllm_model is INT32", "BYTES"}},
		{"missing input", needy, nil, []string{"model vllm_model needs input image (FP32[-1,-1])", "--extra image="}},
		{"wrong shape", wide, nil, []string{"input max_tokens of model ensemble has the shape [3]"}},
		{"prompt replaced", vllmModel(), map[string]any{"text_input": "x"}, []string{"text_input would replace"}},
	} {
		_, err := newLayout(c.model, detect(c.model), plan.Target{Body: c.body}, plan.Data{}, letters{})
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %q", c.name, err, want)
			}
		}
	}
	if _, err := newLayout(engineModel(), detect(engineModel()), plan.Target{}, plan.Data{}, nil); !errors.Is(err, errNoIDs) {
		t.Errorf("no tokenizer: %v", err)
	}
	for _, c := range []struct{ convention, want string }{
		{plan.ConventionVLLM, "convention vllm needs an input text_input, which model simple lacks"},
		{plan.ConventionEngine, "convention trtllm-engine needs an input input_ids, which model simple lacks"},
	} {
		if _, err := chooseConvention(plainModel(), c.convention); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.convention, err)
		}
	}
}

// Over HTTP the same inputs go as JSON.
func TestGenerateBody(t *testing.T) {
	m := ensembleModel()
	l, err := newLayout(m, detect(m), plan.Target{Streaming: true}, plan.Data{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &httpReplica{layout: l, generate: true, shared: []byte(`"parameters":{"a":1},`)}
	p := prompt.Prompt{Text: "say \"hi\"\n\x01é", Output: 5}
	var got map[string]any
	body := r.generateBody("id-1", &material{content: l.fill(&p)})
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	want := map[string]any{
		"id": "id-1", "parameters": map[string]any{"a": 1.0}, "text_input": p.Text, "max_tokens": 5.0, "stream": true, "bad_words": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestModelFromMetadataAndConfig(t *testing.T) {
	var meta kserve.ModelMetadata
	var conf kserve.ModelConfig
	err := kserve.Response(kserve.ModelMetadataMethod).DecodeJSON([]byte(`{"name":"m","platform":"ensemble","inputs":[{"name":"A","datatype":"BYTES","shape":["-1",1],"parameters":{"content_type":"str"}},
		{"name":"S","datatype":"INT32","shape":[2]}],"outputs":[{"name":"B","datatype":"FP16","shape":[-1,-1]}],"tags":{}}`), &meta)
	if err != nil {
		t.Fatal(err)
	}
	err = kserve.Response(kserve.ModelConfigMethod).Field("config").DecodeJSON([]byte(`{"max_batch_size":"8","optimization":{"graph":{"level":7}},"input":[{"name":"A","optional":true},{"name":"S","is_shape_tensor":true}],
		"model_transaction_policy":{"decoupled":true},"sequence_batching":{},"response_cache":{"enable":true}}`), &conf)
	if err != nil {
		t.Fatal(err)
	}
	got, err := describe(&meta, &conf)
	if err != nil {
		t.Fatal(err)
	}
	want := ModelInfo{
		Name: "m", Platform: "ensemble", MaxBatch: 8, Decoupled: true, Sequence: true, Cached: true,
		Inputs: []tensor.Spec{
			{Name: "A", Datatype: tensor.Bytes, Shape: []int64{1}, Optional: true}, {Name: "S", Datatype: tensor.Int32, Shape: []int64{2}, ShapeTensor: true},
		},
		Outputs: []tensor.Spec{{Name: "B", Datatype: tensor.FP16, Shape: []int64{-1}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	meta.Inputs[0].Datatype = "FP8"
	if _, err := describe(&meta, &conf); err == nil || !strings.Contains(err.Error(), "model m: tensor A") {
		t.Errorf("unknown datatype: %v", err)
	}
}

func BenchmarkEncode(b *testing.B) {
	m := vllmModel()
	l, err := newLayout(m, detect(m), plan.Target{Streaming: true}, plan.Data{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	msgs, err := newMessages(l, "", nil, true)
	if err != nil {
		b.Fatal(err)
	}
	p := prompt.Prompt{Text: strings.Repeat("word ", 128), Output: 16}
	b.ReportAllocs()
	for b.Loop() {
		c := l.fill(&p)
		msgs.encode(&p, "inferometer-abc-123", &c)
	}
}
