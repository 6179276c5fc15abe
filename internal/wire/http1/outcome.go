package http1

import (
	"context"
	"errors"
	"time"

	"github.com/inferometer/inferometer/internal/lib/brief"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/clock"
)

// Mark notes a read that brought bytes of an answer, whose body up to there is given.
// Bytes that TLS hands over one piece after the other may be of one read.
func Mark(rec *record.Exchange, body []byte, at clock.Stamp) {
	if rec.Watch != nil && rec.Folded == 0 {
		rec.Watch(body)
	}
	m := record.Mark{Off: rec.Folded + len(body), Kernel: at.Kernel, User: at.User, Blur: at.Blur, Loose: at.Loose}
	if n := len(rec.Marks); n > 0 && rec.Marks[n-1].User == at.User && rec.Marks[n-1].Kernel == at.Kernel {
		rec.Marks[n-1] = m
	} else {
		rec.Marks = append(rec.Marks, m)
	}
	rec.Flight.Read(rec.Reads(), m.Off, m.At())
}

// Finish notes that an answer is complete. One that did not end has its End: when it said
// that it is done.
func Finish(rec *record.Exchange, now time.Duration) {
	if n := len(rec.Marks); n > 0 && !rec.Unended {
		rec.End = rec.Marks[n-1].At()
	} else if !rec.Unended {
		rec.End = now
	}
	if rec.Status < 200 || rec.Status > 299 {
		rec.Failure = &record.Failure{Class: record.HTTPStatus, Status: rec.Status, At: rec.End}
	}
}

// BadFraming is the error of an answer that is not what the protocol says.
func BadFraming(err error) error { return classed(record.BadBody, err) }

// Truncated is the error of an answer that ended before its own framing said so.
func Truncated(err error) error { return classed(record.Truncated, err) }

// TooLarge is the error of an answer that is beyond a limit of the plan.
func TooLarge(err error) error { return classed(record.TooLarge, err) }

// classed gives an error a class, unless its cause has one already: that is nearer to what
// happened.
func classed(class record.Class, err error) error {
	if known := new(clock.Error); errors.As(err, &known) {
		return err
	}
	return &clock.Error{Class: class, Err: err}
}

// longestMessage is how many characters of a message a table can show.
const longestMessage = 200

// Fail notes how a request failed.
func Fail(ctx context.Context, rec *record.Exchange, err error, now time.Duration) {
	f := &record.Failure{Class: clock.Classify(err), Status: rec.Status, Message: brief.Text(err.Error(), longestMessage), At: now}
	var dropped *Dropped
	if f.Class == record.Reset && errors.As(err, &dropped) {
		f.Class = record.Dropped
	}
	if ctx.Err() != nil {
		f.Class, f.Message = record.Cancelled, "stopped by the user"
		if errors.Is(context.Cause(ctx), record.ErrCutOff) {
			f.Class, f.Message = record.CutOff, "still under way when the drain time was over"
		}
	}
	rec.End = now
	if n := len(rec.Marks); n > 0 && (f.Class == record.Truncated || f.Class == record.BadBody || f.Class == record.TooLarge) {
		rec.End = rec.Marks[n-1].At()
	}
	rec.Failure = f
}
