package h2

import (
	"context"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// stream is one request on a connection. The connection's lock guards it until it
// has ended; from then on it is the request's again.
type stream struct {
	ctx    context.Context
	shared []http1.Field
	own    []http1.Field
	sized  bool
	rec    *record.Exchange
	answer *Response
	open   *Stream       // an open-ended stream: no context, no record, no limits
	done   chan struct{} // gets one value when the stream has ended
	err    error         // why, where it failed

	// about sending
	rest   []byte        // of the body, what no frame holds yet
	window int64         // bytes that the server will take
	begun  time.Duration // when it was handed to the connection
	queued bool          // waits in the connection's queue
	onWire bool          // all of it is in frames
	stamp  bool          // a write of its bytes is in flight or done, its stamps are not noted

	// about the response
	headed   bool          // its headers have come
	answered bool          // it is complete
	said     time.Duration // when it said that it is complete
	endBy    time.Duration // when it counts as complete, because it has said so; 0: it has not
	length   int64         // its Content-Length; -1: none
	latest   time.Duration // its last read; record.Never before the first
	grew     time.Duration // its last read with some of the body
	held     time.Duration // what Stamp.Held was when it began
	received int64         // bytes that the server may send again once it is told so
	reused   bool          // the connection had carried others
}

// reset makes a stream ready for a request.
func (st *stream) reset(ctx context.Context, o *order) {
	*st = stream{
		ctx: ctx, shared: o.shared, own: o.own, sized: o.sized, rec: o.rec, answer: o.answer, done: st.done,
		rest: o.body, length: -1, latest: record.Never, grew: record.Never,
	}
	if o.answer != nil {
		*o.answer = Response{Head: o.answer.Head[:0], Trailer: o.answer.Trailer[:0]}
	}
	rec := o.rec
	rec.Marks, rec.Body = rec.Marks[:0], rec.Body[:0]
	rec.Sent, rec.Written = record.Never, record.Never
	rec.Status, rec.ContentType, rec.RetryAfter = 0, "", ""
}

// from is the time from which the stream's limits count.
func (st *stream) from() time.Duration {
	if st.rec.Sent != record.Never {
		return st.rec.Sent
	}
	return st.begun
}

// arrived notes a read that brought something of the response.
func (st *stream) arrived(at timedconn.Stamp, behind bool, single func() bool) {
	first := st.latest == record.Never
	st.latest = at.User
	at.Held -= st.held
	if first {
		at = at.NotBefore(st.rec.Sent)
	}
	http1.Arrived(st.rec, st.rec.Body, st.rec.ContentType, at, behind, single)
}
