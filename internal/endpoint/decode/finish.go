package decode

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/record"
)

// NotJSON fails a response in one piece that should be JSON.
func NotJSON(rec *record.Record, err error) {
	rec.Text = rec.Text[:0]
	Fail(rec, record.BadBody, rec.End, "the response is not JSON: "+err.Error())
}

// Lacking fails a response in one piece that is none of its protocol, and says what it is or lacks.
func Lacking(rec *record.Record, what string) {
	rec.Text = rec.Text[:0]
	Fail(rec, record.BadBody, rec.End, "the response "+what+": "+Message(rec.Body))
}

// ErrorObject fails a response in one piece that is an error, in the server's words.
func ErrorObject(rec *record.Record) {
	rec.Text = rec.Text[:0]
	rec.Events = append(rec.Events, record.Event{Mark: len(rec.Marks) - 1, Label: record.Error})
	Fail(rec, record.StreamError, rec.End, Message(rec.Body))
}

// Finished fails a response whose server says that it gave up on it. Its text is part of
// what was asked for, and it took less time than the whole would have.
func Finished(rec *record.Record) {
	if rec.Failure == nil && record.GaveUp(rec.Finish) {
		Fail(rec, record.Aborted, rec.End, fmt.Sprintf("the server ended the response with finish reason %q", Shorten(rec.Finish)))
	}
}
