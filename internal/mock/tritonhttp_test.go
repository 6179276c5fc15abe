package mock

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/repository"
)

// TestTritonHTTP compares whole bodies with testdata.
func TestTritonHTTP(t *testing.T) {
	ones := "[" + strings.Repeat("1,", 15) + "1]"
	add := `"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[1,16],"data":` + ones + `},{"name":"INPUT1","datatype":"FP32","shape":[1,16],"data":[` + ones + `]}]`
	tests := []struct {
		name, path, body string // no body: GET
		status           int
		change           func(*config.Server)
	}{
		{"server", "/v2", "", 200, nil},
		{"metadata", "/v2/models/simple_add", "", 200, nil},
		{"config-ensemble", "/v2/models/ensemble/versions/1/config", "", 200, nil},
		{"config-add", "/v2/models/simple_add/config", "", 200, nil},
		{"stats", "/v2/models/simple_add/stats", "", 200, nil},
		{"index", "/v2/repository/index", "{}", 200, nil},
		{"generate-trtllm", "/v2/models/ensemble/generate", `{"text_input":"hi there","max_tokens":3}`, 200, nil},
		{"generate-parameters", "/v2/models/ensemble/generate", `{"text_input":"hi there","parameters":{"max_tokens":3,"bogus":1}}`, 200, nil},
		{"generate-many", "/v2/models/ensemble/generate", `{"text_input":"hi there","max_tokens":3,"stream":true}`, 200, nil},
		{"generate-vllm", "/v2/models/vllm_model/generate", `{"text_input":"hi \"there\"","sampling_parameters":"{\"max_tokens\":2}","return_num_output_tokens":true}`, 200, nil},
		{"generate-add", "/v2/models/simple_add/generate", `{"INPUT0":` + ones + `,"INPUT1":` + ones + `}`, 200, nil},
		{"stream-trtllm", "/v2/models/ensemble/generate_stream", `{"id":"zz","text_input":"hi there","max_tokens":3,"stream":true}`, 200, nil},
		{"stream-vllm", "/v2/models/vllm_model/generate_stream", `{"text_input":"hi there","stream":true,"return_finish_reason":true,"parameters":{"max_tokens":2}}`, 200, nil},
		{"stream-whole", "/v2/models/vllm_model/generate_stream", `{"text_input":"hi there","sampling_parameters":"{\"max_tokens\":2}"}`, 200, nil},
		{"stream-old", "/v2/models/vllm/generate_stream", `{"PROMPT":"hi there","STREAM":true,"SAMPLING_PARAMETERS":"{\"max_tokens\":2}"}`, 200, nil},
		{"stream-error", "/v2/models/vllm_model/generate_stream", `{"text_input":"hi there","stream":true,"parameters":{"max_tokens":4}}`, 200, func(c *config.Server) { c.Faults = []config.Fault{{Kind: config.FaultError, Share: 1}} }},
		{"infer", "/v2/models/simple_add/infer", `{"id":"x7",` + add + `}`, 200, nil},
		{"infer-missing", "/v2/models/simple_add/infer", `{"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[1,16],"data":` + ones + `}]}`, 400, nil},
		{"infer-shape", "/v2/models/simple_add/infer", `{"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[1,16],"data":[1,2]}]}`, 500, nil},
		{"infer-nothing", "/v2/models/simple_add/infer", `{"x":1}`, 500, nil},
		{"infer-decoupled", "/v2/models/vllm_model/infer", `{"inputs":[]}`, 501, nil},
		{"generate-type", "/v2/models/vllm_model/generate", `{"text_input":5}`, 500, nil},
		{"not-found", "/v2/models/nope/generate", `{"text_input":"x"}`, 404, func(c *config.Server) { c.Strict = true }},
		{"status", "/v2/models/vllm_model/generate", `{"text_input":"x"}`, 503, func(c *config.Server) { c.Faults = []config.Fault{{Kind: config.FaultStatus, Code: 503, Share: 1}} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := start(t, tt.change)
			var resp *http.Response
			var body string
			if tt.body == "" {
				resp, body = f.get(tt.path)
			} else {
				resp, body = f.mustPost(tt.path, tt.body)
			}
			if resp.StatusCode != tt.status {
				t.Errorf("status %d, want %d", resp.StatusCode, tt.status)
			}
			golden(t, filepath.Join("testdata", "triton-"+tt.name+".golden"), body)
		})
	}
}

