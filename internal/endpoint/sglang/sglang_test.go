package sglang

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/decodetest"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

func newEndpoint(t *testing.T, d plan.Data, change func(*plan.Target)) (*Endpoint, error) {
	t.Helper()
	target := plan.Default().Target
	target.Protocol, target.Endpoint, target.URLs = plan.ProtocolHTTP, plan.EndpointSGLang, []string{"http://localhost:1"}
	if change != nil {
		change(&target)
	}
	return New(target, endpoint.Options{Clock: timedconn.NewClock(), TLS: new(tls.Config), RunID: "run", Data: d})
}

func TestBodies(t *testing.T) {
	image := prompt.Part{Kind: prompt.Image, Type: "image/png", Data: []byte("abc")}
	for _, tt := range []struct {
		data   plan.Data
		change func(*plan.Target)
		prompt prompt.Prompt
		want   string
	}{
		{plan.Data{}, nil, prompt.Prompt{Text: "hi", Output: 3}, `{"stream":true,"sampling_params":{"max_new_tokens":3},"text":"hi"}`},
		{plan.Data{}, func(t *plan.Target) { t.Streaming = false }, prompt.Prompt{Text: "hi", Model: "a"}, `{"lora_path":"a","text":"hi"}`},
		{plan.Data{IgnoreEOS: true, MinTokens: true}, nil, prompt.Prompt{IDs: []int32{3, 14, 15}, Output: 3},
			`{"stream":true,"sampling_params":{"ignore_eos":true,"max_new_tokens":3,"min_new_tokens":3},"input_ids":[3,14,15]}`},
		{plan.Data{IgnoreEOS: true}, func(t *plan.Target) {
			t.Body = map[string]any{"temperature": 0, "sampling_params": map[string]any{"max_new_tokens": 9, "ignore_eos": nil}, "return_logprob": false}
		}, prompt.Prompt{Text: "hi", Output: 3}, `{"return_logprob":false,"stream":true,"sampling_params":{"max_new_tokens":9,"temperature":0},"text":"hi"}`},
		{plan.Data{}, nil, prompt.Prompt{Messages: []prompt.Message{{Content: "a"}, {Content: "b", Parts: []prompt.Part{{Text: "b"}, image}}}},
			`{"stream":true,"image_data":["data:image/png;base64,YWJj"],"text":"a\nb"}`},
	} {
		e, err := newEndpoint(t, tt.data, tt.change)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.encode(&tt.prompt); err != nil || string(got) != tt.want {
			t.Errorf("%s, %v\nwant\n%s", got, err, tt.want)
		}
	}
	e, err := newEndpoint(t, plan.Data{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Prepare(&prompt.Prompt{Parts: []prompt.Part{{Kind: prompt.Video}}}); err == nil || !strings.Contains(err.Error(), "not audio or video") {
		t.Errorf("a video: %v", err)
	}
	if _, err := newEndpoint(t, plan.Data{}, func(t *plan.Target) { t.Body = map[string]any{"text": 1} }); err == nil {
		t.Error("the text could be replaced")
	}
}

// pieces are the events of a stream.
func pieces(events ...string) string { return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n" }

var (
	ownIn    = record.Tokens{N: 3, Source: record.FromTokenizer, Local: 3}
	serverIn = record.Tokens{N: 7, Source: record.FromServer, Local: 3}
)

func server(n int) record.Tokens { return record.Tokens{N: n, Source: record.FromServer, Local: -1} }
func events(n int) record.Tokens { return record.Tokens{N: n, Source: record.FromEvents, Local: -1} }

func TestResponses(t *testing.T) {
	meta := func(n, finish string) string {
		return `"meta_info":{"prompt_tokens":7,"completion_tokens":` + n + `,"cached_tokens":2,"finish_reason":` + finish + `}}`
	}
	first := `{"text":" a","output_ids":[1],` + meta("1", "null")
	last := `{"text":" a\n b","output_ids":[1,2],` + meta("2", `{"type":"length","length":2}`)
	for _, c := range []struct {
		name, body string
		want       decodetest.Decoded
	}{
		{"the text so far", pieces(first, last, "[DONE]"),
			decodetest.Decoded{Labels: "content content done", Texts: []string{" a", "\n b"}, Tokens: []int{1, 1}, Finish: "length", In: serverIn, Out: server(2), Cached: 2}},
		{"several tokens an event", pieces(first, `{"text":" a b c d",`+meta("4", `{"type":"stop","matched":2}`), "[DONE]"),
			decodetest.Decoded{Labels: "content content done", Texts: []string{" a", " b c d"}, Tokens: []int{1, 3}, Finish: "stop", In: serverIn, Out: server(4), Cached: 2}},
		{"each its own text", pieces(first, `{"text":" a","output_ids":[2],`+meta("2", `{"type":"length"}`), "[DONE]"),
			decodetest.Decoded{Labels: "content content done", Texts: []string{" a", " a"}, Tokens: []int{1, 1}, Finish: "length", In: serverIn, Out: server(2), Cached: 2}},
		{"each its own text, without ids", pieces(`{"text":" abc",`+meta("1", "null"), `{"text":" d",`+meta("2", `"length"`)),
			decodetest.Decoded{Labels: "content content", Texts: []string{" abc", " d"}, Tokens: []int{1, 1}, Finish: "length", In: serverIn, Out: server(2), Cached: 2}},
		{"half a character", pieces(`{"text":" a\u00e9",`+meta("1", "null"), `{"text":" a\u00e9",`+meta("2", "null"), `{"text":" a\u00e8z",`+meta("3", `"stop"`)),
			decodetest.Decoded{Labels: "content empty content", Texts: []string{" aé", "èz"}, Tokens: []int{1, 2}, Finish: "stop", In: serverIn, Out: server(3), Cached: 2}},
		{"ids alone", pieces(`{"output_ids":[1],`+meta("1", "null"), `{"output_ids":[1,2],`+meta("2", `{"type":"length"}`), "[DONE]"),
			decodetest.Decoded{Labels: "content content done", Texts: []string{"", ""}, Tokens: []int{1, 1}, Finish: "length", In: serverIn, Out: server(2), Cached: 2}},
		{"not counted", pieces(`{"text":" a"}`, `{"text":" a b"}`, "[DONE]"),
			decodetest.Decoded{Labels: "content content done", Texts: []string{" a", " b"}, Tokens: []int{1, 1}, In: ownIn, Out: events(2), Cached: -1}},
		{"an end of its own", pieces(first, `{"text":" a","output_ids":[1],`+meta("1", `{"type":"stop"}`), "[DONE]"),
			decodetest.Decoded{Labels: "content finish done", Texts: []string{" a"}, Tokens: []int{1}, Finish: "stop", In: serverIn, Out: server(1), Cached: 2}},
		{"an error", pieces(first, `{"error":{"message":"boom"}}`, "[DONE]"),
			decodetest.Decoded{Labels: "content error done", Texts: []string{" a"}, Tokens: []int{1}, In: serverIn, Out: server(1), Cached: 2, Failure: "stream_error: boom"}},
		{"aborted", pieces(`{"text":" a",` + meta("1", `{"type":"abort","message":"no memory","status_code":503}`)),
			decodetest.Decoded{Labels: "content", Texts: []string{" a"}, Tokens: []int{1}, Finish: "abort", In: serverIn, Out: server(1), Cached: 2, Failure: `aborted: the server ended the response with finish reason "abort"`}},
		{"cut off", pieces(first),
			decodetest.Decoded{Labels: "content", Texts: []string{" a"}, Tokens: []int{1}, In: serverIn, Out: server(1), Cached: 2, Failure: "truncated: the stream ends after 1 events without a finish reason or [DONE]"}},
		{"a chat", pieces(`{"choices":[]}`),
			decodetest.Decoded{Labels: "unknown", In: ownIn, Out: record.Tokens{Local: -1}, Cached: -1, Failure: `bad_body: the response is neither JSON nor a stream of generate events: {"choices":[]}`}},
		{"broken", pieces("{]", last),
			decodetest.Decoded{Labels: "unknown content", Texts: []string{" a\n b"}, Tokens: []int{2}, Finish: "length", In: serverIn, Out: server(2), Cached: 2, Failure: "bad_body: event 1, at byte 0 of the response, is not JSON: byte 1: expected a string"}},
		{"one piece", last,
			decodetest.Decoded{Labels: "whole", Texts: []string{" a\n b"}, Tokens: []int{2}, Finish: "length", In: serverIn, Out: server(2), Cached: 2}},
		{"a list", "[" + last + "]",
			decodetest.Decoded{Labels: "whole", Texts: []string{" a\n b"}, Tokens: []int{2}, Finish: "length", In: serverIn, Out: server(2), Cached: 2}},
		{"ids in one piece", `{"output_ids":[1,2],` + meta("2", `{"type":"length"}`),
			decodetest.Decoded{Labels: "whole", Texts: []string{""}, Tokens: []int{2}, Finish: "length", In: serverIn, Out: server(2), Cached: 2}},
		{"no text", `{"x":1}`,
			decodetest.Decoded{In: ownIn, Out: record.Tokens{Local: -1}, Cached: -1, Failure: `bad_body: the response has no text: {"x":1}`}},
		{"an error in one piece", `{"error":{"message":"boom"}}`,
			decodetest.Decoded{Labels: "error", In: ownIn, Out: record.Tokens{Local: -1}, Cached: -1, Failure: "stream_error: boom"}},
		{"a page", "<title>x</title>",
			decodetest.Decoded{In: ownIn, Out: record.Tokens{Local: -1}, Cached: -1, Failure: "bad_body: the response is neither JSON nor a stream of events: HTML page: x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := decodetest.Answered(c.body)
			NewDecoder(decodetest.Words{}, false).Decode(rec)
			if diff := cmp.Diff(c.want, decodetest.Summarise(rec)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Texts that were cut anywhere between quotes go together without a panic, and what all have stays.
func FuzzShared(f *testing.F) {
	f.Add([]byte(`a\\\u00e9b`), []byte(`a\\\u00e8b`))
	mutate.Fuzz(f, func(t *testing.T, a, b []byte) {
		if n := shared(a, b); n > len(a) || n > len(b) || string(a[:n]) != string(b[:n]) {
			t.Errorf("%d bytes of %q and %q", n, a, b)
		}
	})
}
