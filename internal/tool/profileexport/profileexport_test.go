package profileexport

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// sample is a file as Perf Analyzer writes it.
const sample = `{"experiments":[{"experiment":{"mode":"concurrency","value":4},"requests":[` +
	`{"timestamp":1741134590669919999,"sequence_id":1,"request_inputs":{"payload":"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"<Hi> é\"}]}"},` +
	`"response_timestamps":[1741134590728534586,1741134590748534586],"response_outputs":[{"response":"data: {\"a\":1}\n\n"},{"response":"data: [DONE]\n\n"}]},` +
	`{"timestamp":1741134590669920000,"request_inputs":{"payload":"{}"},"response_timestamps":[],"response_outputs":[]}` +
	`],"window_boundaries":[1,5,6]}],"version":"1.2.3","service_kind":"openai","endpoint":"v1/chat/completions"}`

// What is read and written again is the same, byte for byte.
func TestRoundTrip(t *testing.T) {
	rate := strings.Replace(sample, `"mode":"concurrency","value":4`, `"mode":"request_rate","value":2.0`, 1)
	for _, text := range []string{sample, rate} {
		d, err := Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		e := &d.Experiments[0]
		w := NewWriter(&b, *d, e.Load)
		for i := range e.Requests {
			w.Add(&e.Requests[i])
		}
		if err := w.Close(e.Windows); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text, b.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestRecordOfOpenAI(t *testing.T) {
	d, err := Read(strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	var rec record.Record
	if err := d.Record(&rec, &d.Experiments[0].Requests[0], d.Base()); err != nil {
		t.Fatal(err)
	}
	if string(rec.Body) != "data: {\"a\":1}\n\ndata: [DONE]\n\n" || !rec.Streamed || rec.Sent != 0 || rec.End != 78614587 {
		t.Errorf("%+v", rec)
	}
	want := []record.Read{{Off: 15, Kernel: 58614587, User: 58614587}, {Off: 29, Kernel: 78614587, User: 78614587}}
	if diff := cmp.Diff(want, rec.Marks); diff != "" {
		t.Error(diff)
	}
	if text, err := d.Prompt(&d.Experiments[0].Requests[0]); err != nil || text != "<Hi> é" {
		t.Errorf("the prompt is %q, %v", text, err)
	}
}

func TestRecordOfTriton(t *testing.T) {
	const text = `{"experiments":[{"experiment":{"mode":"concurrency","value":1},"requests":[{"timestamp":100,"request_inputs":{"text_input":"Hi","max_tokens":2},` +
		`"response_timestamps":[105,109],"response_outputs":[{"text_output":" dogs","x":1},{"text_output":""}]}],"window_boundaries":[]}],"version":"","service_kind":"triton","endpoint":""}`
	d, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var rec record.Record
	req := &d.Experiments[0].Requests[0]
	if err := d.Record(&rec, req, d.Base()); err != nil {
		t.Fatal(err)
	}
	want := []record.Event{{Mark: 0, Label: record.Content, Text: 5, Tokens: -1}, {Mark: 1, Label: record.Empty, Tokens: -1}}
	if diff := cmp.Diff(want, rec.Events); diff != "" || string(rec.Text) != " dogs" || rec.End != 9 {
		t.Errorf("text %q, end %d:\n%s", rec.Text, rec.End, diff)
	}
	if prompt, err := d.Prompt(req); err != nil || prompt != "Hi" {
		t.Errorf("the prompt is %q, %v", prompt, err)
	}
	// And back again.
	got := FromTriton(&rec, 100, req.Inputs)
	req.Responses[0] = req.Responses[0][:1]
	if diff := cmp.Diff(*req, got); diff != "" {
		t.Errorf("back (-want +got):\n%s", diff)
	}
}

// reads makes a record of what arrived at each read.
func reads(parts ...string) *record.Record {
	rec := &record.Record{Sent: 1}
	for i, p := range parts {
		rec.Body = append(rec.Body, p...)
		at := time.Duration(10 * (i + 1))
		rec.Marks = append(rec.Marks, record.Read{Off: len(rec.Body), Kernel: at, User: at + 5})
	}
	return rec
}

// An event stands whole in the read that completed it, and what the original cannot
// begin a response with begins one of its own.
func TestFromOpenAI(t *testing.T) {
	const a, b, done = "data: {\"a\":1}\n\n", "data: {\"b\":2}\n\n", "data: [DONE]\n\n"
	for _, tt := range []struct {
		name  string
		parts []string
		want  []string
		at    []uint64
	}{
		{"one each", []string{a, b, done}, []string{a, b, done}, []uint64{1010, 1020, 1030}},
		{"two in one read", []string{a + b, done}, []string{a + b, done}, []uint64{1010, 1020}},
		{"cut in two", []string{a[:5], a[5:] + b, done}, []string{a + b, done}, []uint64{1020, 1030}},
		{"the tail of one and the head of another", []string{a + b[:7], b[7:] + done}, []string{a, b + done}, []uint64{1010, 1020}},
		{"cut right behind the colon", []string{"data:", a[5:], done}, []string{a, done}, []uint64{1020, 1030}},
		{"a comment in front", []string{": hi\n\n" + a, b, done}, []string{": hi\n\n", a, b, done}, []uint64{1010, 1010, 1020, 1030}},
		{"the end with the last", []string{a, b + done}, []string{a, b + done}, []uint64{1010, 1020}},
		{"no mark at the end", []string{a, b}, []string{a, b, ""}, []uint64{1010, 1020, 1050}},
		{"cut off", []string{a, b[:8]}, []string{a, b[:8], ""}, []uint64{1010, 1020, 1050}},
		{"not a stream", []string{`{"choices"`, `:[]}`}, []string{`{"choices":[]}`}, []uint64{1020}},
		{"nothing", nil, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := reads(tt.parts...)
			rec.End = 50
			r := FromOpenAI(rec, 1000, Fields{Text("payload", "p")})
			var got []string
			for _, f := range r.Responses {
				text, _ := f.Text("response")
				got = append(got, text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("responses (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.at, r.Moments); diff != "" || r.Timestamp != 1001 {
				t.Errorf("moments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPayloadText(t *testing.T) {
	for _, tt := range []struct{ payload, want string }{
		{`{"messages":[{"role":"system","content":"a"},{"role":"user","content":"b c"}]}`, "a b c"},
		{`{"messages":[{"content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"u"}},{"type":"text","text":"y"}]}]}`, "x y"},
		{`{"prompt":"whole"}`, "whole"},
		{`{"prompt":["one","two"]}`, "one two"},
		{`{"input":["e"]}`, "e"},
		{`{"inputs":"hf"}`, "hf"},
		{`{"text_input":["t"]}`, "t"},
		{`{}`, ""},
	} {
		got, err := PayloadText([]byte(tt.payload))
		if err != nil || got != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.payload, got, err, tt.want)
		}
	}
	if _, err := PayloadText([]byte("no")); err == nil {
		t.Error("no JSON, and no error")
	}
}

func TestFaults(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "unexpected end of JSON input"},
		{"{\n\"experiments\": [\n}", "line 3"},
		{"{}", "it has no experiments"},
		{`{"experiments":[{"requests":[{"response_timestamps":[1],"response_outputs":[]}]}]}`, "experiments[0].requests[0] has 0 responses and 1 timestamps"},
		{`{"experiments":[{"requests":[{"request_inputs":[1]}]}]}`, "not an object"},
	} {
		_, err := Read(strings.NewReader(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.text, err, tt.want)
		}
	}
	for kind, want := range map[string]string{"openai": "no text field response", "triton": "no text in text_output", "tfserving": "openai and triton are"} {
		d := &Document{ServiceKind: kind}
		err := d.Record(new(record.Record), &Request{Moments: []uint64{1}, Responses: []Fields{{}}}, 0)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", kind, err, want)
		}
		if _, err := d.Prompt(&Request{}); err == nil {
			t.Errorf("%s: a request without inputs has a prompt", kind)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(strings.ReplaceAll(sample, "openai", "triton")))
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		d, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		base := d.Base()
		var rec record.Record
		for _, e := range d.Experiments {
			for i := range e.Requests {
				if d.Record(&rec, &e.Requests[i], base) == nil {
					FromOpenAI(&rec, 0, e.Requests[i].Inputs)
				}
				d.Prompt(&e.Requests[i])
			}
		}
	})
}
