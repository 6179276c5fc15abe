package decode

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/record"
)

// Finished fails a response whose server says that it gave up on it. Its text is part of
// what was asked for, and it took less time than the whole would have.
func Finished(rec *record.Record) {
	if rec.Failure == nil && record.GaveUp(rec.Finish) {
		Fail(rec, record.Aborted, rec.End, fmt.Sprintf("the server ended the response with finish reason %q", Shorten(rec.Finish)))
	}
}
