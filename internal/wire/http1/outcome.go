package http1

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// Arrived notes a read of a response, with the body up to there, as exactly as can be. behind: the
// read had more bytes behind those; single: it was of one segment.
func Arrived(rec *record.Exchange, body []byte, contentType string, at timedconn.Stamp, behind bool, single func() bool) {
	n := len(rec.Marks)
	if n > 0 && sameRead(rec.Marks[n-1], at) {
		n--
	}
	first, from := n == 0, 0
	if !first {
		from = rec.Marks[n-1].Off - rec.Folded
	}
	alone, last := true, true
	if at.Blur > 0 && rec.Streamed {
		alone, last = events(body, from, contentType)
	}
	// Of a response's first read its first byte counts, too.
	Mark(rec, body, at.Narrow(alone && !first, last && !behind, single))
}

// events looks at the events in a body that end behind an offset. alone: there is at most one;
// last: nothing stands behind the last one.
func events(body []byte, from int, contentType string) (alone, last bool) {
	blank := strings.HasPrefix(contentType, "text/event-stream")
	if from < 0 || from >= len(body) {
		return from >= 0, true
	}
	alone, ended := true, false
	for at := from; ; {
		i := bytes.IndexByte(body[at:], '\n')
		if i < 0 {
			return alone, at == len(body) && ended
		}
		if at += i + 1; blank && !endsBlank(body[:at]) {
			ended = false
			continue
		}
		if ended = true; at < len(body) && len(bytes.TrimLeft(body[at:], "\r\n")) > 0 {
			// How many there are does not matter any more, only how it ends.
			rest := body[at:]
			return false, rest[len(rest)-1] == '\n' && (!blank || endsBlank(rest))
		}
	}
}

// endsBlank reports whether a text that ends a line ends with a blank one.
func endsBlank(text []byte) bool {
	return bytes.HasSuffix(text, []byte("\n\n")) || bytes.HasSuffix(text, []byte("\n\r\n"))
}

// Mark notes a read that brought bytes of a response, whose body up to there is given.
// Bytes that TLS hands over one piece after the other may be of one read.
func Mark(rec *record.Exchange, body []byte, at timedconn.Stamp) {
	if rec.Watch != nil && rec.Folded == 0 {
		rec.Watch(body)
	}
	m := record.Read{Off: rec.Folded + len(body), Kernel: at.Kernel, User: returned(at), Blur: coarse(at.Blur), Loose: at.Loose}
	if n := len(rec.Marks); n > 0 && sameRead(rec.Marks[n-1], at) {
		rec.Marks[n-1] = m
	} else {
		rec.Marks = append(rec.Marks, m)
	}
	rec.Flight.Read(rec.Reads(), m.Off, m.Time())
}

// coarse is a time that is as long or a little longer, with one digit below a millisecond and two
// above: records are then as short as without it.
func coarse(d time.Duration) time.Duration {
	for _, step := range [...]time.Duration{0, 10, 20, 50, 100, 200, 500} {
		if d <= step*time.Microsecond {
			return step * time.Microsecond
		}
	}
	step := 100 * time.Microsecond
	for d > 100*step {
		step *= 10
	}
	return (d + step - 1) / step * step
}

// returned is when a read returned, in whole microseconds behind the kernel's stamp, which is what
// latencies are made of: records are then as short as without a bound for each read.
func returned(at timedconn.Stamp) time.Duration {
	if at.Kernel == record.Never {
		return at.User
	}
	return at.Kernel + (at.User - at.Kernel).Round(time.Microsecond)
}

func sameRead(m record.Read, at timedconn.Stamp) bool {
	return m.User == returned(at) && m.Kernel == at.Kernel
}

// perChunk gives each chunk of a read a mark of its own; ends are the lengths of the body at which
// chunks ended. An earlier chunk's lateness is known no better than the read's first byte's.
func perChunk(marks []record.Read, ends []int) []record.Read {
	var out []record.Read
	last := 0
	for _, m := range marks {
		for len(ends) > 0 && ends[0] < m.Off {
			if ends[0] > last {
				early := m
				early.Off, early.Loose = ends[0], m.Blur > 0
				out = append(out, early)
			}
			ends = ends[1:]
		}
		out, last = append(out, m), m.Off
	}
	return out
}

// Finish notes that a response is complete. One that did not end has its End: when it was done.
func Finish(rec *record.Exchange, now time.Duration) {
	if n := len(rec.Marks); n > 0 && !rec.Unterminated {
		rec.End = rec.Marks[n-1].Time()
	} else if !rec.Unterminated {
		rec.End = now
	}
	if rec.Status < 200 || rec.Status > 299 {
		rec.Failure = &record.Failure{Class: record.HTTPStatus, Status: rec.Status, At: rec.End}
	}
}

// BadFraming is the error of a response that is not what the protocol says.
func BadFraming(err error) error { return classed(record.BadBody, err) }

// Truncated is the error of a response that ended before its own framing said so.
func Truncated(err error) error { return classed(record.Truncated, err) }

// TooLarge is the error of a response that is beyond a limit of the plan.
func TooLarge(err error) error { return classed(record.TooLarge, err) }

// classed gives an error a class, unless its cause, nearer to what happened, has one.
func classed(class record.Class, err error) error {
	if known := new(timedconn.Error); errors.As(err, &known) {
		return err
	}
	return &timedconn.Error{Class: class, Err: err}
}

// longestMessage is how many characters of a message a table can show.
const longestMessage = 200

// Fail notes how a request failed.
func Fail(ctx context.Context, rec *record.Exchange, err error, now time.Duration) {
	f := &record.Failure{Class: timedconn.Classify(err), Status: rec.Status, Message: truncate.Text(err.Error(), longestMessage), At: now}
	var dropped *Dropped
	if f.Class == record.Reset && errors.As(err, &dropped) {
		f.Class = record.Dropped
	}
	if ctx.Err() != nil {
		f.Class, f.Message = record.Cancelled, "stopped by the user"
		if errors.Is(context.Cause(ctx), record.ErrCutOff) {
			f.Class, f.Message = record.CutOff, "drain timeout exceeded"
		}
	}
	rec.End = now
	if n := len(rec.Marks); n > 0 && (f.Class == record.Truncated || f.Class == record.BadBody || f.Class == record.TooLarge) {
		rec.End = rec.Marks[n-1].Time()
	}
	rec.Failure = f
}
