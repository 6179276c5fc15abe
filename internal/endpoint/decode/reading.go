package decode

import (
	"bytes"
	"fmt"

	"github.com/inferometer/inferometer/internal/endpoint/sse"
	"github.com/inferometer/inferometer/internal/record"
)

// StreamDecoder is the state of reading a stream of server-sent events with JSON in them,
// as far as it is the same in every protocol.
type StreamDecoder struct {
	Events
	Known int  // events of the protocol
	Done  bool // the stream has said that it is complete

	unknown   int  // events that are not of the protocol
	unclosed  bool // the last event is cut off
	malformed string
	like      likeness // of the last event that carried nothing but one text
}

// Frame takes an event that means the same in every protocol. False: its data
// should be the protocol's JSON.
func (r *StreamDecoder) Frame(e *sse.Event) bool {
	switch {
	case string(e.Type) == "error":
		r.Put(e, record.Error, 0, 0)
	case !e.HasData:
		label := record.Unknown
		if e.Comment || e.Type != nil || e.ID != nil || e.Retry != nil {
			label = record.Comment
		} else {
			r.unknown++
		}
		r.Add(e.End, label, 0, 0)
	case len(e.Data) == 0:
		r.Add(e.End, record.Empty, 0, 0)
	case string(bytes.TrimSpace(e.Data)) == "[DONE]":
		r.Done = true
		r.Add(e.End, record.Done, 0, 0)
	default:
		return false
	}
	return true
}

// Put takes an event of the protocol, or one of which the protocol knows nothing. An
// error in it is the request's failure.
func (r *StreamDecoder) Put(e *sse.Event, label record.EventKind, text, tokens int) {
	if label == record.Unknown {
		r.unknown++
	} else {
		r.Known++
	}
	r.Add(e.End, label, text, tokens)
	if label == record.Error {
		r.Fail(record.StreamError, Message(e.Data))
	}
}

// Malformed takes an event whose data is not JSON.
func (r *StreamDecoder) Malformed(e *sse.Event, err error) {
	r.Put(e, record.Unknown, 0, 0)
	if e.Unterminated {
		r.unclosed = true
	} else if r.malformed == "" {
		r.malformed = fmt.Sprintf("event %d, at byte %d of the answer, is not JSON: %v", r.Len(), e.Start, err)
	}
}

// Judge finds the failures that show once the stream has ended. kind is what its
// events should have been, and lacks what it should have ended with where it is not
// closed.
func (r *StreamDecoder) Judge(kind string, closed bool, lacks string) {
	rec := r.rec
	fail := func(class record.Class, format string, args ...any) {
		Fail(rec, class, rec.End, fmt.Sprintf(format, args...))
	}
	switch {
	case rec.Failure != nil:
	case r.malformed != "":
		fail(record.BadBody, "%s", r.malformed)
	case r.unclosed && !r.Done:
		fail(record.Truncated, "the answer ends in the middle of event %d", r.Len())
	case r.Known == 0 && r.unknown > 0:
		fail(record.BadBody, "the answer is neither JSON nor a stream of %s events: %s", kind, Message(rec.Body))
	case r.Known == 0:
		fail(record.BadBody, "the stream holds no events")
	case !closed:
		fail(record.Truncated, "the stream ends after %d events without %s", r.Len(), lacks)
	}
}
