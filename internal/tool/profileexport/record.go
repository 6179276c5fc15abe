package profileexport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint/sse"
	"github.com/inferometer/inferometer/internal/record"
)

// Base is the earliest time of the file: the offset 0 of its records.
func (d *Document) Base() uint64 {
	base, found := uint64(0), false
	for i := range d.Experiments {
		for _, r := range d.Experiments[i].All() {
			if t := r.Timestamp; !found || t < base {
				base, found = t, true
			}
		}
	}
	return base
}

// Record fills in rec with what the file says of a request, as if it had just been
// read from the network. Answers of OpenAI's protocol have yet to be decoded.
func (d *Document) Record(rec *record.Record, r *Request, base uint64) error {
	sent := time.Duration(r.Timestamp - base)
	*rec = record.Record{
		Due: sent, Ready: sent, Sent: sent, Written: sent, End: sent,
		In: record.Tokens{Local: -1}, Out: record.Tokens{Local: -1}, Cached: -1,
		Status: 200, Conn: record.Conn{Reused: true},
	}
	for _, fields := range r.Responses {
		var err error
		switch {
		case d.ServiceKind == OpenAI:
			err = addOpenAI(rec, fields)
		case d.Any && fields.Get("text_output") == nil:
			addTensors(rec)
		case d.ServiceKind == Triton:
			err = addTriton(rec, fields)
		default:
			err = fmt.Errorf("service kind %q is not supported: openai and triton are", d.ServiceKind)
		}
		if err != nil {
			return err
		}
	}
	for i := range rec.Marks {
		at := time.Duration(r.Moments[i] - base)
		rec.Marks[i].Kernel, rec.Marks[i].User = at, at
		rec.End = at
	}
	return nil
}

func addOpenAI(rec *record.Record, fields Fields) error {
	text, ok := fields.Text("response")
	if !ok {
		return fmt.Errorf("a response has no text field response: %s", short(fields.append(nil)))
	}
	rec.Body = append(rec.Body, text...)
	rec.Marks = append(rec.Marks, record.Read{Off: len(rec.Body)})
	rec.Streamed = rec.Streamed || strings.HasPrefix(strings.TrimLeft(text, "\r\n"), "data:")
	return nil
}

func addTriton(rec *record.Record, fields Fields) error {
	text, ok := fields.Text("text_output")
	if !ok {
		return fmt.Errorf("a response has no text in text_output: %s", short(fields.append(nil)))
	}
	label := record.Content
	if text == "" {
		label = record.Empty
	}
	rec.Streamed = true
	rec.Text = append(rec.Text, text...)
	rec.Body = append(rec.Body, text...)
	rec.Events = append(rec.Events, record.Event{Mark: len(rec.Marks), Label: label, Text: len(text), Tokens: -1})
	rec.Marks = append(rec.Marks, record.Read{Off: len(rec.Body)})
	return nil
}

// addTensors adds a response of which only the time counts.
func addTensors(rec *record.Record) {
	rec.Streamed = true
	rec.Events = append(rec.Events, record.Event{Mark: len(rec.Marks), Label: record.Empty, Tokens: -1})
	rec.Marks = append(rec.Marks, record.Read{Off: len(rec.Body)})
}

// FromOpenAI is a request of OpenAI's protocol as the file has it. Start is the time
// of the record's offset 0, in nanoseconds since 1970; the record has its body.
//
// A response is what one network read completed, or one chunk of it where the record tells
// them apart: an event that was cut in two stands whole in the one that ended it. So a reader of the file need not put it together,
// and finds when it was all there. A stream that was not closed by its mark has
// one more response, without text, at its end.
func FromOpenAI(rec *record.Record, start int64, inputs Fields) Request {
	r := Request{Timestamp: moment(start, rec.Sent), Inputs: inputs}
	if len(rec.Marks) == 0 {
		return r
	}
	if len(rec.Body) == 0 && len(rec.Text) > 0 {
		r.addDecoded(rec, start)
		return r
	}
	if !isStream(rec) {
		r.add(moment(start, rec.Marks[len(rec.Marks)-1].Time()), Fields{Text("response", string(rec.Body))})
		return r
	}
	var s sse.Scanner
	var e sse.Event
	s.Reset(rec.Body)
	handed := rec.Handed(nil)
	mark, from, to := 0, 0, 0 // events of this mark are at from:to
	flush := func() {
		if to > from {
			r.add(moment(start, handed[mark]), Fields{Text("response", string(rec.Body[from:to]))})
		}
		from = to
	}
	for s.Next(&e) {
		at := mark
		for at < len(rec.Marks)-1 && rec.Marks[at].Off < e.End {
			at++
		}
		// What begins a response counts as its first chunk of text, but for a comment or the
		// closing mark.
		first := from == to
		if at != mark || !first && !isChunk(rec.Body[from:to]) {
			flush()
			mark = at
		}
		to = e.End
	}
	flush()
	if !bytes.Contains(rec.Body, []byte("data: [DONE]")) {
		r.add(moment(start, max(rec.End, handed[len(handed)-1])), Fields{Text("response", "")})
	}
	return r
}

