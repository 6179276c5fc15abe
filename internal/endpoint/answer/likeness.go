package answer

import (
	"bytes"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/record"
)

// Likeness remembers the bytes before and after the text of an event that carried
// nothing but one text. An event with the same bytes around another text says the
// same but for that text, so it need not be parsed.
type Likeness struct {
	prefix, suffix []byte
	Label          record.Label
}

// Learn takes an event's data, whose one text is data[start:end].
func (l *Likeness) Learn(data []byte, start, end int, label record.Label) {
	l.prefix, l.suffix, l.Label = data[:start], data[end:], label
}

// Append appends the text of an event to text if the event is like the one learnt.
// Events without text are not.
func (l *Likeness) Append(text, data []byte) ([]byte, bool) {
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

// Lasting gives an event's data for Learn: a copy where its bytes do not stay.
func Lasting(data []byte, moves bool) []byte {
	if moves {
		return bytes.Clone(data)
	}
	return data
}
