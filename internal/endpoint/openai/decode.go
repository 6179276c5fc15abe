package openai

import (
	"bytes"

	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// Decoder reads responses of OpenAI-compatible servers. It keeps nothing from one to the next.
type Decoder struct {
	kind  Kind
	count decode.Counter
	// First: of several choices in an event or a response only the first counts.
	First bool
}

// NewDecoder makes a decoder whose tokens are counted as by [decode.NewCounter].
func NewDecoder(kind Kind, tok prompt.Tokenizer, own bool) *Decoder {
	return &Decoder{kind: kind, count: decode.NewCounter(tok, own)}
}

// Decode fills in a record, as [decode.Decode] has it.
func (d *Decoder) Decode(x *record.Exchange) {
	decode.Decode(x, func(body []byte) {
		switch {
		case body[0] == '{':
			d.decodeUnstreamed(x)
		case body[0] == '<' || d.kind == Embeddings:
			decode.Lacking(&x.Record, "is neither JSON nor a stream of events")
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
		decode.NotJSON(rec, err)
		return
	}
	if c.failed {
		decode.ErrorObject(rec)
		return
	}
	event := record.Event{Mark: len(rec.Marks) - 1, Label: record.Whole, Text: len(rec.Text)}
	d.takeUsage(x, c.usage)
	rec.Finish = finishName(c.finish)
	switch {
	case d.kind == Embeddings && !c.data:
		decode.Lacking(rec, "holds no embedding")
		return
	case d.kind == Embeddings && c.hollow:
		rec.Text = rec.Text[:0]
		decode.Fail(rec, record.BadBody, rec.End, "the response holds an empty embedding")
		return
	case d.kind == Embeddings:
		rec.Text = rec.Text[:0]
		event.Text = 0
	case !c.choices && !c.transcript:
		what := "has no choices"
		if d.kind == Transcriptions {
			what = "has no text"
		}
		decode.Lacking(rec, what)
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

// finishName is a finish reason as a string, without an allocation for the usual ones.
func finishName(b []byte) string {
	for _, usual := range [...]string{"length", "stop", "tool_calls", "content_filter"} {
		if string(b) == usual {
			return usual
		}
	}
	return string(b)
}
