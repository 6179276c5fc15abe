package body

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func decode(t *testing.T, a API, strict bool, body string) (Params, error) {
	t.Helper()
	var p Params
	p.Reset(0)
	var r Reader
	err := r.Read(a, strict, []byte(body), &p)
	return p, err
}

func TestBody(t *testing.T) {
	type facts struct {
		Model                  string
		Stream, Usage, Ignore  bool
		Limit, Min, N, In, Len int
		Tool                   string
	}
	tests := map[string]struct {
		API  API
		body string
		want facts
	}{
		"chat": {Chat, `{"model":"m","messages":[{"role":"system","content":"be  kind\n"},{"role":"user","content":"a\tb"}],"max_tokens":5,"stream":true}`,
			facts{Model: "m", Stream: true, Limit: 5, N: 1, In: 1, Len: 4}},
		"parts": {Chat, `{"messages":[{"content":[{"type":"text","text":"one two"},{"type":"image_url","image_url":{"url":"http://x/y z"}},{"text":"three"}],"role":"user"}]}`,
			facts{Limit: -1, N: 1, In: 1, Len: 3}},
		"completion tokens win": {Chat, `{"messages":[{"role":"user","content":null}],"max_tokens":5,"max_completion_tokens":9.0,"min_tokens":2}`,
			facts{Limit: 9, Min: 2, N: 1, In: 1}},
		"nulls": {Chat, `{"messages":[{"role":"user","content":"x"}],"max_tokens":null,"stream":null,"stream_options":null,"tools":null,"model":null}`,
			facts{Limit: -1, N: 1, In: 1, Len: 1}},
		"usage": {Completions, `{"prompt":"a b c","stream":true,"stream_options":{"include_usage":true},"ignore_eos":true}`,
			facts{Stream: true, Usage: true, Ignore: true, Limit: -1, N: 1, In: 1, Len: 3}},
		"prompts": {Completions, `{"prompt":["a b","c"],"n":2}`, facts{Limit: -1, N: 2, In: 2, Len: 3}},
		"ids":     {Completions, `{"prompt":[1,22,333]}`, facts{Limit: -1, N: 1, In: 1, Len: 3}},
		"id sets": {Completions, `{"prompt":[[1,2],[3]]}`, facts{Limit: -1, N: 1, In: 2, Len: 3}},
		"items": {Responses, `{"instructions":"be so","input":[{"role":"user","content":"a b"},{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"x y"}]},` +
			`{"output":"c","type":"function_call_output","call_id":"i"},{"role":"assistant","content":[{"type":"output_text","text":"d"}]}],"max_output_tokens":7,"tools":[{"type":"function","name":"f"}],"stream":true}`,
			facts{Stream: true, Limit: 7, N: 1, In: 1, Len: 6, Tool: "f"}},
		"sglang ids": {SGLang, `{"input_ids":[1,2],"sampling_params":{"max_new_tokens":4,"ignore_eos":true,"min_new_tokens":2}}`,
			facts{Ignore: true, Limit: 4, Min: 2, N: 1, In: 1, Len: 2}},
		"inputs": {Embeddings, `{"input":["a b","c d e"]}`, facts{Limit: -1, N: 1, In: 2, Len: 5}},
		"tool": {Chat, `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"parameters":{"name":1},"name":"f"}},{"function":{"name":"g"}}]}`,
			facts{Limit: -1, N: 1, In: 1, Len: 1, Tool: "f"}},
		"twice": {Chat, `{"messages":[{"role":"user","content":"a b c"}],"messages":[{"role":"user","content":"x"}]}`, facts{Limit: -1, N: 1, In: 1, Len: 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := decode(t, tt.API, true, tt.body)
			if err != nil {
				t.Fatal(err)
			}
			got := facts{string(p.Model), p.Stream, p.Usage, p.IgnoreEOS, p.Limit(), p.Min, p.N, p.Inputs, p.Words.N, string(p.Tool)}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestBadBody(t *testing.T) {
	tests := []struct {
		API        API
		body, want string
	}{
		{Chat, ``, "JSON ends"},
		{Chat, `[]`, "an object"},
		{Chat, `{"messages":[{"role":"user","content":"x"}]} x`, "the end"},
		{Chat, `{}`, "messages: field required"},
		{Chat, `{"messages":[]}`, "cannot be empty"},
		{Chat, `{"messages":"x"}`, "must be an array"},
		{Chat, `{"messages":[{"content":"x"}]}`, "role: field required"},
		{Chat, `{"messages":[{"role":"user","content":"x"}],"max_tokens":"5"}`, "max_tokens: must be an integer"},
		{Chat, `{"messages":[{"role":"user","content":"x"}],"max_tokens":0}`, "at least 1"},
		{Chat, `{"messages":[{"role":"user","content":"x"}],"max_tokens":2,"min_tokens":3}`, "min_tokens must be"},
		{Chat, `{"messages":[{"role":"user","content":"x"}],"stream":1}`, "true or false"},
		{Chat, `{"messages":[{"role":"user","content":"x"}],"n":0}`, "n must be"},
		{Chat, `{"messages":[{"role":"user","content":"x"}],"foo":1,"bar":2}`, "'foo'"},
		{Chat, `{"messages":[{"role":"user","content":"x"}],"foo":1,"bar":2}`, "'bar'"},
		{Chat, `{"messages":[{"role":"user","content":"x"}],"prompt":"x"}`, "'prompt'"},
		{Completions, `{"prompt":5}`, "must be a string or an array"},
		{Completions, `{"prompt":[true]}`, "token id"},
		{Embeddings, `{"input":"x","encoding_format":"hex"}`, "float or base64"},
		{Embeddings, `{"input":"x","dimensions":0}`, "dimensions"},
		{Messages, `{"messages":[{"role":"user","content":"x"}]}`, "max_tokens: field required"},
		{Messages, `{"messages":[{"role":"user","content":"x"}],"max_tokens":3,"ignore_eos":true}`, "'ignore_eos'"},
		{Messages, `{"messages":[{"role":"user","content":"x"}],"max_tokens":3,"tools":["x"]}`, "tools: each"},
		{Ranking, `{"passages":[{"text":"x"}]}`, "query: field required"},
		{Ranking, `{"query":"x","passages":[{"text":"x"}]}`, "query: must be an object"},
		{Ranking, `{"query":{"text":"x"},"passages":"x"}`, "must be an array"},
		{Rerank, `{"query":"x","texts":[]}`, "cannot be empty"},
		{Rerank, `{"query":"x","texts":["a"],"passages":[]}`, "'passages'"},
		{Retrieval, `{"input":[{"type":"text","text":"x"}]}`, "type image_url"},
		{TGI, `{"parameters":{"max_new_tokens":3}}`, "inputs: field required"},
		{TGI, `{"inputs":"x","parameters":{"max_tokens":3}}`, "parameters.max_tokens"},
		{Chat, `{"messages":[{"role":"user","content":"x"}],"top_logprobs":2}`, "needs logprobs"},
		{Chat, `{"messages":[{"role":"user","content":"x"}],"logprobs":true,"top_logprobs":21}`, "from 0 to 20"},
		{Chat, `{"messages":[{"role":"user","content":"x"}],"logprobs":2}`, "true or false"},
		{Chat, `{"messages":[{"role":"user","content":"x"}],"response_format":{"type":"yaml"}}`, "text, json_object or json_schema"},
		{Chat, `{"messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema"}}`, "schema: field required"},
		{Completions, `{"prompt":"x","logprobs":-2}`, "from 0 to 20"},
		{CountTokens, `{"model":"m"}`, "messages: field required"},
		{CountTokens, `{"messages":[{"role":"user","content":"x"}],"max_tokens":3}`, "'max_tokens'"},
		{Responses, `{"input":5}`, "must be a string or an array"},
		{Responses, `{"input":[]}`, "cannot be empty"},
		{Responses, `{"input":["x"]}`, "each must be an object"},
		{Responses, `{"input":[{"role":"user"}]}`, "content: field required"},
		{Responses, `{"input":[{"type":"function_call","call_id":"c","name":"f"}]}`, "arguments: field required"},
		{Responses, `{"input":[{"type":"chat"}]}`, `unknown type "chat"`},
		{Responses, `{"input":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`, `"text" is none of`},
		{Responses, `{"input":"x","max_tokens":3}`, "'max_tokens'"},
		{Responses, `{"input":"x","max_output_tokens":0}`, "at least 1"},
		{Responses, `{"messages":[]}`, "'messages'"},
		{Documents, `{"query":"x"}`, "documents: field required"},
		{Documents, `{"documents":["x"]}`, "query: field required"},
		{Documents, `{"query":"x","documents":"y"}`, "must be an array"},
		{Documents, `{"query":"x","documents":["y"],"texts":["z"]}`, "'texts'"},
		{Score, `{"text_1":"x"}`, "text_2: field required"},
		{Score, `{"text_2":["x"]}`, "text_1: field required"},
		{Classify, `{"input":"x","stream":true}`, "'stream'"},
		{Pooling, `{"text":"x"}`, "'text'"},
		{Images, `{"prompt":"x","size":"huge"}`, "WIDTHxHEIGHT"},
		{Images, `{"prompt":"x","n":11}`, "from 1 to 10"},
		{Images, `{"prompt":"x","response_format":"png"}`, "url or b64_json"},
		{Images, `{"prompt":"x","stream":true}`, "in one piece"},
		{SGLang, `{"sampling_params":{}}`, "text: field required"},
		{SGLang, `{"text":"a","input_ids":[1]}`, "either text or input_ids"},
		{SGLang, `{"text":["a","b"]}`, "one prompt in a request"},
		{SGLang, `{"text":"a","model":"m"}`, "'model'"},
		{SGLang, `{"text":"a","sampling_params":{"max_tokens":3}}`, "sampling_params.max_tokens"},
		{SGLang, `{"text":"a","sampling_params":{"n":2}}`, "one response"},
		{SGLang, `{"text":"a","sampling_params":[]}`, "must be an object"},
		{Chat, `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///x"}}]}]}`, "http, https or data"},
		{Chat, `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}`, "cannot identify image"},
		{Chat, `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,?"}}]}]}`, "not base64"},
		{Chat, `{"messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}]}]}`, "not a WAV"},
		{Chat, `{"messages":[{"role":"user","content":[{"type":"video_url","video_url":{"url":"data:video/mp4;base64,AAAA"}}]}]}`, "not an MP4"},
		{Messages, `{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"AAAA"}}]}],"max_tokens":1}`, "format is missing"},
	}
	for _, tt := range tests {
		if _, err := decode(t, tt.API, true, tt.body); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q in it", tt.body, err, tt.want)
		}
	}
	if _, err := decode(t, Chat, false, `{"messages":[{"role":"user","content":"x"}],"foo":{"bar":[1,2]}}`); err != nil {
		t.Errorf("unknown field, not strict: %v", err)
	}
}

func FuzzScanner(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e+3,true,null,"x\u00e9\n"]}`, `[]`, `"\`, `{"a":}`, `01`, `1.`, "\"\x01\"", `[1,]`} {
		f.Add([]byte(s))
	}
	mutate.Fuzz(f, func(t *testing.T, b []byte) {
		s := scanner{b: b}
		_, err := s.skip()
		if err == nil {
			err = s.end()
		}
		if got, want := err == nil, json.Valid(b); got != want {
			t.Errorf("%q: valid is %v, encoding/json says %v (%v)", b, got, want, err)
		}
	})
}