// addDecoded adds the responses of a request whose bytes were not kept: they are made again of its
// text.
func (r *Request) addDecoded(rec *record.Record, start int64) {
	form := `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":%s}}]}`
	if rec.Streamed {
		form = `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":%s}}]}` + "\n\n"
	}
	handed := rec.Handed(nil)
	off, mark, piece := 0, 0, ""
	add := func(at time.Duration) {
		if piece != "" {
			r.add(moment(start, at), Fields{Text("response", fmt.Sprintf(form, quoted(piece)))})
		}
		piece = ""
	}
	for _, e := range rec.Events {
		if e.Mark != mark {
			add(handed[mark])
		}
		piece += string(rec.Text[off : off+e.Text])
		off, mark = off+e.Text, e.Mark
	}
	add(handed[mark])
	if rec.Tail != nil { // of which the times were not kept either
		piece = string(rec.Text[off:])
		add(rec.Tail.Last)
	}
	if last := len(r.Responses) - 1; rec.Streamed && last >= 0 && rec.Failure == nil {
		text, _ := r.Responses[last].Text("response")
		r.Responses[last] = Fields{Text("response", text+"data: [DONE]\n\n")}
	}
}

// isStream reports whether an answer is a stream of events.
func isStream(rec *record.Record) bool {
	body := strings.TrimLeft(string(rec.Body[:min(len(rec.Body), 16)]), "\ufeff \t\r\n")
	return body != "" && body[0] != '{' && body[0] != '['
}

// isChunk reports whether text begins with an event that holds an object.
func isChunk(text []byte) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(string(text[:min(len(text), 64)]), "\r\n"), "data:")
	return ok && strings.HasPrefix(strings.TrimLeft(rest, " "), "{")
}

// FromTriton is a request of Triton's protocol as the file has it: one response for
// each message, the last of them possibly without text.
func FromTriton(rec *record.Record, start int64, inputs Fields) Request {
	r := Request{Timestamp: moment(start, rec.Sent), Inputs: inputs}
	off := 0
	for i := range rec.Events {
		e := &rec.Events[i]
		text := rec.Text[off : off+e.Text]
		off += e.Text
		if e.Label == record.Error || e.Label == record.Comment || e.Label == record.Unknown {
			continue
		}
		r.add(moment(start, rec.Marks[e.Mark].Time()), Fields{Text("text_output", string(text))})
	}
	return r
}

func (r *Request) add(at uint64, fields Fields) {
	r.Moments = append(r.Moments, at)
	r.Responses = append(r.Responses, fields)
}

func moment(start int64, at time.Duration) uint64 { return uint64(start + int64(at)) }

// Prompt is the text that a request asked, as GenAI-Perf counts its tokens: the
// contents of all messages, or all prompts, with a space between them.
func (d *Document) Prompt(r *Request) (string, error) {
	if d.ServiceKind == Triton {
		if text, ok := r.Inputs.Text("text_input"); ok {
			return text, nil
		}
		return "", fmt.Errorf("the request has no text_input")
	}
	payload, ok := r.Inputs.Text("payload")
	if !ok {
		return "", fmt.Errorf("the request has no payload")
	}
	return PayloadText([]byte(payload))
}

// PayloadText is the text of a request body of OpenAI's protocol and its like.
func PayloadText(payload []byte) (string, error) {
	var body struct {
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Prompt json.RawMessage `json:"prompt"`
		Input  json.RawMessage `json:"input"`
		Inputs json.RawMessage `json:"inputs"`
		Text   json.RawMessage `json:"text_input"`
	}
	if err := json.Unmarshal(payload, &body); err != nil {
		return "", fmt.Errorf("the payload is not a JSON object: %w", err)
	}
	var parts []string
	for _, m := range body.Messages {
		parts = append(parts, texts(m.Content)...)
	}
	for _, raw := range []json.RawMessage{body.Prompt, body.Input, body.Inputs, body.Text} {
		parts = append(parts, texts(raw)...)
	}
	return strings.Join(parts, " "), nil
}

// texts are the texts of a value: itself, the elements of a list, or the text parts of
// a message.
func texts(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil && len(raw) > 0 && raw[0] == '"' {
		return []string{one}
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var all []string
	for _, item := range list {
		var part struct {
			Text *string `json:"text"`
		}
		switch {
		case json.Unmarshal(item, &one) == nil:
			all = append(all, one)
		case json.Unmarshal(item, &part) == nil && part.Text != nil:
			all = append(all, *part.Text)
		}
	}
	return all
}
