package jsonhttp

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/media"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

func target(kind string, change func(*plan.Target)) plan.Target {
	t := plan.Default().Target
	t.Protocol, t.Endpoint, t.Model, t.URLs, t.Streaming = plan.ProtocolHTTP, kind, "mock", []string{"http://localhost:1"}, false
	if change != nil {
		change(&t)
	}
	return t
}

func newEndpoint(t *testing.T, target plan.Target) *Endpoint {
	t.Helper()
	e, err := New(target, endpoint.Options{Clock: timedconn.NewClock(), TLS: new(tls.Config), RunID: "run"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func writeTemplate(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "body.j2")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestBodies(t *testing.T) {
	image := prompt.Part{Kind: prompt.Image, Type: "image/png", Data: []byte("abc")}
	own := writeTemplate(t, `{"m": {{ model|tojson }}, "t": {{ texts|tojson }}, "n": {{ max_tokens }}, "i": {{ media|length }}}`)
	for _, tt := range []struct {
		kind   string
		change func(*plan.Target)
		prompt prompt.Prompt
		want   string
	}{
		{plan.EndpointRankings, nil, prompt.Prompt{Text: "q", Texts: []string{"a", `"b"`}}, `{"model":"mock","query":{"text":"q"},"passages":[{"text":"a"},{"text":"\"b\""}]}`},
		{plan.EndpointRankings, func(t *plan.Target) { t.Model, t.Body = "", map[string]any{"truncate": "END"} }, prompt.Prompt{Text: "q"}, `{"truncate":"END","query":{"text":"q"},"passages":[{"text":"q"}]}`},
		{plan.EndpointRerank, nil, prompt.Prompt{Text: "q", Texts: []string{"a", "b"}}, `{"query":"q","texts":["a","b"]}`},
		{plan.EndpointRetrieval, nil, prompt.Prompt{Text: "q", Parts: []prompt.Part{{Text: "q"}, image, image}},
			`{"input":[{"type":"image_url","url":"data:image/png;base64,YWJj"},{"type":"image_url","url":"data:image/png;base64,YWJj"}]}`},
		{plan.EndpointTGI, nil, prompt.Prompt{Text: "q", Output: 7}, `{"inputs":"q","parameters":{"details":true,"max_new_tokens":7}}`},
		{plan.EndpointTGI, func(t *plan.Target) {
			t.Body = map[string]any{"parameters": map[string]any{"details": nil, "top_k": 3, "max_new_tokens": 9}, "x": 1}
		}, prompt.Prompt{Text: "q", Output: 7, Parts: []prompt.Part{image, {Text: "q"}}}, `{"x":1,"inputs":"![](data:image/png;base64,YWJj) q","parameters":{"max_new_tokens":9,"top_k":3}}`},
		{plan.EndpointTGI, func(t *plan.Target) { t.Path, t.Streaming = "/", true }, prompt.Prompt{Text: "q"}, `{"stream":true,"inputs":"q","parameters":{"details":true}}`},
		{plan.EndpointTemplate, func(t *plan.Target) { t.Template = plan.TemplateEmbedQA }, prompt.Prompt{Text: `a "b"`}, `{"text": ["a \"b\""]}`},
		{plan.EndpointTemplate, func(t *plan.Target) { t.Template = own }, prompt.Prompt{Text: "q", Texts: []string{"a", "b"}, Output: 3, Model: "z", Parts: []prompt.Part{image}}, `{"m": "z", "t": ["a", "b"], "n": 3, "i": 1}`},
	} {
		got, err := newEndpoint(t, target(tt.kind, tt.change)).encode(&tt.prompt)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v\nwant\n%s", tt.kind, got, err, tt.want)
		}
	}
}

func TestWhatCannotBeMade(t *testing.T) {
	for _, tt := range []struct {
		kind   string
		change func(*plan.Target)
		want   string
	}{
		{plan.EndpointTemplate, func(t *plan.Target) { t.Template = "/nowhere/body.j2" }, "reading the template of request bodies"},
		{plan.EndpointTemplate, func(p *plan.Target) { p.Template = writeTemplate(t, "{% if %}") }, "line 1"},
		{plan.EndpointTemplate, func(p *plan.Target) { p.Template = writeTemplate(t, "hello") }, "does not give JSON"},
		{plan.EndpointTemplate, func(p *plan.Target) { p.Template = writeTemplate(t, "[1,2]") }, "gives 2 bodies for one request"},
		{plan.EndpointRerank, func(t *plan.Target) { t.Body = map[string]any{"texts": 1} }, "would replace the prompt"},
	} {
		_, err := New(target(tt.kind, tt.change), endpoint.Options{Clock: timedconn.NewClock()})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.kind, err, tt.want)
		}
	}
	if _, err := newEndpoint(t, target(plan.EndpointRetrieval, nil)).Prepare(&prompt.Prompt{Text: "q"}); err == nil {
		t.Error("a request without an image")
	}
	if _, err := newEndpoint(t, target(plan.EndpointTGI,
		nil)).Prepare(&prompt.Prompt{Parts: []prompt.Part{{Kind: prompt.Video}}}); err == nil {
		t.Error("a video")
	}
}

