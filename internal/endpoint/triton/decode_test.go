package triton

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/lib/kserve/kservetest"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/token"
)

// framed is messages as gRPC has them.
func framed(messages ...[]byte) (body []byte, marks []record.Read) {
	for i, m := range messages {
		body = append(body, 0)
		body = append(binary.BigEndian.AppendUint32(body, uint32(len(m))), m...)
		at := time.Duration(i+1) * time.Millisecond
		marks = append(marks, record.Read{Off: len(body), Kernel: at, User: at})
	}
	return body, marks
}

// about a decoded record, on one line: events with label, tokens and text, counts.
func summary(rec *record.Exchange) string {
	var b strings.Builder
	at := 0
	for _, e := range rec.Events {
		fmt.Fprintf(&b, "%s/%d", e.Label, e.Tokens)
		if e.Text > 0 {
			fmt.Fprintf(&b, "%q", rec.Text[at:at+e.Text])
		}
		at += e.Text
		b.WriteByte(' ')
	}
	if at != len(rec.Text) {
		fmt.Fprintf(&b, "(%d bytes of text belong to no event) ", len(rec.Text)-at)
	}
	fmt.Fprintf(&b, "out %d %s", rec.Out.N, rec.Out.Source)
	if rec.In.Source == record.FromServer {
		fmt.Fprintf(&b, " in %d", rec.In.N)
	}
	if rec.Finish != "" {
		b.WriteString(" " + rec.Finish)
	}
	if rec.Failure != nil {
		fmt.Fprintf(&b, " FAILED %s: %s", rec.Failure.Class, rec.Failure.Message)
	}
	return b.String()
}

