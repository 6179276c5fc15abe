package listed

import (
	"crypto/tls"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/decodetest"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

func newEndpoint(name string, change func(*plan.Target)) (*Endpoint, error) {
	target := plan.Default().Target
	target.Protocol, target.Endpoint, target.URLs, target.Model, target.Streaming = plan.ProtocolHTTP, name, []string{"http://localhost:1"}, "mock", false
	if change != nil {
		change(&target)
	}
	return New(target, endpoint.Options{Clock: timedconn.NewClock(), TLS: new(tls.Config), RunID: "run"})
}

func TestBodies(t *testing.T) {
	several := prompt.Prompt{Text: "q", Texts: []string{"a", `"b"`}}
	for _, tt := range []struct {
		name   string
		change func(*plan.Target)
		prompt prompt.Prompt
		want   string
	}{
		{plan.EndpointCohereRerank, nil, several, `{"model":"mock","query":"q","documents":["a","\"b\""]}`},
		{plan.EndpointJinaRerank, func(t *plan.Target) { t.Model, t.Body = "", map[string]any{"top_n": 3} }, several, `{"top_n":3,"query":"q","documents":["a","\"b\""]}`},
		{plan.EndpointScore, nil, prompt.Prompt{Text: "q"}, `{"model":"mock","text_1":"q","text_2":["q"]}`},
		{plan.EndpointClassify, nil, prompt.Prompt{Text: "q", Model: "a"}, `{"model":"a","input":"q"}`},
		{plan.EndpointPooling, nil, several, `{"model":"mock","input":["a","\"b\""]}`},
		{plan.EndpointImages, func(t *plan.Target) { t.Body = map[string]any{"n": 2, "size": "64x64"} }, prompt.Prompt{Text: "a cat"}, `{"n":2,"size":"64x64","model":"mock","prompt":"a cat"}`},
	} {
		e, err := newEndpoint(tt.name, tt.change)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.encode(&tt.prompt); err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v\nwant\n%s", tt.name, got, err, tt.want)
		}
	}
	if _, err := newEndpoint(plan.EndpointScore, func(t *plan.Target) { t.Body = map[string]any{"text_1": 1} }); err == nil {
		t.Error("the query could be replaced")
	}
}

func TestResponses(t *testing.T) {
	var (
		own    = record.Tokens{N: 3, Source: record.FromTokenizer, Local: 3}
		server = record.Tokens{N: 7, Source: record.FromServer, Local: 3}
		media  = record.Tokens{N: 7, Source: record.FromServer, Local: -1}
		silent = record.Tokens{Local: -1}
	)
	for _, c := range []struct {
		name, body string
		in         record.Tokens
		labels     string
		failure    string
	}{
		{plan.EndpointCohereRerank, `{"id":"x","results":[{"index":1,"relevance_score":0.5},{"index":0,"relevance_score":0}],"meta":{"api_version":{"version":"2"}}}`,
			record.Tokens{N: 3, Source: record.FromTokenizer, Local: -1}, "whole", ""},
		{plan.EndpointJinaRerank, `{"results":[{"index":0,"relevance_score":1,"document":{"text":"a"}}],"usage":{"prompt_tokens":7,"total_tokens":7}}`, media, "whole", ""},
		{plan.EndpointJinaRerank, `[{"index":0,"score":1.5,"document":"a"}]`, record.Tokens{N: 3, Source: record.FromTokenizer, Local: -1}, "whole", ""},
		{plan.EndpointJinaRerank, `{"results":[]}`, own, "", `bad_body: the response holds no ranking: {"results":[]}`},
		{plan.EndpointJinaRerank, `{"results":[{"index":0}]}`, own, "", "bad_body: the response holds no ranking in one of its results"},
		{plan.EndpointScore, `{"data":[{"index":0,"object":"score","score":0.25}],"usage":{"prompt_tokens":7}}`, media, "whole", ""},
		{plan.EndpointScore, `{"data":[{"score":null}]}`, own, "", "bad_body: the response holds no score in one of its results"},
		{plan.EndpointClassify, `{"data":[{"index":0,"label":"a","probs":[0.5,0.5],"num_classes":2}],"usage":{"prompt_tokens":7}}`, server, "whole", ""},
		{plan.EndpointClassify, `{"data":[{"probs":[]}]}`, own, "", "bad_body: the response holds no classes in one of its results"},
		{plan.EndpointPooling, `{"data":[{"object":"pooling","data":[[0.1,0.2]]}],"usage":{"prompt_tokens":7}}`, server, "whole", ""},
		{plan.EndpointPooling, `{"data":[{"data":"AAAA"}]}`, own, "whole", ""},
		{plan.EndpointImages, `{"created":1,"data":[{"b64_json":"AAAA"}],"usage":{"input_tokens":7,"output_tokens":9}}`, media, "whole", ""},
		{plan.EndpointImages, `{"data":[{"url":"http://x"}]}`, record.Tokens{N: 3, Source: record.FromTokenizer, Local: -1}, "whole", ""},
		{plan.EndpointImages, `{"data":[{"b64_json":""}]}`, own, "", "bad_body: the response holds no image in one of its results"},
		{plan.EndpointImages, `{"error":{"message":"boom"}}`, own, "error", "stream_error: boom"},
		{plan.EndpointPooling, `{"detail":"boom"}`, own, "error", "stream_error: boom"},
		{plan.EndpointPooling, `{]`, own, "", "bad_body: the response is not JSON: byte 1: expected a string"},
		{plan.EndpointPooling, "<title>x</title>", own, "", "bad_body: the response is not JSON: HTML page: x"},
	} {
		rec := decodetest.Answered(c.body)
		NewDecoder(c.name).Decode(rec)
		want := decodetest.Decoded{Labels: c.labels, In: c.in, Out: silent, Cached: -1, Failure: c.failure}
		if c.labels == "whole" {
			want.Texts, want.Tokens = []string{""}, []int{0}
		}
		if diff := cmp.Diff(want, decodetest.Summarise(rec)); diff != "" {
			t.Errorf("%s, %s: %s", c.name, c.body, diff)
		}
	}
}