// The mock, which shares no code with this side, must be understood.
func TestAgainstTheMock(t *testing.T) {
	c := config.Default()
	c.Strict = true
	s, err := mock.New(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	image := prompt.Part{Kind: prompt.Image, Type: "image/png", Data: media.NewMaker().PNG(4, 4, media.Colour{})}
	for _, tt := range []struct {
		kind    string
		change  func(*plan.Target)
		in, out int
	}{
		{plan.EndpointRankings, nil, 6, 0},
		{plan.EndpointRerank, nil, -1, 0},
		{plan.EndpointRetrieval, nil, -1, 0},
		{plan.EndpointTGI, nil, 2, 5},
		{plan.EndpointTGI, func(t *plan.Target) { t.Streaming = true }, 2, 5},
		{plan.EndpointTGI, func(t *plan.Target) { t.Path = "/" }, 2, 5},
		{plan.EndpointTGI, func(t *plan.Target) { t.Path, t.Streaming = "/", true }, 2, 5},
		{plan.EndpointTemplate, func(p *plan.Target) {
			p.Path, p.Template = "/rerank", writeTemplate(t, `{"query": {{ text|tojson }}, "texts": {{ texts|tojson }}}`)
		}, -1, 0},
	} {
		e := newEndpoint(t, target(tt.kind, func(p *plan.Target) {
			p.URLs = []string{"http://" + l.Addr().String()}
			if tt.change != nil {
				tt.change(p)
			}
		}))
		p := prompt.Prompt{Text: "which one", Output: 5, Texts: []string{"a b", "c d"}}
		if tt.kind == plan.EndpointRetrieval {
			p.Parts = []prompt.Part{image}
		}
		call, err := e.Prepare(&p)
		if err != nil {
			t.Fatal(err)
		}
		rec := &record.Exchange{Record: record.Record{In: record.Tokens{N: -1, Local: -1}}}
		call.Do(context.Background(), rec)
		NewDecoder(tt.kind, nil, false).Decode(rec)
		if rec.Failure != nil || rec.In.N != tt.in || rec.Out.N != tt.out || len(rec.Events) == 0 {
			t.Errorf("%s: failure %+v, %d tokens in, %d out, events %+v\n%s", tt.kind, rec.Failure, rec.In.N, rec.Out.N, rec.Events, rec.Body)
		}
		if tt.out > 0 && rec.Finish != "length" {
			t.Errorf("%s: finish %q", tt.kind, rec.Finish)
		}
		if rec.Streamed && len(rec.Events) != tt.out {
			t.Errorf("%s: %d events", tt.kind, len(rec.Events))
		}
	}
}

func answered(body string) *record.Exchange {
	return &record.Exchange{Record: record.Record{
		Status: 200, Body: []byte(body), End: 9 * time.Millisecond,
		Marks: []record.Read{{Off: len(body), Kernel: record.Never, User: 5 * time.Millisecond}},
	}}
}

func TestAnswers(t *testing.T) {
	token := `data:{"index":1,"token":{"id":1,"text":" a\n","special":false},"generated_text":null,"details":null}` + "\n\n"
	last := `data:{"index":2,"token":{"id":2,"text":"</s>","special":true},"generated_text":" a","details":{"finish_reason":"eos_token","generated_tokens":2,"input_length":3}}` + "\n\n"
	for _, tt := range []struct{ name, kind, body, labels, text, finish, failure string }{
		{"a special token at the end", plan.EndpointTGI, token + last, "content empty", " a\n", "stop", ""},
		{"cut off", plan.EndpointTGI, token, "content", " a\n", "", "truncated: the stream ends after 1 events without the whole text"},
		{"cut off in an event", plan.EndpointTGI, token + `data:{"tok`, "content unknown", " a\n", "", "truncated: the response ends in the middle of event 2"},
		{"error", plan.EndpointTGI, token + `data:{"error":"Request failed","error_type":"generation"}` + "\n\n", "content error", " a\n", "", "stream_error: Request failed"},
		{"error event", plan.EndpointTGI, token + "event: error\ndata: x\n\n", "content error", " a\n", "", "stream_error: x"},
		{"broken", plan.EndpointTGI, "data: {]\n\n" + last, "unknown empty", "", "stop", "bad_body: event 1, at byte 0 of the response, is not JSON: byte 1: expected a string"},
		{"nothing of ours", plan.EndpointTGI, "hello\n\n", "unknown", "", "", "bad_body: the response is neither JSON nor a stream of token events: hello"},
		{"whole", plan.EndpointTGI, `[{"generated_text":"x \"y\"","details":{"finish_reason":"length","generated_tokens":2,"prefill":[{},{}]}}]`, "whole", `x "y"`, "length", ""},
		{"whole without a text", plan.EndpointTGI, `{"x":1}`, "", "", "", `bad_body: the response has no generated_text: {"x":1}`},
		{"a page", plan.EndpointTGI, "<title>x</title>", "", "", "", "bad_body: the response is not JSON: HTML page: x"},
		{"ranking", plan.EndpointRankings, `{"rankings":[{"index":0,"logit":1}],"usage":{"prompt_tokens":3}}`, "whole", "", "", ""},
		{"no ranking", plan.EndpointRankings, `{"rankings":null}`, "", "", "", `bad_body: the response holds no ranking: {"rankings":null}`},
		{"ranking of TEI", plan.EndpointRerank, `[{"index":0,"score":1}]`, "whole", "", "", ""},
		{"results of a ranking", plan.EndpointRerank, `{"results":[{}]}`, "whole", "", "", ""},
		{"no results of a ranking", plan.EndpointRerank, `{"results":[]}`, "", "", "", `bad_body: the response holds no ranking: {"results":[]}`},
		{"an empty ranking of TEI", plan.EndpointRerank, `[]`, "", "", "", `bad_body: the response holds no ranking: []`},
		{"an empty ranking", plan.EndpointRankings, `{"rankings":[]}`, "", "", "", `bad_body: the response holds no ranking: {"rankings":[]}`},
		{"nothing for the images", plan.EndpointRetrieval, `{"data":[]}`, "", "", "", `bad_body: the response has no results for the images: {"data":[]}`},
		{"an error of FastAPI", plan.EndpointTGI, token + `data:{"detail":"gone"}` + "\n\n" + last, "content error empty", " a\n", "stop", "stream_error: gone"},
		{"cancelled", plan.EndpointTGI, strings.Replace(last, "eos_token", "cancelled", 1), "empty", "", "cancelled", `aborted: the server ended the response with finish reason "cancelled"`},
		{"an error for a ranking", plan.EndpointRerank, `{"error":"no","error_type":"Backend"}`, "error", "", "", "stream_error: no"},
		{"images", plan.EndpointRetrieval, `{"data":[{}]}`, "whole", "", "", ""},
		{"no images", plan.EndpointRetrieval, `{"datum":[{}]}`, "", "", "", `bad_body: the response has no results for the images: {"datum":[{}]}`},
		{"anything", plan.EndpointTemplate, `{"error":"is a field like others"}`, "whole", "", "", ""},
		{"a number", plan.EndpointTemplate, ` 5 `, "whole", "", "", ""},
		{"not JSON", plan.EndpointTemplate, `{"a":`, "", "", "", "bad_body: the response is not JSON: byte 5: expected a value"},
		{"nothing", plan.EndpointTemplate, ` `, "", "", "", "bad_body: the response is empty"},
	} {
		rec := answered(tt.body)
		NewDecoder(tt.kind, nil, false).Decode(rec)
		var labels []string
		for _, e := range rec.Events {
			labels = append(labels, e.Label.String())
		}
		failure := ""
		if f := rec.Failure; f != nil {
			failure = string(f.Class) + ": " + f.Message
		}
		if got := strings.Join(labels, " "); got != tt.labels || string(rec.Text) != tt.text || rec.Finish != tt.finish || failure != tt.failure {
			t.Errorf("%s: %q %q %q %q", tt.name, got, rec.Text, rec.Finish, failure)
		}
	}
}

// FuzzDecode lets any bytes through every decoder with reads cut anywhere.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`data:{"token":{"text":"a"},"generated_text":"a","details":{"generated_tokens":1}}`+"\n\n"), 7)
	f.Add([]byte(`[{"generated_text":"x","details":{"prefill":[1]}}]`), 3)
	f.Add([]byte(`data:{"detail":"x"}`+"\n\n"), 5)
	f.Add([]byte(`{"rankings":[],"error":null,"usage":{"prompt_tokens":1}}`), 3)
	mutate.Fuzz(f, func(t *testing.T, body []byte, step int) {
		for _, kind := range []string{plan.EndpointTGI, plan.EndpointRankings, plan.EndpointRerank, plan.EndpointRetrieval,
			plan.EndpointTemplate} {
			rec := answered(string(body))
			rec.Marks = nil
			for off := 0; off < len(body); {
				off += max(1, step%97)
				rec.Marks = append(rec.Marks, record.Read{Off: min(off, len(body))})
			}
			NewDecoder(kind, nil, false).Decode(rec)
			sum, last := 0, 0
			for _, e := range rec.Events {
				if e.Mark < last || e.Mark >= len(rec.Marks) || e.Text < 0 || e.Tokens < -1 {
					t.Fatalf("%s: event %+v of %d reads", kind, e, len(rec.Marks))
				}
				last = e.Mark
				sum += e.Text
			}
			if sum != len(rec.Text) {
				t.Fatalf("%s: events have %d bytes of text, the record %d", kind, sum, len(rec.Text))
			}
		}
	})
}