func TestDecodeStream(t *testing.T) {
	text := func(s string) output { return textOutput("text_output", s) }
	count := func(n int32) output { return intOutput("num_output_tokens", "UINT32", n) }
	in := intOutput("num_input_tokens", "UINT32", 9)
	errored := respond("r", true)
	errored.ErrorMessage = "out of\nmemory"
	long := "a prompt that is long enough to know"
	for _, c := range []struct {
		name       string
		convention string
		streamed   bool
		prompt     string
		tok        prompt.Tokenizer
		own        bool
		failure    *record.Failure
		responses  []*kservetest.StreamResponse
		want       string
	}{
		{"counted by the server", plan.ConventionVLLM, true, "", nil, false, nil, []*kservetest.StreamResponse{
			respond("r", false, text(" one"), count(1), in), respond("r", false, text(" two three"), count(2), in, textOutput("finish_reason", "length")), respond("r", true),
		}, `content/1" one" content/2" two three" done/0 out 3 server in 9 length`},
		{"more than there can be", plan.ConventionVLLM, true, "", token.Words{}, false, nil, []*kservetest.StreamResponse{
			respond("r", false, text(" a"), count(100)), respond("r", false, text(" b"), count(100)), respond("r", true),
		}, `content/1" a" content/1" b" done/0 out 2 tokenizer`},
		{"fewer than responses", plan.ConventionVLLM, true, "", token.Words{}, false, nil, []*kservetest.StreamResponse{
			respond("r", false, text(" a"), count(0)), respond("r", false, text(" b"), count(0)), respond("r", false, text(" c"), count(1)), respond("r", true),
		}, `content/1" a" content/1" b" content/1" c" done/0 out 3 tokenizer`},
		{"four words a response, not counted", plan.ConventionTRTLLM, true, "", token.Words{}, false, nil, []*kservetest.StreamResponse{
			respond("r", false, text(" a b c d")), respond("r", true, text(" e f g h")),
		}, `content/4" a b c d" content/4" e f g h" out 8 tokenizer`},
		{"counted by events", plan.ConventionTRTLLM, true, "", nil, false, nil, []*kservetest.StreamResponse{
			respond("r", false, text(" one")), respond("r", false, text("")), respond("r", true, text(" two")),
		}, `content/1" one" empty/0 content/1" two" out 2 events`},
		{"counted by the tokenizer", plan.ConventionTRTLLM, true, "", token.Words{}, true, nil, []*kservetest.StreamResponse{
			respond("r", false, text("one two")), respond("r", true, text(" three")),
		}, `content/2"one two" content/1" three" out 3 tokenizer`},
		{"whole", plan.ConventionVLLM, false, "", token.Words{}, false, nil, []*kservetest.StreamResponse{
			respond("r", false, text("one two")), respond("r", true),
		}, `whole/2"one two" done/0 out 2 tokenizer`},
		{"None is no finish", plan.ConventionVLLM, true, "", nil, false, nil, []*kservetest.StreamResponse{
			respond("r", true, text("a"), textOutput("finish_reason", "None")),
		}, `content/1"a" out 1 events`},
		{"cancelled", plan.ConventionVLLM, true, "", nil, false, nil, []*kservetest.StreamResponse{
			respond("r", false, text("a")), respond("r", true, text(""), textOutput("finish_reason", "cancelled")),
		}, `content/1"a" finish/0 out 1 events cancelled FAILED aborted: the server ended the response with finish reason "cancelled"`},
		{"finish without text", plan.ConventionVLLM, true, "", nil, false, nil, []*kservetest.StreamResponse{
			respond("r", false, text("a")), respond("r", true, text(""), textOutput("finish_reason", "stop")),
		}, `content/1"a" finish/0 out 1 events stop`},
		{"echo in the first response", plan.ConventionVLLMOld, true, "Say it", nil, false, nil, []*kservetest.StreamResponse{
			respond("r", false, textOutput("TEXT", "Say it one")), respond("r", false, textOutput("TEXT", " two")), respond("r", true),
		}, `content/1" one" content/1" two" done/0 out 2 events`},
		{"echo as a response of its own", plan.ConventionTRTLLM, true, "Say it", nil, false, nil, []*kservetest.StreamResponse{
			respond("r", false, text("Say ")), respond("r", false, text("it")), respond("r", true, text(" one")),
		}, `echo/0 echo/0 content/1" one" out 1 events`},
		{"echo with other spaces", plan.ConventionTRTLLM, true, "  " + long + "\n", nil, false, nil, []*kservetest.StreamResponse{
			respond("r", true, text("<s> "+long+" one")),
		}, `content/1" one" out 1 events`},
		{"a short prompt is no echo", plan.ConventionTRTLLM, true, "the ", nil, false, nil, []*kservetest.StreamResponse{
			respond("r", true, text(" the end")),
		}, `content/1" the end" out 1 events`},
		{"echo counted by the server", plan.ConventionVLLM, true, "Say it", nil, false, nil, []*kservetest.StreamResponse{
			respond("r", false, text("Say it one"), count(1)), respond("r", true, text(" two"), count(1)),
		}, `content/1" one" content/1" two" out 2 server`},
		{"each repeats all, with the prompt", plan.ConventionVLLMOld, true, "Say", nil, false, nil, []*kservetest.StreamResponse{
			respond("r", false, textOutput("TEXT", "Say one")), respond("r", true, textOutput("TEXT", "Say one two")),
		}, `content/1" one" content/1" two" out 2 events`},
		{"each repeats all, without the prompt", plan.ConventionVLLMOld, true, "", nil, false, nil, []*kservetest.StreamResponse{
			respond("r", false, textOutput("TEXT", "one")), respond("r", false, textOutput("TEXT", "one two")), respond("r", true, textOutput("TEXT", "one two three")),
		}, `content/1"one" content/1" two" content/1" three" out 3 events`},
		{"error after tokens", plan.ConventionVLLM, true, "", nil, false, &record.Failure{Class: record.StreamError}, []*kservetest.StreamResponse{
			respond("r", false, text("one")), errored,
		}, `content/1"one" error/0 out 1 events FAILED stream_error: out of memory`},
		{"broken off", plan.ConventionVLLM, true, "", nil, false, &record.Failure{Class: record.Reset, Message: "reset"}, []*kservetest.StreamResponse{
			respond("r", false, text("one")),
		}, `content/1"one" out 1 events FAILED reset: reset`},
		{"never marked", plan.ConventionVLLM, true, "", nil, false, nil, []*kservetest.StreamResponse{
			respond("r", false, text("one")),
		}, `content/1"one" out 1 events FAILED truncated: the stream ends after 1 responses, none of them marked as the last`},
		{"token ids", plan.ConventionEngine, true, "", nil, false, nil, []*kservetest.StreamResponse{
			respond("r", false, intOutput("output_ids", "INT32", 5)), respond("r", false, intOutput("output_ids", "INT32", 6, 7)), respond("r", true),
		}, `content/1 content/2 done/0 out 3 server`},
		{"token ids with the prompt's", plan.ConventionEngine, false, "\x05\x00\x00\x00\x06\x00\x00\x00", nil, false, nil, []*kservetest.StreamResponse{
			respond("r", true, intOutput("output_ids", "INT32", 5, 6, 7, 8)),
		}, `whole/2 out 2 server`},
		{"plain tensors", plan.ConventionTensors, false, "", nil, false, nil, []*kservetest.StreamResponse{
			respond("r", true, intOutput("SUM", "INT32", 5)),
		}, `whole/-1 out 0 uncounted`},
		{"text cut off", plan.ConventionVLLM, true, "", nil, false, nil, []*kservetest.StreamResponse{
			respond("r", true, output{"text_output", "BYTES", []int64{1}, []byte("\x09\x00\x00\x00abc")}),
		}, `unknown/0 out 0 events FAILED bad_body: response 1 cannot be read: output text_output is cut off: a string of 9 bytes, of which there are 3`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var messages [][]byte
			for _, r := range c.responses {
				messages = append(messages, marshal(t, r))
			}
			rec := &record.Exchange{Record: record.Record{Streamed: c.streamed, Status: 200, End: time.Second, Failure: c.failure,
				In: record.Tokens{N: 4, Source: record.FromTokenizer, Local: -1}}}
			rec.Body, rec.Marks = framed(messages...)
			if c.prompt != "" {
				rec.Request = &about{prompt: c.prompt}
			}
			d := NewDecoder(plan.Target{Transport: plan.TransportGRPC, Endpoint: plan.EndpointStream,
				Triton: plan.Triton{Convention: c.convention}}, c.tok, c.own)
			d.Decode(rec)
			if got := summary(rec); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			for i, e := range rec.Events {
				if e.Mark != i || e.Merged {
					t.Errorf("event %d came out of read %d, merged %v", i, e.Mark, e.Merged)
				}
			}
		})
	}
}

