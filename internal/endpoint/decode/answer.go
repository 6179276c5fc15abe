// Package decode is what decoders of protocols share: how events are put down in a
// record, how their tokens are counted, and what is said of a response that is none.
package decode

import (
	"bytes"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// bom may stand ahead of a text.
var bom = []byte("\xef\xbb\xbf")

// Clear takes everything out of a record that a decoder fills in.
func Clear(rec *record.Record) {
	rec.Events, rec.Text = rec.Events[:0], rec.Text[:0]
	rec.Out = record.Tokens{Local: -1}
	rec.Cached, rec.Finish, rec.Tail = -1, "", nil
}

// Body is what there is to decode: the record's body without what may stand before
// it. False: there is nothing, and the record's failure says why.
func Body(rec *record.Record) ([]byte, bool) {
	switch {
	case rec.Status != 0 && (rec.Status < 200 || rec.Status > 299):
		Refused(rec)
		return nil, false
	case rec.Failure != nil && len(rec.Body) == 0:
		return nil, false
	}
	body := bytes.TrimLeft(bytes.TrimPrefix(rec.Body, bom), " \t\r\n")
	if len(body) == 0 {
		Fail(rec, record.BadBody, rec.End, "the response is empty")
		return nil, false
	}
	return body, true
}

// Events puts the events of a stream down in a record.
type Events struct {
	rec    *record.Record
	list   []record.Event
	mark   int // the read that the last event came out of
	Tokens int // events that carry tokens
	fold   folding
}

// Begin starts on the events of a record.
func (s *Events) Begin(rec *record.Record) {
	*s = Events{rec: rec, list: rec.Events, mark: -1}
}

// List is what there is so far.
func (s *Events) List() []record.Event { return s.list }

// Len is the number of events so far.
func (s *Events) Len() int {
	if t := s.rec.Tail; t != nil {
		return len(s.list) + int(t.Events+t.Others)
	}
	return len(s.list)
}

// Add appends an event that is complete at offset end of the body.
func (s *Events) Add(end int, label record.EventKind, text, tokens int) {
	if s.full() {
		s.addFolded(end, label, tokens)
		return
	}
	marks := s.rec.Marks
	m := max(s.mark, 0)
	for m < len(marks)-1 && marks[m].Off < end {
		m++
	}
	if m == s.mark || s.mark >= 0 && marks[m].SameRead(marks[s.mark]) {
		s.list[len(s.list)-1].Merged = true
	}
	s.mark = m
	if label.IsToken() {
		s.Tokens++
	}
	s.list = append(s.list, record.Event{Mark: m, Label: label, Text: text, Tokens: tokens})
}

// Now is the time of the last event.
func (s *Events) Now() time.Duration {
	if s.mark >= 0 && s.mark < len(s.rec.Marks) {
		return s.rec.Marks[s.mark].Time()
	}
	return s.rec.End
}

// Fail notes a failure at the time of the last event.
func (s *Events) Fail(class record.Class, text string) { Fail(s.rec, class, s.Now(), text) }