func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","content":[{"text":"x"}]}],"tools":[{"function":{"name":"f"}}],"n":3}`))
	f.Add([]byte(`{"prompt":[[1],[2]],"stream_options":{"include_usage":true},"input":"x"}`))
	f.Add([]byte(`{"system":[{"text":"s"}],"messages":[{"role":"user","content":[{"type":"image","source":{"data":"x"}}]}],"max_tokens":3,"tool_choice":{"type":"none"}}`))
	f.Add([]byte(`{"query":{"text":"q"},"passages":[{"text":"p"}],"texts":["t"],"inputs":"i","parameters":{"max_new_tokens":3}}`))
	f.Add([]byte(`{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}],"text":"t","sampling_params":{"n":1}}`))
	mutate.Fuzz(f, func(t *testing.T, b []byte) {
		for _, a := range []API{Chat, Completions, Embeddings, Messages, Ranking, Rerank, Retrieval, TGI, Responses, SGLang, Documents,
			Score, Classify, Pooling, Images, CountTokens} {
			p, err := decode(t, a, false, string(b))
			if err == nil && !json.Valid(b) {
				t.Errorf("%q is not JSON but was taken", b)
			}
			if err == nil && (p.Inputs < 1 || p.N < 1 && a.Generates()) {
				t.Errorf("%q gives %d inputs, n %d", b, p.Inputs, p.N)
			}
		}
	})
}