func TestDecodeOthers(t *testing.T) {
	unary := respond("r", true, textOutput("text_output", "one two")).InferResponse
	unary.Parameters = nil
	typed := kservetest.Response{Outputs: []kservetest.Tensor{{
		Name: "text_output", Datatype: "BYTES", Shape: []int64{2}, Contents: &kservetest.Contents{BytesContents: [][]byte{[]byte("one"), []byte(" two")}},
	}}}
	body := func(m kservetest.Response) string {
		b, _ := framed(kservetest.Encode(t, kserve.Response(kserve.ModelInferMethod), m))
		return string(b)
	}
	grpc, http := plan.TransportGRPC, plan.TransportHTTP
	for _, c := range []struct {
		name, transport, endpoint string
		streamed                  bool
		status                    int
		body                      string
		want                      string
	}{
		{"unary", grpc, plan.EndpointInfer, false, 200, body(unary), `whole/2"one two" out 2 tokenizer`},
		{"not in raw form", grpc, plan.EndpointInfer, false, 200, body(typed), `whole/2"one two" out 2 tokenizer`},
		{"cut off", grpc, plan.EndpointInfer, false, 200, body(unary)[:20], `out 0 tokenizer FAILED truncated: the answer ends inside response 1`},
		{"generate", http, plan.EndpointGenerate, false, 200, `{"model_name":"m","model_version":"1","text_output":"one\ttwo","num_output_tokens":3,"finish_reason":"stop"}`,
			`whole/3"one\ttwo" out 3 server stop`},
		{"generate_stream", http, plan.EndpointGenerate, true, 200, "data: {\"model_name\":\"m\",\"text_output\":\"one\"}\n\ndata: {\"text_output\":[\" two\"],\"num_input_tokens\":4}\n\n",
			`content/1"one" content/1" two" out 2 tokenizer in 4`},
		{"error in generate_stream", http, plan.EndpointGenerate, true, 200, "data: {\"text_output\":\"one\"}\n\ndata: {\"error\":\"asked to fail\"}\n\n",
			`content/1"one" error/0 out 1 tokenizer FAILED stream_error: asked to fail`},
		{"generate_stream cut off", http, plan.EndpointGenerate, true, 200, "data: {\"text_output\":\"one\"}\n\ndata: {\"text_ou",
			`content/1"one" out 1 tokenizer FAILED truncated: the answer ends inside response 2`},
		{"refused", http, plan.EndpointGenerate, true, 400, `{"error":"unexpected shape for input 'text_input'"}`,
			`out 0 uncounted FAILED http_status: unexpected shape for input 'text_input'`},
		{"a page", http, plan.EndpointGenerate, true, 200, `<html>`, `out 0 events FAILED bad_body: the answer is an HTML or XML page`},
		{"infer in JSON", http, plan.EndpointInfer, false, 200, `{"model_name":"m","outputs":[{"name":"text_output","datatype":"BYTES","shape":[1],"data":["one two"]}]}`,
			`whole/2"one two" out 2 tokenizer`},
		{"infer in raw form", http, plan.EndpointInfer, false, 200,
			`{"model_name":"m","outputs":[{"name":"text_output","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":11}}]}` + "\x07\x00\x00\x00one two",
			`whole/2"one two" out 2 tokenizer`},
		{"infer that is not JSON", http, plan.EndpointInfer, false, 200, `hello`, `unknown/0 out 0 tokenizer FAILED bad_body:`},
		{"empty", http, plan.EndpointInfer, false, 200, ``, `out 0 uncounted FAILED bad_body: the response is empty`},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := &record.Exchange{Record: record.Record{Streamed: c.streamed, Status: c.status, End: time.Second, Body: []byte(c.body),
				Marks: []record.Read{{Off: len(c.body), Kernel: 1, User: 1}}}}
			tok := prompt.Tokenizer(token.Words{})
			NewDecoder(plan.Target{Transport: c.transport, Endpoint: c.endpoint, Triton: plan.Triton{Convention: plan.ConventionVLLM}}, tok,
				false).Decode(rec)
			if got := summary(rec); got != c.want && !(strings.HasSuffix(c.want, ":") && strings.HasPrefix(got, c.want)) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Answers are held against what the user expects, and a wrong one is a failure that
// names the output.
func TestExpectedOutputs(t *testing.T) {
	want := tensor.Tensor{Name: "SUM", Datatype: tensor.Int32, Shape: []int64{1}, Data: []byte{5, 0, 0, 0}}
	for _, c := range []struct {
		value   int32
		failure string
	}{{5, ""}, {6, "the answer is not the expected one: output \"SUM\""}} {
		rec := &record.Exchange{Record: record.Record{Status: 200}, Request: &about{expected: []tensor.Tensor{want}, tensors: true}}
		rec.Body, rec.Marks = framed(marshal(t, respond("r", true, intOutput("X", "INT32", 1), intOutput("SUM", "INT32", c.value))))
		d := NewDecoder(plan.Target{Transport: plan.TransportGRPC, Endpoint: plan.EndpointStream,
			Triton: plan.Triton{Convention: plan.ConventionTensors}}, nil, false)
		d.Decode(rec)
		got := ""
		if rec.Failure != nil {
			got = rec.Failure.Message
		}
		if c.failure == "" && got != "" || !strings.Contains(got, c.failure) {
			t.Errorf("%d: %q", c.value, got)
		}
	}
}

// Events that share a read say so.
func TestMergedEvents(t *testing.T) {
	rec := &record.Exchange{Record: record.Record{Streamed: true, Status: 200}}
	rec.Body, rec.Marks = framed(marshal(t, respond("r", false, textOutput("text_output", "a"))), marshal(t, respond("r", false, textOutput("text_output", "b"))), marshal(t, respond("r", true)))
	rec.Marks = rec.Marks[1:]
	NewDecoder(plan.Target{Transport: plan.TransportGRPC, Endpoint: plan.EndpointStream,
		Triton: plan.Triton{Convention: plan.ConventionVLLM}}, nil, false).Decode(rec)
	want := []record.Event{{Mark: 0, Text: 1, Tokens: 1, Merged: true}, {Mark: 0, Text: 1, Tokens: 1}, {Mark: 1, Label: record.Done}}
	if diff := cmp.Diff(want, rec.Events); diff != "" {
		t.Error(diff)
	}
}

// Any bytes at all are decoded without a panic, and every event is of a read.
func FuzzDecode(f *testing.F) {
	body, _ := framed(marshal(f, respond("r", false, textOutput("text_output", "Say it one"))), marshal(f, respond("r", true)))
	for kind := range byte(8) {
		f.Add(body, kind, "Say it")
	}
	f.Add([]byte("data: {\"text_output\":\"one\"}\n\ndata: {\"error\":\"x\"}\n\n"), byte(4), "")
	f.Add([]byte(`{"outputs":[{"name":"text_output","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":7}}]}abcdefg`), byte(2), "")
	mutate.Fuzz(f, func(t *testing.T, body []byte, kind byte, prompt string) {
		target := plan.Target{Transport: plan.TransportGRPC, Endpoint: plan.EndpointStream}
		switch kind % 4 {
		case 1:
			target.Endpoint = plan.EndpointInfer
		case 2:
			target = plan.Target{Transport: plan.TransportHTTP, Endpoint: plan.EndpointInfer}
		case 3:
			target = plan.Target{Transport: plan.TransportHTTP, Endpoint: plan.EndpointGenerate}
		}
		target.Triton.Convention = []string{plan.ConventionVLLM, plan.ConventionTRTLLM, plan.ConventionEngine, plan.ConventionTensors}[kind/4%4]
		rec := &record.Exchange{Record: record.Record{Streamed: kind%2 == 0, Status: 200, Body: body,
			Marks: []record.Read{{Off: len(body) / 2}, {Off: len(body)}}}, Request: &about{prompt: prompt}}
		NewDecoder(target, token.Words{}, kind > 100).Decode(rec)
		text := 0
		for _, e := range rec.Events {
			if e.Mark < 0 || e.Mark > 1 || e.Text < 0 {
				t.Errorf("event %+v", e)
			}
			text += e.Text
		}
		if text != len(rec.Text) {
			t.Errorf("events have %d bytes of text, the record %d", text, len(rec.Text))
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	var messages [][]byte
	for range 16 {
		messages = append(messages, marshal(b, respond("inferometer-abc-123", false, textOutput("text_output", " word"), intOutput("num_output_tokens", "UINT32", 1))))
	}
	messages = append(messages, marshal(b, respond("inferometer-abc-123", true)))
	body, marks := framed(messages...)
	rec := &record.Exchange{Record: record.Record{Streamed: true, Status: 200, Body: body, Marks: marks}}
	ask := &about{prompt: "a prompt that the answer does not begin with"}
	d := NewDecoder(plan.Target{Transport: plan.TransportGRPC, Endpoint: plan.EndpointStream,
		Triton: plan.Triton{Convention: plan.ConventionVLLM}}, nil, false)
	b.ReportAllocs()
	for b.Loop() {
		rec.Request = ask
		d.Decode(rec)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/17, "ns/message")
}
