package decode

import (
	"bytes"

	"github.com/inferometer/inferometer/internal/endpoint/sse"
	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/record"
)

// likeness remembers the bytes before and after the text of an event that carried nothing but one
// text. Another with the same bytes around its text need not be parsed.
type likeness struct {
	prefix, suffix []byte
	label          record.EventKind
}

// Learn takes an event that carried nothing but the one text of a part.
func (r *StreamDecoder) Learn(e *sse.Event, p *Part, label record.EventKind) {
	data := e.Data
	if r.fold.on { // its bytes do not stay where they are
		data = bytes.Clone(data)
	}
	r.like = likeness{prefix: data[:p.Start], suffix: data[p.End:], label: label}
}

// Repeat reports whether an event is like the one learnt but for its text, which it appends to p's.
func (r *StreamDecoder) Repeat(e *sse.Event, p *Part) bool {
	if string(e.Type) == "error" {
		return false
	}
	before := len(p.Text)
	var ok bool
	if p.Text, ok = r.like.append(p.Text, e.Data); ok {
		r.Put(e, r.like.label, len(p.Text)-before, 1)
	}
	return ok
}

// append appends an event's text to text if the event, which must have some, is like the one
// learnt.
func (l *likeness) append(text, data []byte) ([]byte, bool) {
	n := len(l.prefix)
	if n == 0 || len(data) <= n || !bytes.Equal(data[:n], l.prefix) {
		return text, false
	}
	end, escaped, ok := jsonscan.StringEnd(data, n)
	if !ok || end == n || !bytes.Equal(data[end:], l.suffix) {
		return text, false
	}
	if escaped {
		return jsonscan.AppendUnescaped(text, data[n:end]), true
	}
	return append(text, data[n:end]...), true
}