// form is a body of parts, each a name and a value; that of the file has a type too.
func form(parts ...[2]string) string {
	var b strings.Builder
	for _, p := range parts {
		head := `name="` + p[0] + `"`
		if p[0] == "file" {
			head += "; filename=\"a.wav\"\r\nContent-Type: audio/wav"
		}
		b.WriteString("--x\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + p[1] + "\r\n")
	}
	return b.String() + "--x--\r\n"
}

// wav is half a second of silence at 8 kHz and 8 bits.
var wav = "RIFF\xc4\x0f\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\xa0\x0f\x00\x00" + strings.Repeat("\x80", 4000)

func TestForm(t *testing.T) {
	const ctype = "multipart/form-data; boundary=x"
	for _, tt := range []struct{ ctype, body, want string }{
		{ctype, form([2]string{"file", wav}, [2]string{"model", "m"}, [2]string{"prompt", "a b"}, [2]string{"stream", "true"}, [2]string{"max_completion_tokens", "3"}), ""},
		{"application/json", `{}`, "must be multipart/form-data"},
		{ctype, form([2]string{"model", "m"}), "file: field required"},
		{ctype, form([2]string{"file", "nothing"}), "not a WAV"},
		{ctype, form([2]string{"file", wav}, [2]string{"stream", "maybe"}), "true or false"},
		{ctype, form([2]string{"file", wav}, [2]string{"max_completion_tokens", "0"}), "at least 1"},
		{ctype, form([2]string{"file", wav}, [2]string{"foo", "1"}), "'foo'"},
		{ctype, form([2]string{"file", wav}, [2]string{"response_format", "srt"}), "verbose_json"},
		{ctype, "--x\r\n", "file: field required"},
		{ctype, "--x\r\n\r\nabc", "form is broken"},
	} {
		var p Params
		p.Reset(0)
		err := ReadForm(tt.ctype, true, []byte(tt.body), &p)
		if tt.want == "" {
			if err != nil || string(p.Model) != "m" || !p.Stream || p.Max != 3 || p.Form.Seconds != 0.5 || p.Words.N != 2+5 || p.Media != 1 {
				t.Errorf("%v, %+v", err, p)
			}
		} else if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.80q: %v, want %q in it", tt.body, err, tt.want)
		}
	}
}

func FuzzForm(f *testing.F) {
	f.Add([]byte(form([2]string{"file", wav}, [2]string{"model", "m"})))
	mutate.Fuzz(f, func(t *testing.T, b []byte) {
		var p Params
		p.Reset(4)
		if err := ReadForm("multipart/form-data; boundary=x", true, b, &p); err == nil && (p.Inputs != 1 || p.Form.Seconds < 0) {
			t.Errorf("%+v", p)
		}
	})
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"a b", " a\n\tb\u00a0c\u2003d ", "", "  ", "é\u0085x", "\x1c", "a\\b\"c/d\f\b", "😀 x"} {
		f.Add(s)
	}
	mutate.Fuzz(f, func(t *testing.T, s string) {
		raw, err := json.Marshal(s)
		if err != nil {
			t.Skip()
		}
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			t.Fatal(err)
		}
		var w WordCount
		w.reset(4)
		w.add(raw[1 : len(raw)-1])
		if want := len(strings.Fields(text)); w.N != want {
			t.Errorf("%q has %d words, counted %d", text, want, w.N)
		}
		if len(w.Blocks) != w.N/4 {
			t.Errorf("%d words in %d blocks of 4", w.N, len(w.Blocks))
		}
	})
}
