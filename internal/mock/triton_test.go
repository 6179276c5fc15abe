package mock

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/lib/kserve/kservetest"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/repository"
)

// shown is a response in one line, with the words of its text counted.
func shown(r *kservetest.StreamResponse) string {
	i := r.InferResponse
	s := fmt.Sprintf("%s/%s %s", i.ModelName, i.ModelVersion, i.ID)
	if p, said := i.Parameters["triton_final_response"]; said {
		s += fmt.Sprintf(" final=%v", p.True())
	}
	for n, o := range i.Outputs {
		s += fmt.Sprintf(" %s:%s%v", o.Name, o.Datatype, o.Shape)
		switch data := i.RawOutputContents[n]; {
		case o.Name == "finish_reason":
			s += "=" + string(data[4:])
		case o.Datatype == "BYTES":
			s += fmt.Sprintf("=%d words", len(strings.Fields(string(data[4:]))))
		case o.Name == "output_ids":
			s += fmt.Sprintf("=%d ids", len(data)/4)
		case len(data) == 4:
			s += fmt.Sprintf("=%d", binary.LittleEndian.Uint32(data))
		}
	}
	if r.ErrorMessage != "" {
		s += " error: " + r.ErrorMessage
	}
	return s
}

func TestConventions(t *testing.T) {
	prompt := "say hello to all"
	tests := []struct {
		name    string
		change  func(*config.Server)
		request *kservetest.Request
		want    []string
	}{
		{"vLLM", nil, withFinal(inferring("vllm_model", "a", false, "text_input", prompt, "stream", true, "sampling_parameters", `{"max_tokens":"2"}`)), []string{
			"vllm_model/1 a final=false text_output:BYTES[1]=1 words",
			"vllm_model/1 a final=false text_output:BYTES[1]=1 words",
			"vllm_model/ a final=true",
		}},
		{"vLLM without the mark", nil, inferring("vllm_model", "", false, "text_input", prompt, "stream", true, "sampling_parameters", `{"max_tokens":1}`), []string{
			"vllm_model/1  final=false text_output:BYTES[1]=1 words",
		}},
		{"vLLM not streamed echoes the prompt", nil, inferring("vllm_model", "a", false, "text_input", prompt, "sampling_parameters", `{"max_tokens":3}`), []string{
			"vllm_model/1 a final=false text_output:BYTES[1]=7 words",
		}},
		{"vLLM not streamed, without the prompt", nil, inferring("vllm_model", "a", false, "text_input", prompt, "exclude_input_in_output", true, "sampling_parameters", `{"max_tokens":3}`), []string{
			"vllm_model/1 a final=false text_output:BYTES[1]=3 words",
		}},
		{"vLLM with counts", nil, inferring("vllm_model", "a", false, "text_input", prompt, "stream", true, "sampling_parameters", `{"max_tokens":2}`,
			"return_finish_reason", true, "return_num_input_tokens", true, "return_num_output_tokens", true), []string{
			"vllm_model/1 a final=false text_output:BYTES[1]=1 words finish_reason:BYTES[1]=None num_input_tokens:UINT32[1]=4 num_output_tokens:UINT32[1]=1",
			"vllm_model/1 a final=false text_output:BYTES[1]=1 words finish_reason:BYTES[1]=length num_input_tokens:UINT32[1]=4 num_output_tokens:UINT32[1]=1",
		}},
		{"two tokens in a response", func(c *config.Server) { c.Output.TokensPerEvent = 2 }, inferring("vllm_model", "a", false, "text_input", prompt, "stream", true,
			"sampling_parameters", `{"max_tokens":3}`, "return_num_output_tokens", true), []string{
			"vllm_model/1 a final=false text_output:BYTES[1]=2 words num_output_tokens:UINT32[1]=2",
			"vllm_model/1 a final=false text_output:BYTES[1]=1 words num_output_tokens:UINT32[1]=1",
		}},
		{"TensorRT-LLM", nil, withFinal(inferring("ensemble", "a", true, "text_input", prompt, "max_tokens", 2, "stream", true)), []string{
			"ensemble/1 a final=false text_output:BYTES[1 1]=1 words",
			"ensemble/1 a final=true text_output:BYTES[1 1]=1 words",
		}},
		{"echo by flag", func(c *config.Server) { c.Triton.Echo = true }, inferring("ensemble", "a", true, "text_input", prompt, "max_tokens", 2, "stream", true), []string{
			"ensemble/1 a final=false text_output:BYTES[1 1]=5 words",
			"ensemble/1 a final=true text_output:BYTES[1 1]=1 words",
		}},
		{"the first example", nil, withFinal(inferring("vllm", "a", false, "PROMPT", prompt, "STREAM", true, "SAMPLING_PARAMETERS", `{"max_tokens":2}`)), []string{
			"vllm/1 a final=false TEXT:BYTES[1]=1 words",
			"vllm/1 a final=false TEXT:BYTES[1]=1 words",
			"vllm/ a final=true",
		}},
		{"any name as TensorRT-LLM", nil, inferring("gpt2", "a", true, "text_input", prompt, "max_tokens", 2, "stream", true), []string{
			"gpt2/1 a final=false text_output:BYTES[1]=1 words",
			"gpt2/1 a final=true text_output:BYTES[1]=1 words",
		}},
		{"any name as vLLM", nil, inferring("gpt2", "a", false, "text_input", prompt, "stream", true, "sampling_parameters", `{"max_tokens":1}`), []string{
			"gpt2/1 a final=false text_output:BYTES[1]=1 words",
		}},
		{"by flag", func(c *config.Server) {
			c.Triton.Models = map[string]repository.Convention{"gpt2": repository.ConventionTRTLLM}
		}, inferring("gpt2", "a", true, "text_input", prompt, "max_tokens", 1, "stream", true), []string{
			"gpt2/1 a final=true text_output:BYTES[1 1]=1 words",
		}},
		{"by the flag for all", func(c *config.Server) { c.Triton.Convention = repository.ConventionOld }, inferring("gpt2", "a", false, "PROMPT", prompt, "SAMPLING_PARAMETERS", `{"max_tokens":3}`), []string{
			"gpt2/1 a final=false TEXT:BYTES[1]=3 words",
		}},
		{"engine", nil, inferring("tensorrt_llm", "a", true, "input_ids", 7, "input_lengths", 1, "request_output_len", 2, "streaming", true), []string{
			"tensorrt_llm/1 a final=false output_ids:INT32[1 1]=1 ids sequence_length:INT32[1 1]=1",
			"tensorrt_llm/1 a final=true output_ids:INT32[1 1]=1 ids sequence_length:INT32[1 1]=1",
		}},
		{"ordinary model on a stream", nil, inferring("simple_add", "a", true, "INPUT0", make([]float32, 16), "INPUT1", make([]float32, 16)), []string{
			"simple_add/1 a final=true OUTPUT0:FP32[1 16]",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := startGRPC(t, tt.change)
			var got []string
			for _, r := range f.stream(tt.request) {
				got = append(got, shown(r))
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestTritonRefusals has the words and codes of a real server.
func TestTritonRefusals(t *testing.T) {
	ones := make([]float32, 16)
	dtype := inferring("simple_add", "a", true, "INPUT0", ones, "INPUT1", ones)
	dtype.Inputs[0].Datatype = "INT32"
	short := inferring("simple_add", "a", true, "INPUT0", ones, "INPUT1", ones)
	short.RawInputContents[0] = []byte{1, 2, 3, 4}
	wish := inferring("simple_add", "a", true, "INPUT0", ones, "INPUT1", ones)
	wish.Outputs = []kservetest.Wanted{{Name: "NOPE"}}
	version := inferring("simple_add", "a", true, "INPUT0", ones, "INPUT1", ones)
	version.ModelVersion = "9"
	batch := inferring("simple_add", "a", true, "INPUT0", ones, "INPUT1", ones)
	batch.Inputs[1].Shape = []int64{2, 16}
	tests := []struct {
		name    string
		request *kservetest.Request
		code    repository.Code
		want    string
	}{
		{"no such model", inferring("nope", "a", false, "text_input", "x"), repository.CodeNotFound, "Request for unknown model: 'nope' is not found"},
		{"no such version", version, repository.CodeNotFound, "Request for unknown model: 'simple_add' version 9 is not found"},
		{"wrong name", inferring("simple_add", "a", true, "INPUT0", ones, "INPUTX", ones), repository.CodeInvalid, "unexpected inference input 'INPUTX' for model 'simple_add'"},
		{"missing", inferring("simple_add", "abc", true, "INPUT0", ones), repository.CodeInvalid, "[request id: abc] expected 2 inputs but got 1 inputs for model 'simple_add'. Got input(s) ['INPUT0'], but missing required input(s) ['INPUT1']. Please provide all required input(s)."},
		{"missing, of a model with optional ones", inferring("ensemble", "", true, "text_input", "x"), repository.CodeUnimplemented, "ModelInfer RPC doesn't support models with decoupled transaction policy"},
		{"datatype", dtype, repository.CodeInvalid, "[request id: a] inference input 'INPUT0' data-type is 'INT32', but model 'simple_add' expects 'FP32'"},
		{"shape", inferring("simple_add", "a", true, "INPUT0", ones[:15], "INPUT1", ones), repository.CodeInvalid, "[request id: a] unexpected shape for input 'INPUT0' for model 'simple_add'. Expected [-1,16], got [1,15]. NOTE: Setting a non-zero max_batch_size in the model config requires a batch dimension to be prepended to each input shape. If you want to specify the full shape including the batch dim in your input dims config, try setting max_batch_size to zero. See the model configuration docs for more info on max_batch_size."},
		{"batch", batch, repository.CodeInvalid, "[request id: a] input 'INPUT1' batch size does not match other inputs for 'simple_add'"},
		{"bytes", short, repository.CodeInvalid, "[request id: a] input byte size mismatch for input 'INPUT0' for model 'simple_add'. Expected 64, got 4"},
		{"output", wish, repository.CodeInvalid, "unexpected inference output 'NOPE' for model 'simple_add'"},
		{"no sequence", inferring("sequence_sum", "a", true, "INPUT", 5), repository.CodeInvalid, "inference request to model 'sequence_sum' must specify a non-zero or non-empty correlation ID"},
	}
	f := startGRPC(t, func(c *config.Server) {
		c.Strict = true
		c.Models = []string{"simple_add", "ensemble", "sequence_sum", "vllm_model"}
	})
	for _, tt := range tests {
		a, err := f.call(kserve.ModelInferMethod, tt.request)
		if err != nil {
			t.Fatal(err)
		}
		if message, err := url.PathUnescape(a.message); err != nil || a.status != int(tt.code) || message != tt.want {
			t.Errorf("%s: status %d, %q\nwant %d, %q", tt.name, a.status, message, tt.code, tt.want)
		}
		if tt.code == repository.CodeUnimplemented {
			continue
		}
		// On a stream the refusal is the request's own, under its id.
		got := f.stream(tt.request)
		if len(got) != 1 || got[0].ErrorMessage != tt.want || got[0].InferResponse.ID != tt.request.ID {
			t.Errorf("%s, on a stream: %v", tt.name, got)
		}
	}
	if a, err := f.callRaw("/inference.GRPCInferenceService/Nothing", bytes.NewReader(appendMessage(nil, nil))); err != nil || a.status != int(repository.CodeUnimplemented) {
		t.Errorf("unknown method: %v, status %d", err, a.status)
	}
}

func TestControl(t *testing.T) {
	f := startGRPC(t, func(c *config.Server) {
		c.Triton.Models = map[string]repository.Convention{"ensemble": repository.ConventionTRTLLM, "simple_add": repository.ConventionAdd}
	})
	type live struct {
		Live bool `json:"live"`
	}
	type ready struct {
		Ready bool `json:"ready"`
	}
	if !unary[live](f, kserve.ServerLiveMethod, nil).Live || !unary[ready](f, kserve.ServerReadyMethod, nil).Ready {
		t.Error("the server is not live and ready")
	}
	type about struct {
		Name       string   `json:"name"`
		Extensions []string `json:"extensions"`
	}
	if m := unary[about](f, kserve.ServerMetadataMethod, nil); m.Name != "triton" || len(m.Extensions) == 0 {
		t.Errorf("metadata %v", m)
	}
	m := unary[kserve.ModelMetadata](f, kserve.ModelMetadataMethod, kserve.ModelName{Name: "ensemble"})
	if m.Platform != "ensemble" || m.Inputs[0].Name != "text_input" || cmp.Diff(m.Inputs[0].Shape, []int64{-1, 1}) != "" {
		t.Errorf("metadata %v", m)
	}
	c := unary[kserve.ModelConfigResponse](f, kserve.ModelConfigMethod, kserve.ModelName{Name: "ensemble"}).Config
	var steps []string
	for _, s := range c.Steps() {
		steps = append(steps, s.ModelName)
	}
	if d := cmp.Diff([]string{"preprocessing", "tensorrt_llm", "postprocessing"}, steps); d != "" || !c.ModelTransactionPolicy.Decoupled {
		t.Errorf("config %v: %s", c, d)
	}
	type models struct {
		Models []repository.IndexEntry `json:"models"`
	}
	index := func() string {
		var all []string
		for _, m := range unary[models](f, kserve.RepositoryIndexMethod, nil).Models {
			all = append(all, m.Name+" "+m.State)
		}
		return strings.Join(all, ", ")
	}
	if got, want := index(), "ensemble READY, mock READY, postprocessing READY, preprocessing READY, simple_add READY, tensorrt_llm READY"; got != want {
		t.Errorf("index %s, want %s", got, want)
	}
	ones := make([]float32, 16)
	add := inferring("simple_add", "a", true, "INPUT0", ones, "INPUT1", ones)
	served := func() uint64 {
		return unary[kserve.ModelStatisticsResponse](f, kserve.ModelStatisticsMethod, kserve.ModelName{Name: "simple_add"}).ModelStats[0].InferenceCount
	}
	unary[kservetest.Response](f, kserve.ModelInferMethod, add)
	if served() != 1 {
		t.Errorf("%d inferences", served())
	}
	unary[struct{}](f, kserve.RepositoryModelUnloadMethod, map[string]string{"model_name": "simple_add"})
	a, err := f.call(kserve.ModelInferMethod, add)
	if err != nil || a.status != int(repository.CodeNotFound) || a.message != "Request for unknown model: 'simple_add' has no available versions" {
		t.Errorf("unloaded: %v, status %d %q", err, a.status, a.message)
	}
	if unary[ready](f, kserve.ModelReadyMethod, kserve.ModelName{Name: "simple_add"}).Ready {
		t.Error("an unloaded model is ready")
	}
	unary[struct{}](f, kserve.RepositoryModelLoadMethod, map[string]string{"model_name": "simple_add"})
	if served() != 0 {
		t.Errorf("%d inferences after loading anew", served())
	}
}

func TestSequences(t *testing.T) {
	f := startGRPC(t, nil)
	step := func(id uint64, v int, start, end bool) *kservetest.Request {
		r := inferring("sequence_sum", "", true, "INPUT", v)
		r.Parameters["sequence_id"] = kservetest.Parameter{Uint64Param: &id}
		r.Parameters["sequence_start"] = kservetest.Bool(start)
		r.Parameters["sequence_end"] = kservetest.Bool(end)
		return r
	}
	var got []uint32
	for _, r := range []*kservetest.Request{step(1, 5, true, false), step(2, 100, true, false), step(1, 6, false, false),
		step(1, 7, false, true)} {
		answer := unary[kservetest.Response](f, kserve.ModelInferMethod, r)
		got = append(got, binary.LittleEndian.Uint32(answer.RawOutputContents[0]))
	}
	if d := cmp.Diff([]uint32{5, 100, 11, 18}, got); d != "" {
		t.Error(d)
	}
	if a, err := f.call(kserve.ModelInferMethod, step(1, 1, false, false)); err != nil || a.status != int(repository.CodeInvalid) || !strings.Contains(a.message, "START flag") {
		t.Errorf("%v, status %d %q", err, a.status, a.message)
	}
}