func TestTritonHTTPPages(t *testing.T) {
	f := start(t, nil)
	for path, want := range map[string]int{
		"/v2/health/live": 200, "/v2/health/ready": 200, "/v2/models/ensemble/ready": 200, "/v2/models/ensemble/versions/9/ready": 400,
		"/v2/models/stats": 200, "/v2/bogus": 404, "/v2/models/x/bogus": 404, "/v2/repository/index": 405, "/v2/systemsharedmemory/status": 200, "/v2/models/x/versions/9": 404,
	} {
		if resp, body := f.get(path); resp.StatusCode != want {
			t.Errorf("%s: status %d, want %d: %s", path, resp.StatusCode, want, body)
		}
	}
	f.mustPost("/v2/repository/models/ensemble/unload", "{}")
	if resp, body := f.get("/v2/models/ensemble/config"); resp.StatusCode != 404 || body != `{"error":"Request for unknown model: 'ensemble' has no available versions"}` {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	f.mustPost("/v2/repository/models/ensemble/load", "")
	if resp, _ := f.get("/v2/models/ensemble/ready"); resp.StatusCode != 200 {
		t.Errorf("status %d after loading", resp.StatusCode)
	}
}

// TestBinaryTensors sends one tensor as bytes and one as JSON, and wants bytes back;
// once more compressed.
func TestBinaryTensors(t *testing.T) {
	f := start(t, nil)
	_, raw := tensor("", []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
	head := `{"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[1,16],"parameters":{"binary_data_size":64}},` +
		`{"name":"INPUT1","datatype":"FP32","shape":[1,16],"data":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]}],"outputs":[{"name":"OUTPUT0","parameters":{"binary_data":true}}]}`
	body := head + string(raw)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(body))
	_ = w.Close()
	for _, headers := range [][]string{{}, {"Content-Encoding", "gzip"}} {
		send := body
		if len(headers) > 0 {
			send = packed.String()
		}
		resp, got := f.mustPost("/v2/models/simple_add/infer", send, append(headers, "Inference-Header-Content-Length", strconv.Itoa(len(head)))...)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", resp.StatusCode, got)
		}
		n, err := strconv.Atoi(resp.Header.Get("Inference-Header-Content-Length"))
		if err != nil || len(got) != n+64 {
			t.Fatalf("%d bytes, of them %d JSON: %v", len(got), n, err)
		}
		var doc struct {
			Outputs []struct {
				Parameters map[string]int
			}
		}
		if err := json.Unmarshal([]byte(got[:n]), &doc); err != nil || doc.Outputs[0].Parameters["binary_data_size"] != 64 {
			t.Errorf("%v %s", err, got[:n])
		}
		want := appendJSONValues(nil, "FP32", added(&repository.Input{Data: raw}, &repository.Input{Data: raw}))
		if d := cmp.Diff(string(want), string(appendJSONValues(nil, "FP32", []byte(got[n:])))); d != "" {
			t.Error(d)
		}
		if last := binary.LittleEndian.Uint32([]byte(got[n+60:])); last == 0 {
			t.Error("the last element is lost")
		}
	}
}

func TestTritonHTTPTruth(t *testing.T) {
	f := start(t, nil)
	_, body := f.mustPost("/v2/models/vllm_model/generate_stream", `{"id":"r1","text_input":"one two three","stream":true,"sampling_parameters":"{\"max_tokens\":5}"}`)
	truths := f.truths()
	if len(truths) != 1 {
		t.Fatalf("%d lines", len(truths))
	}
	tr := truths[0]
	sum := 0
	for _, e := range tr.Events {
		sum += e.Bytes
	}
	if tr.ID != "r1" || tr.Tokens != 5 || tr.Prompt != 3 || tr.Max != 5 || !tr.Stream || tr.Finish != "length" || len(tr.Events) != 5 || sum != len(body) {
		t.Errorf("%d bytes of %d: %+v", sum, len(body), tr)
	}
}
