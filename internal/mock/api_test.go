package mock

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/mock/body"
	"github.com/inferometer/inferometer/internal/mock/config"
)

// person is a format of JSON.
const person = `{"type":"json_schema","json_schema":{"name":"p","schema":{"type":"object","properties":{"age":{"type":"integer","minimum":18},"name":{"type":"string"}},"required":["age","name"]}}}`

// TestOtherAPIs compares whole bodies of the APIs beside OpenAI's with testdata.
func TestOtherAPIs(t *testing.T) {
	const path = "/v1/messages"
	tool := `,"tools":[{"name":"look_up","input_schema":{"type":"object"}}]`
	stream := `,"stream":true`
	for _, tt := range []struct {
		name, path, body string
		change           func(*config.Server)
	}{
		{"messages", path, `{"model":"m","system":"be brief",` + hello + `,"max_tokens":4}`, nil},
		{"messages-stream", path, `{"model":"m","system":[{"type":"text","text":"be brief"}],` + hello + `,"max_tokens":3` + stream + `}`, nil},
		{"messages-thinking", path, `{"model":"m",` + hello + `,"max_tokens":4}`, func(c *config.Server) { c.Output.ReasoningTokens = 2 }},
		{"messages-thinking-stream", path, `{"model":"m",` + hello + `,"max_tokens":4` + stream + `}`, func(c *config.Server) { c.Output.ReasoningTokens, c.Output.TokensPerEvent = 3, 2 }},
		{"messages-tool", path, `{"model":"m",` + hello + `,"max_tokens":3` + tool + `}`, nil},
		{"messages-tool-stream", path, `{"model":"m",` + hello + `,"max_tokens":3` + tool + stream + `}`, nil},
		{"messages-no-tool", path, `{"model":"m",` + hello + `,"max_tokens":3` + tool + `,"tool_choice":{"type":"none"}}`, nil},
		{"messages-cached", path, `{"model":"m",` + hello + `,"max_tokens":1}`, func(c *config.Server) { c.Latency.PrefixCache, c.Latency.BlockSize = true, 3 }},
		{"count-tokens", "/v1/messages/count_tokens", `{"model":"m","system":"be brief",` + hello + `}`, nil},
		{"detokenize", "/detokenize", `{"model":"m","tokens":[13954624,8744596,5]}`, nil},
		{"logprobs", chatPath, `{"model":"m",` + hello + `,"max_tokens":2,"logprobs":true,"top_logprobs":2}`, nil},
		{"logprobs-stream", chatPath, `{"model":"m",` + hello + `,"max_tokens":2,"logprobs":true` + stream + `}`, nil},
		{"logprobs-text", textPath, `{"model":"m","prompt":"a","max_tokens":3,"logprobs":2}`, nil},
		{"json", chatPath, `{"model":"m",` + hello + `,"max_tokens":4,"response_format":{"type":"json_object"}}`, nil},
		{"json-stream", chatPath, `{"model":"m",` + hello + `,"max_tokens":3,"response_format":` + person + stream + `}`, nil},
		{"json-reasoning", chatPath, `{"model":"m",` + hello + `,"max_tokens":4,"response_format":` + person + `}`, func(c *config.Server) { c.Output.ReasoningTokens = 2 }},
		{"json-closed", chatPath, `{"model":"m",` + hello + `,"max_tokens":4,"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object","properties":{"age":{"type":"integer"}}}}}}`, nil},
		{"json-responses", "/v1/responses", `{"model":"m","input":"hello","max_output_tokens":2,"text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object","properties":{"a":{"type":"string"}}}}}}`, nil},
		{"responses", "/v1/responses", `{"model":"m","instructions":"be brief","input":"say hello to all","max_output_tokens":4}`, nil},
		{"responses-stream", "/v1/responses", `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"say hello"}]},` +
			`{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"a b"}]` + stream + `,"max_output_tokens":2}`, nil},
		{"responses-reasoning", "/v1/responses", `{"model":"m","input":"hello"}`, func(c *config.Server) { c.Output.ReasoningTokens, c.Output.Tokens = 2, 4 }},
		{"responses-reasoning-stream", "/v1/responses", `{"model":"m","input":"hello"` + stream + `}`, func(c *config.Server) { c.Output.ReasoningTokens, c.Output.Tokens = 1, 2 }},
		{"responses-tool", "/v1/responses", `{"model":"m","input":"hello","max_output_tokens":3,"tools":[{"type":"function","name":"look_up"}]}`, nil},
		{"responses-tool-stream", "/v1/responses", `{"model":"m","input":"hello","max_output_tokens":2,"tools":[{"type":"function","name":"look_up"}]` + stream + `}`, nil},
		{"responses-no-tool", "/v1/responses", `{"model":"m","input":"hello","max_output_tokens":1,"tools":[{"type":"function","name":"look_up"}],"tool_choice":"none"}`, nil},
		{"sglang", "/generate", `{"text":"a b c","sampling_params":{"max_new_tokens":3}}`, nil},
		{"sglang-stream", "/generate", `{"input_ids":[1,2,3],"sampling_params":{"max_new_tokens":3,"ignore_eos":true}` + stream + `}`, nil},
		{"sglang-stop", "/generate", `{"text":"a","sampling_params":null}`, func(c *config.Server) { c.Output.Tokens = 2 }},
		{"ranking", "/v1/ranking", `{"model":"m","query":{"text":"which one"},"passages":[{"text":"a"},{"text":"b c"},{"text":"d e f"}]}`, nil},
		{"rerank", "/rerank", `{"query":"which one","texts":["a","b c","d e f"]}`, nil},
		{"rerank-documents", "/v1/rerank", `{"model":"m","query":"which one","documents":["a","b c",{"text":"d e f"}],"top_n":2}`, nil},
		{"rerank-cohere", "/v2/rerank", `{"model":"m","query":"which one","documents":["a","b c"]}`, nil},
		{"score", "/score", `{"model":"m","text_1":"which one","text_2":["a","b c"]}`, nil},
		{"classify", "/classify", `{"model":"m","input":["a","b c"]}`, nil},
		{"pooling", "/pooling", `{"model":"m","input":"a b"}`, func(c *config.Server) { c.Output.EmbeddingDim = 3 }},
		{"pooling-chat", "/pooling", `{"model":"m",` + hello + `,"encoding_format":"base64","dimensions":2}`, nil},
		{"images", "/v1/images/generations", `{"model":"m","prompt":"a cat","n":2,"size":"3x2"}`, nil},
		{"images-url", "/v1/images/generations", `{"model":"m","prompt":"a cat","response_format":"url"}`, nil},
		{"retrieval", "/v1/infer", `{"input":[{"type":"image_url","url":"http://x/y.png"},{"type":"image_url","url":"http://x/z.png"}]}`, nil},
		{"tgi", "/generate", `{"inputs":"a b c","parameters":{"max_new_tokens":3,"details":true}}`, nil},
		{"tgi-root", "/", `{"model":"m","inputs":"a b c","parameters":{"max_new_tokens":3}}`, nil},
		{"tgi-stream", "/generate_stream", `{"inputs":"a b c","parameters":{"max_new_tokens":3}}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := start(t, tt.change)
			if strings.HasSuffix(tt.name, "-cached") {
				f.mustPost(tt.path, tt.body)
			}
			resp, got := f.mustPost(tt.path, tt.body)
			if resp.StatusCode != http.StatusOK {
				t.Errorf("status %d", resp.StatusCode)
			}
			for block := range strings.SplitSeq(strings.TrimSuffix(got, "\n\n"), "\n\n") {
				_, data, ok := strings.Cut(block, "data:")
				if ok && strings.TrimSpace(data) != "[DONE]" && !json.Valid([]byte(data)) || !ok && !json.Valid([]byte(block)) {
					t.Errorf("not JSON: %s", block)
				}
			}
			got = created.ReplaceAllString(got, `"$1":0`)
			golden(t, filepath.Join("testdata", tt.name+".golden"), got)
			if strings.Contains(tt.name, "token") { // no inference
				return
			}
			tr := f.truths()
			if last := tr[len(tr)-1]; last.Finish == "abort" || last.Status != 200 {
				t.Errorf("truth: %+v", last)
			}
		})
	}
}

// TestOtherAPIsFail strikes each of the APIs with faults.
func TestOtherAPIsFail(t *testing.T) {
	for _, tt := range []struct{ path, body, want string }{
		{"/v1/messages", `{` + hello + `,"max_tokens":4,"stream":true}`, `data: {"type":"error","error":{"type":"api_error","message":"injected fault: the engine died"}}`},
		{"/generate_stream", `{"inputs":"a"}`, `data: {"error":"injected fault: the engine died","error_type":"generation"}`},
		{"/generate", `{"text":"a","stream":true}`, `data: {"error":{"message":"injected fault: the engine died"}}`},
		{"/v1/ranking", `{"query":{"text":"q"},"passages":[{"text":"a"}]}`, `injected fault: the engine died`},
	} {
		for _, kind := range []config.FaultKind{config.FaultError, config.FaultErrorEvent} {
			f := start(t, always(kind, 0))
			_, got := f.mustPost(tt.path, tt.body)
			if !strings.Contains(got, tt.want) || strings.Contains(got, "[DONE]") {
				t.Errorf("%s, %s: %s", tt.path, kind, got)
			}
		}
		f := start(t, always(config.FaultStatus, 503))
		resp, got := f.mustPost(tt.path, tt.body)
		if resp.StatusCode != 503 || !strings.Contains(got, "injected fault") {
			t.Errorf("%s: %d %s", tt.path, resp.StatusCode, got)
		}
		f = start(t, always(config.FaultTruncate, 0))
		if _, _, err := f.post(tt.path, tt.body); err == nil {
			t.Errorf("%s: an answer that was cut off came whole", tt.path)
		}
	}
}

func TestMessagesRefusals(t *testing.T) {
	f := start(t, func(c *config.Server) { c.Strict, c.APIKey = true, "secret" })
	version := []string{"Anthropic-Version", "2023-06-01"}
	for _, tt := range []struct {
		body   string
		header []string
		status int
		want   string
	}{
		{`{"model":"mock",` + hello + `,"max_tokens":5}`, version, 401, `"authentication_error"`},
		{`{"model":"mock",` + hello + `,"max_tokens":5}`, append(version, "X-Api-Key", "secret"), 200, `"stop_reason":"max_tokens"`},
		{`{"model":"mock",` + hello + `,"max_tokens":5}`, []string{"X-Api-Key", "secret"}, 400, "anthropic-version"},
		{`{"model":"other",` + hello + `,"max_tokens":5}`, append(version, "X-Api-Key", "secret"), 404, `"not_found_error"`},
		{`{"model":"mock",` + hello + `,"max_tokens":5,"stream_options":{}}`, append(version, "X-Api-Key", "secret"), 400, `"invalid_request_error"`},
	} {
		resp, got := f.mustPost("/v1/messages", tt.body, tt.header...)
		if resp.StatusCode != tt.status || !strings.Contains(got, tt.want) {
			t.Errorf("%s %v: %d %s", tt.body, tt.header, resp.StatusCode, got)
		}
	}
}

// A server that was told its models serves no others, as vLLM does.
func TestUnknownModels(t *testing.T) {
	f := start(t, func(c *config.Server) { c.AnyModel, c.Models = false, []string{"mock", "other"} })
	for model, want := range map[string]int{"mock": 200, "other": 200, "third": 404} {
		if resp, got := f.mustPost(chatPath, `{"model":"`+model+`",`+hello+`,"max_tokens":1}`); resp.StatusCode != want {
			t.Errorf("%s: %d %s", model, resp.StatusCode, got)
		}
	}
	if resp, _ := f.mustPost(chatPath, `{`+hello+`,"max_tokens":1}`); resp.StatusCode != 200 {
		t.Errorf("no model: %d", resp.StatusCode)
	}
}

// What is told of a text is told back.
func TestTokensThereAndBack(t *testing.T) {
	f := start(t, nil)
	_, got := f.mustPost("/tokenize", `{"prompt":"to whom it may\nconcern"}`)
	var b struct {
		Tokens []int `json:"tokens"`
	}
	if err := json.Unmarshal([]byte(got), &b); err != nil || len(b.Tokens) != 5 {
		t.Fatalf("%s, %v", got, err)
	}
	ids, _ := json.Marshal(b.Tokens)
	if _, got := f.mustPost("/detokenize", `{"tokens":`+string(ids)+`}`); got != `{"prompt":"to whom it may concern"}` {
		t.Error(got)
	}
	if resp, got := f.mustPost("/detokenize", `{}`); resp.StatusCode != 400 {
		t.Errorf("%d %s", resp.StatusCode, got)
	}
	if _, got := f.get("/version"); !strings.Contains(got, `"version"`) {
		t.Error(got)
	}
}

func TestSessions(t *testing.T) {
	f := start(t, func(c *config.Server) { c.SessionID, c.SessionToken = "x-session", "x-token" })
	body := `{` + hello + `,"max_tokens":1}`
	resp, _ := f.mustPost(chatPath, body, "X-Session", "s1")
	token := resp.Header.Get("X-Token")
	if token == "" {
		t.Fatal("no token")
	}
	if again, _ := f.mustPost(chatPath, body, "X-Session", "s1", "X-Token", token); again.Header.Get("X-Token") != token {
		t.Errorf("token %q became %q", token, again.Header.Get("X-Token"))
	}
	if other, _ := f.mustPost(chatPath, body); other.Header.Get("X-Token") == token {
		t.Error("another session has the same token")
	}
	var got []string
	for _, tr := range f.truths() {
		got = append(got, fmt.Sprintf("%s %s", tr.Session, tr.Token))
	}
	want := []string{"s1 ", "s1 " + token, " "}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("truth has %q, want %q", got, want)
	}
}

func TestOutputLength(t *testing.T) {
	tests := []struct {
		name   string
		o      config.Output
		p      body.Params
		n      int
		finish string
	}{
		{"default", config.Output{Tokens: 64}, body.Params{Max: -1, MaxCompletion: -1}, 64, "stop"},
		{"limit", config.Output{Tokens: 64}, body.Params{Max: 100, MaxCompletion: -1}, 100, "length"},
		{"least", config.Output{Tokens: 64}, body.Params{Max: -1, MaxCompletion: -1, Min: 80}, 80, "stop"},
		{"no end", config.Output{Tokens: 64}, body.Params{Max: -1, MaxCompletion: -1, IgnoreEOS: true}, 64, "length"},
		{"drawn, no end", config.Output{Tokens: 64, TokensStddev: 5}, body.Params{Max: 500, MaxCompletion: -1, IgnoreEOS: true}, 500, "length"},
		{"drawn, cut", config.Output{Tokens: 64, TokensStddev: 5}, body.Params{Max: 10, MaxCompletion: -1}, 10, "length"},
	}
	for _, tt := range tests {
		n, finish := outputLength(&tt.o, &tt.p, rand.New(rand.NewPCG(1, 0)))
		if n != tt.n || finish != tt.finish {
			t.Errorf("%s: %d, %s; want %d, %s", tt.name, n, finish, tt.n, tt.finish)
		}
	}
	short := 0
	for i := range 100 {
		n, finish := outputLength(&config.Output{Tokens: 64, TokensStddev: 8}, &body.Params{Max: 64, MaxCompletion: -1},
			rand.New(rand.NewPCG(1, uint64(i))))
		if n < 64 {
			short++
		}
		if (n < 64) != (finish == "stop") {
			t.Errorf("%d of 64 tokens, finish %s", n, finish)
		}
	}
	if short < 30 || short > 70 {
		t.Errorf("%d of 100 answers ended before the mean length", short)
	}
}
