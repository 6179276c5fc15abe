package openai

import (
	"bytes"

	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// Decoder reads the responses of OpenAI-compatible servers. It holds nothing of one
// answer when it reads the next.
type Decoder struct {
	kind  Kind
	count decode.Counter
	// First: of several choices in an event, or in a response, only the first of the list
	// counts.
	First bool
}

// NewDecoder makes a decoder for responses of one kind. The model's own tokenizer
// counts beside the server; one that stands in for it counts only responses in one
// piece that the server did not count. Without any that is left undone.
func NewDecoder(kind Kind, tok prompt.Tokenizer, own bool) *Decoder {
	return &Decoder{kind: kind, count: decode.NewCounter(tok, own)}
}

// Decode fills in the record's events, text, token counts and finish reason from its
// body. A failure that it has already is kept, with whatever arrived before it decoded;
// otherwise one that only the content shows is set.
func (d *Decoder) Decode(x *record.Exchange) {
	decode.Decode(x, func(body []byte) {
		switch {
		case body[0] == '{':
			d.decodeUnstreamed(x)
		case body[0] == '<' || d.kind == Embeddings:
			decode.Fail(&x.Record, record.BadBody, x.End, "the answer is neither JSON nor a stream of events: "+decode.Message(x.Body))
		default:
			d.stream(x)
		}
	})
}

// decodeUnstreamed reads a response in one piece.
func (d *Decoder) decodeUnstreamed(x *record.Exchange) {
	rec := &x.Record
	c := chunk{first: d.First || d.count.Plain && (d.kind != Chat || rec.Call != "")} // one that goes on goes on from the first
	c.Text, c.Apart, c.spoken = rec.Text, d.count.Plain, d.kind == Transcriptions
	err := c.parse(bytes.TrimPrefix(rec.Body, []byte("\xef\xbb\xbf")))
	rec.Text = c.Text
	if err != nil {
		decode.Fail(rec, record.BadBody, rec.End, "the answer is not JSON: "+err.Error())
		return
	}
	if c.failed {
		rec.Text = rec.Text[:0]
		rec.Events = append(rec.Events, record.Event{Mark: len(rec.Marks) - 1, Label: record.Error})
		decode.Fail(rec, record.StreamError, rec.End, decode.Message(rec.Body))
		return
	}
	event := record.Event{Mark: len(rec.Marks) - 1, Label: record.Whole, Text: len(rec.Text)}
	d.takeUsage(x, c.usage)
	rec.Finish = finishName(c.finish)
	switch {
	case d.kind == Embeddings && !c.data:
		rec.Text = rec.Text[:0]
		decode.Fail(rec, record.BadBody, rec.End, "the answer holds no embedding: "+decode.Message(rec.Body))
		return
	case d.kind == Embeddings && c.hollow:
		rec.Text = rec.Text[:0]
		decode.Fail(rec, record.BadBody, rec.End, "the answer holds an empty embedding")
		return
	case d.kind == Embeddings:
		rec.Text = rec.Text[:0]
		event.Text = 0
	case !c.choices && !c.transcript:
		rec.Text = rec.Text[:0]
		what := "choices"
		if d.kind == Transcriptions {
			what = "text"
		}
		decode.Fail(rec, record.BadBody, rec.End, "the answer has no "+what+": "+decode.Message(rec.Body))
		return
	default:
		event.Tokens = d.count.CountUnstreamed(rec, c.usage.completion, c.usage.hidden)
		if d.count.Plain {
			event.Tokens = d.count.CountVisible(rec, c.Visible)
		}
	}
	rec.Events = append(rec.Events, event)
	decode.Finished(rec)
}

// takeUsage takes over what the server says about the prompt.
func (d *Decoder) takeUsage(x *record.Exchange, u usage) {
	d.count.Prompt(x, u.prompt)
	d.unsent(x)
	if u.cached >= 0 {
		x.Cached = u.cached
	}
}

// finishName is a finish reason as a string, without an allocation for those that
// servers give all the time.
func finishName(b []byte) string {
	for _, usual := range [...]string{"length", "stop", "tool_calls", "content_filter"} {
		if string(b) == usual {
			return usual
		}
	}
	return string(b)
}
