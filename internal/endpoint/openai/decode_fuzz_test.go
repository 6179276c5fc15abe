package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/endpoint/decodetest"
	"github.com/inferometer/inferometer/internal/endpoint/sse"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// member is one member of an object; a list of them keeps the order and repeated
// names, which a map would lose.
type member struct {
	name  string
	value any
}

type object []member

// tree reads JSON with encoding/json into objects, []any, string, json.Number, bool and nil.
func tree(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		o := object{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := tree(d)
			if err != nil {
				return nil, err
			}
			o = append(o, member{name.(string), value})
		}
		_, err = d.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			value, err := tree(d)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err = d.Token()
		return list, err
	}
	return token, nil
}

// reading is what the plain reading of one event's data finds.
type reading struct {
	Label      string
	Text       string
	Finish     string
	Counts     bool // it has a usage
	Completion int  // -1: not in it
}

type plainReader struct {
	reading
	has                                  map[record.EventKind]bool
	blank, role, choices, failed, counts bool
	detail, data                         bool
}

// read is the protocol in plain words: no scanning by hand, no shortcuts.
func read(data []byte) (reading, error) {
	if !json.Valid(data) {
		return reading{}, errors.New("not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := tree(d)
	if err != nil && !errors.Is(err, io.EOF) {
		return reading{}, err
	}
	o, ok := v.(object)
	if !ok {
		return reading{}, errors.New("not an object")
	}
	r := plainReader{has: map[record.EventKind]bool{}, reading: reading{Completion: -1}}
	for _, m := range o {
		switch m.name {
		case "choices":
			if m.value != nil {
				list, ok := m.value.([]any)
				if !ok {
					return reading{}, errors.New("choices is not a list")
				}
				r.choices = true
				for _, choice := range list {
					r.choice(choice)
				}
			}
		case "usage":
			r.usage(m.value)
		case "error":
			r.failed = r.failed || m.value != nil
		case "detail", "errors":
			r.detail = r.detail || m.value != nil
		case "data":
			list, _ := m.value.([]any)
			r.data = r.data || len(list) > 0
		case "object":
			r.failed = r.failed || m.value == "error"
		}
	}
	r.failed = r.failed || r.detail && !r.choices && !r.data && !r.counts
	r.Label = r.label().String()
	if r.failed {
		r.Text = ""
	}
	return r.reading, nil
}

func (r *plainReader) usage(v any) {
	o, _ := v.(object)
	for _, m := range o {
		switch n := wholeNumber(m.value); {
		case n < 0:
		case m.name == "prompt_tokens":
			r.counts = true
		case m.name == "completion_tokens":
			r.counts = true
			r.Completion = n
		}
	}
	r.Counts = r.counts
}

// wholeNumber is a number of things, however it is written; -1: it is none.
func wholeNumber(v any) int {
	n, ok := v.(json.Number)
	if !ok {
		return -1
	}
	if i, err := n.Int64(); err == nil {
		return int(max(i, -1))
	}
	f, _ := n.Float64()
	if f != math.Trunc(f) || f < 0 || f > 1<<52 {
		return -1
	}
	return int(f)
}

func (r *plainReader) choice(v any) {
	o, _ := v.(object)
	for _, m := range o {
		switch m.name {
		case "text":
			r.take(record.Content, m.value)
		case "finish_reason":
			if s, ok := m.value.(string); ok {
				r.Finish = s
			}
		case "delta", "message":
			delta, _ := m.value.(object)
			for _, m := range delta {
				r.delta(m)
			}
		}
	}
}

func (r *plainReader) delta(m member) {
	switch m.name {
	case "content":
		if list, ok := m.value.([]any); ok {
			for _, part := range list {
				o, _ := part.(object)
				for _, m := range o {
					switch m.name {
					case "text":
						r.take(record.Content, m.value)
					case "thinking":
						r.thinking(m.value)
					}
				}
			}
			return
		}
		r.take(record.Content, m.value)
	case "reasoning", "reasoning_content":
		r.take(record.Reasoning, m.value)
	case "refusal":
		r.take(record.Refusal, m.value)
	case "function_call":
		r.function(m.value)
	case "tool_calls":
		list, _ := m.value.([]any)
		for _, call := range list {
			if o, ok := call.(object); ok {
				r.has[record.ToolCall] = true
				for _, m := range o {
					if m.name == "function" {
						r.function(m.value)
					}
				}
			}
		}
	case "role":
		if _, ok := m.value.(string); ok {
			r.role = true
		}
	}
}

func (r *plainReader) thinking(v any) {
	list, ok := v.([]any)
	if !ok {
		r.take(record.Reasoning, v)
	}
	for _, part := range list {
		o, _ := part.(object)
		for _, m := range o {
			if m.name == "text" {
				r.take(record.Reasoning, m.value)
			}
		}
	}
}

func (r *plainReader) function(v any) {
	o, ok := v.(object)
	if !ok {
		return
	}
	r.has[record.ToolCall] = true
	for _, m := range o {
		if m.name == "name" || m.name == "arguments" {
			r.take(record.ToolCall, m.value)
		}
	}
}

func (r *plainReader) take(label record.EventKind, v any) {
	s, ok := v.(string)
	if !ok {
		return
	}
	if s == "" {
		r.blank = true
		return
	}
	r.has[label] = true
	r.Text += s
}

func (r *plainReader) label() record.EventKind {
	if r.failed {
		return record.Error
	}
	for _, l := range []record.EventKind{record.Content, record.ToolCall, record.Refusal, record.Reasoning} {
		if r.has[l] {
			return l
		}
	}
	switch {
	case r.Finish != "":
		return record.Finish
	case r.role:
		return record.Role
	case r.counts && !r.blank:
		return record.Usage
	case r.choices:
		return record.Empty
	}
	return record.Unknown
}

// FuzzStream compares the decoder, shortcut and all, with the plain reading.
func FuzzStream(f *testing.F) {
	for _, body := range []string{
		data(role, chat(`{"content":"a"}`), chat(`{"content":"b\n"}`), chat(`{"content":""}`), chat(`{"content":"c\"}`), stop, usageChunk(2), "[DONE]"),
		data(chat(`{"content":"a"}`), chat(`{"content":"","reasoning":"b"}`), chat(`{"content":"x","content":"y"}`)),
		data(chat(`{"tool_calls":[{"function":{"arguments":"a"}}]}`), chat(`{"tool_calls":[{"function":{"arguments":"b","name":"c"}}]}`), chat(`{"refusal":"\ud83d\ude00"}`)),
		data(`{"choices":[{"text":"a"}]}`, `{"choices":[{"text":"b"}]}`, `{"choices":[{"text":"b"}],"error":{}}`, `{"choices":[{"text":"b"},{"text":"c"}]}`),
		data(`{"choices":[{"text":"a"}]}`, `{"choices":[{"text":"a","text":"a"}]}`, `{"choices":[{"text":"a"}]}x`, `{"choices":[{"text":"a"}`, "{\"choices\":[{\"text\":\"\xff\"}]}"),
		data(chat(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`), chat(`{"content":[{"type":"thinking","thinking":"so"},{"type":"text","text":"yes"}]}`), `{"detail":"gone"}`, "[DONE]"),
		data(`{"detail":null,"choices":[{"text":"a"}]}`, `{"detail":"x","choices":[{"text":"a","finish_reason":"abort"}]}`, `{"errors":[{}],"data":[{"embedding":[]}]}`),
		"data: {\"choices\":[{\"text\":\"a\"}]}\n\ndata: {\"choices\":[{\ndata: \"text\":\"a\"}]}\n\n: c\n\nevent: error\ndata: {\"choices\":[{\"text\":\"a\"}]}\n\n",
	} {
		f.Add([]byte(body))
	}
	mutate.Fuzz(f, func(t *testing.T, body []byte) {
		first := bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), " \t\r\n")
		if len(first) == 0 || first[0] == '{' || first[0] == '<' {
			return
		}
		rec := decodetest.Answered(string(body))
		NewDecoder(Chat, nil, false).Decode(rec)
		var scan sse.Scanner
		scan.Reset(body)
		text, finish, total, i := rec.Text, "", -1, 0
		for e := (sse.Event{}); scan.Next(&e); i++ {
			if i >= len(rec.Events) {
				t.Fatalf("%d events, and there are more", len(rec.Events))
			}
			got := rec.Events[i]
			own := string([]rune(string(text[:got.Text])))
			text = text[got.Text:]
			if !e.HasData || len(e.Data) == 0 || string(e.Type) == "error" || string(bytes.TrimSpace(e.Data)) == "[DONE]" {
				if got.Label.IsToken() || got.Text != 0 {
					t.Fatalf("event %d is a %v with %q", i, got.Label, own)
				}
				continue
			}
			want, err := read(e.Data)
			if err != nil {
				want = reading{Label: record.Unknown.String()}
			}
			if want.Finish != "" {
				finish = want.Finish
			}
			if want.Counts {
				total = want.Completion
			}
			if diff := cmp.Diff([2]string{want.Label, want.Text}, [2]string{got.Label.String(), own}); diff != "" {
				t.Fatalf("event %d, %q: %s", i, e.Data, diff)
			}
		}
		if i != len(rec.Events) || len(text) != 0 {
			t.Fatalf("%d events where there are %d, %d bytes of text left", len(rec.Events), i, len(text))
		}
		if got := string([]rune(rec.Finish)); got != finish {
			t.Fatalf("finish reason %q, want %q", got, finish)
		}
		claimed := rec.Out.Claimed // what cannot be
		counted := total >= 0 && claimed == 0 && (total > 0 || len(rec.Text) == 0)
		if known := rec.Out.Source == record.FromServer; known != counted || known && rec.Out.N != total || claimed > max(total, 0) {
			t.Fatalf("server's count %+v, want %d", rec.Out, total)
		}
	})
}

// FuzzDecode lets any bytes through every kind of decoder with reads cut anywhere.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(data(role, chat(`{"content":"a"}`), chatUsage(`{"content":"b"}`, 3), "[DONE]")), 7, 200)
	f.Add([]byte(`{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":1}}`), 3, 503)
	f.Add([]byte("<html><title>x"), 1, 200)
	f.Add([]byte(`{"data":[{"embedding":[0.5]},{"embedding":"AAAA"},{"embedding":[]}],"detail":"x"}`), 5, 200)
	f.Add([]byte(data(chat(`{"content":[{"thinking":[{"text":"a"},{"text":[]}]},{"text":"b"}]}`), `{"detail":[{"msg":"x"}]}`, "[DONE]")), 7, 200)
	f.Add([]byte(`{"choices":[{"delta":{"content":"b"}}],"usage":{}}`), 7, 200)
	mutate.Fuzz(f, func(t *testing.T, body []byte, step, status int) {
		for _, kind := range []Kind{Chat, Completions, Embeddings} {
			rec := decodetest.Answered(string(body))
			rec.Status, rec.Marks = status, nil
			for off := 0; off < len(body); {
				off += max(1, step%97)
				rec.Marks = append(rec.Marks, record.Read{Off: min(off, len(body))})
			}
			NewDecoder(kind, letters(3), true).Decode(rec)
			sum, last := 0, 0
			for _, e := range rec.Events {
				if e.Mark < last || e.Mark >= len(rec.Marks) || e.Text < 0 || e.Tokens < -1 {
					t.Fatalf("event %+v of %d reads", e, len(rec.Marks))
				}
				last = e.Mark
				sum += e.Text
			}
			if sum != len(rec.Text) {
				t.Fatalf("events have %d bytes of text, the record %d", sum, len(rec.Text))
			}
		}
	})
}
