package decode

import (
	"bytes"
	"fmt"

	"github.com/inferometer/inferometer/internal/endpoint/sse"
	"github.com/inferometer/inferometer/internal/record"
)

// StreamDecoder is what all protocols share of reading a stream of server-sent events with JSON.
type StreamDecoder struct {
	Events
	Known int  // events of the protocol
	Done  bool // the stream has said that it is complete

	unknown   int  // events that are not of the protocol
	unclosed  bool // the last event is cut off
	malformed string
	like      likeness  // of the last event that carried nothing but one text
	event     sse.Event // that is read: here it is not made anew for each
}

// Decoder is part of [StreamReader].
func (r *StreamDecoder) Decoder() *StreamDecoder { return r }

// StreamReader reads a stream of one protocol.
type StreamReader interface {
	AddEvent(e *sse.Event)   // an event, whatever it is; its offsets are those of the response
	End()                    // works out what the stream comes to that has been read
	Decoder() *StreamDecoder // which has begun
}

// Decode fills in a record's events, text, token counts and finish reason: with what is left of a
// stream that was read while it came, or by other, which is given the body. A failure that it
// has already is kept; otherwise one that only the content shows is set.
func Decode(x *record.Exchange, other func(body []byte)) {
	if s, ok := x.Reading.(StreamReader); ok {
		x.Reading = nil
		ReadStream(s)
		return
	}
	rec := &x.Record
	Clear(rec)
	body, ok := Body(rec)
	if !ok {
		return
	}
	other(body)
	if len(rec.Marks) == 0 { // nothing to point at
		rec.Events = rec.Events[:0]
	}
}

// ReadStream takes what is left of a stream, the last event included although nothing closes it.
func ReadStream(s StreamReader) {
	s.Decoder().read(s.AddEvent, true)
	s.End()
}

// Advance is what endpoint.Decoder has: it takes the events of a stream that are complete so far,
// and gives how many bytes of the record's body they took. begin makes what reads the stream.
func Advance(x *record.Exchange, most int, begin func(x *record.Exchange) StreamReader) int {
	s, ok := x.Reading.(StreamReader)
	if !ok {
		if !Streams(&x.Record) {
			return 0
		}
		Clear(&x.Record)
		s = begin(x)
		s.Decoder().Fold(most)
		x.Reading = s
	}
	r := s.Decoder()
	done := r.read(s.AddEvent, false)
	r.foldMarks(r.rec.Folded + done)
	return done
}

// Frame takes an event that all protocols have. false: its data should be the protocol's JSON.
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

// Put takes an event of the protocol, or an unknown one. An error in it is the request's failure.
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
		r.malformed = fmt.Sprintf("event %d, at byte %d of the response, is not JSON: %v", r.Len(), e.Start, err)
	}
}

// Judge finds the failures that show at a stream's end. kind is what its events should have been,
// lacks what should have closed it.
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
		fail(record.Truncated, "the response ends in the middle of event %d", r.Len())
	case r.Known == 0 && r.unknown > 0:
		fail(record.BadBody, "the response is neither JSON nor a stream of %s events: %s", kind, Message(rec.Body))
	case r.Known == 0:
		fail(record.BadBody, "the stream holds no events")
	case !closed:
		fail(record.Truncated, "the stream ends after %d events without %s", r.Len(), lacks)
	}
}
