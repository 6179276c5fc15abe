package grpc

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/h2"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// Sorter says whose a message of a stream is, by the id of its request; whether it
// is the last one of that request; and whether it is an error, which is always the
// last. It is called as messages come, and must do no more than look at the bytes.
type Sorter func(message []byte) (id []byte, last, failed bool)

// flow is a long-lived stream with the requests on it.
type flow struct {
	client *Client
	stream *h2.Stream
	sort   Sorter
	ended  chan struct{} // closed when the stream is over

	// mu may be taken while the connection is locked: nothing may be asked of the stream under it.
	mu      sync.Mutex
	waiting map[string]*request
	count   int64 // requests so far
	closing bool  // takes no more
	alarm   timedconn.Alarm
	held    time.Duration // Stamp.Held of the latest read

	split       splitter
	speaks      bool // the response is gRPC's
	status      int  // of HTTP
	contentType string
	said        error // how the call ended, where it ended with its headers
}

// request is one on a stream. The flow's lock guards it until it is over.
type request struct {
	flow  *flow
	rec   *record.Exchange
	id    string
	order int64         // in which requests came to the stream
	begun time.Duration // when it was handed over
	done  chan struct{} // gets one value when it is over
	err   error         // why, where it failed

	latest   time.Duration   // its last read; record.Never before the first
	messages int             // that have come
	last     timedconn.Stamp // of the last of them
	held     time.Duration   // what Stamp.Held was when it was handed over
	sent     bool            // all of it, and Written is noted
	answered bool            // its last message has come
	failed   bool            // which is an error
	over     bool
}

// errFailed: the server answered with an error. The message itself says which.
var errFailed = errors.New("the server answered with an error")

// add puts a request on the stream; false: the stream takes no more.
func (f *flow) add(q *request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closing {
		return false
	}
	f.count++
	q.order, q.begun, q.held = f.count, f.client.clock.Now(), f.held
	f.waiting[q.id] = q
	f.alarm.Set(f.client.options.Limits.Due(q.begun, record.Never))
	return true
}

func (f *flow) finish(q *request, err error) {
	if q.over {
		return
	}
	q.over, q.err = true, err
	q.rec.Status, q.rec.ContentType = f.status, f.contentType
	if f.waiting[q.id] == q {
		delete(f.waiting, q.id)
	}
	q.done <- struct{}{}
}

// Wrote notes when the request went.
func (q *request) Wrote(sent, written time.Duration) {
	f := q.flow
	f.mu.Lock()
	defer f.mu.Unlock()
	if q.over {
		return
	}
	if sent != record.Never {
		q.rec.Sent = sent
		q.rec.Flight.SetSent(sent)
	}
	if written != record.Never {
		q.rec.Written, q.sent = written, true
		if q.rec.CancelAfter > 0 {
			f.alarm.Set(written + q.rec.CancelAfter)
		}
		if q.answered {
			f.finish(q, nil)
		}
	}
}

// from is the time from which the request's limits count.
func (q *request) from() time.Duration {
	if q.rec.Sent != record.Never {
		return q.rec.Sent
	}
	return q.begun
}

// Head takes the headers of the stream.
func (f *flow) Head(status int, fields []http1.Field, _ timedconn.Stamp) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status, f.contentType = status, value(fields, "content-type")
	f.speaks = status == 200 && isGRPC(f.contentType)
	f.split.encoding = value(fields, "grpc-encoding")
	if value(fields, "grpc-status") != "" {
		f.said = outcome(fields)
	}
	return nil
}

// Data takes the next bytes of the stream.
func (f *flow) Data(p []byte, at timedconn.Stamp, behind bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held = at.Held
	if !f.speaks {
		return notGRPCAnswer(f.status, f.contentType, p)
	}
	for len(p) > 0 {
		var message []byte
		var err error
		if message, p, err = f.split.next(p); err != nil {
			return err
		}
		if message != nil {
			f.deal(message, at, behind || len(p) > 0)
		}
	}
	if f.split.pending() {
		f.partly(at)
	}
	return nil
}

// deal gives a message to the request that it belongs to; behind: more came with it.
func (f *flow) deal(message []byte, at timedconn.Stamp, behind bool) {
	id, last, failed := f.sort(message[prefix:])
	q := f.waiting[string(id)]
	if q == nil && len(id) == 0 {
		q = f.oldest()
	}
	if q == nil || q.answered {
		return // of a request that was given up
	}
	rec := q.rec
	rec.Body = append(rec.Body, message...)
	alone := q.messages == 0 || q.last != at
	came := at
	came.Held -= q.held
	if q.messages == 0 {
		came = came.NotBefore(rec.Sent)
	}
	http1.Mark(rec, rec.Body, came.Narrow(alone, !behind, f.stream.Single))
	if err := http1.Hold(rec); err != nil {
		f.finish(q, err)
		return
	}
	q.messages++
	q.last, q.latest = at, at.User
	if last || failed {
		if q.answered, q.failed = true, failed; q.sent {
			f.finish(q, nil)
		}
		return
	}
	f.stall(at)
}

// partly notes that a part of a message has come: whose is unknown, unless only one waits.
func (f *flow) partly(at timedconn.Stamp) {
	if len(f.waiting) != 1 {
		return
	}
	for _, q := range f.waiting {
		q.latest = at.User
		f.stall(at)
	}
}

// stall makes sure that the limit between two reads is looked at.
func (f *flow) stall(at timedconn.Stamp) {
	if limit := f.client.options.Limits.Stall; limit != 0 {
		f.alarm.Set(at.User + limit)
	}
}

// oldest is the request that a message without an id belongs to: the only one or,
// where there are several, the first that has had no response yet.
func (f *flow) oldest() *request {
	var first *request
	for _, q := range f.waiting {
		if len(f.waiting) == 1 {
			return q
		}
		if q.messages == 0 && (first == nil || q.order < first.order) {
			first = q
		}
	}
	return first
}

// End takes in that the stream is over.
func (f *flow) End(trailer []http1.Field, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closing = true
	if err == nil {
		err = f.endError(trailer)
	}
	for _, q := range f.waiting {
		f.finish(q, f.reason(q, err))
	}
	f.alarm.Stop()
	close(f.ended)
}

// reason says what the end of the stream means for one request.
func (f *flow) reason(q *request, err error) error {
	var cut *timedconn.Error
	var dropped *http1.Dropped
	isCut, isDropped := errors.As(err, &cut) && cut.Class == record.Truncated, errors.As(err, &dropped)
	switch {
	case q.latest == record.Never && isCut:
		// What was cut short is the stream; of this request's response nothing has come.
		// A server that ends the call itself may well have read the request.
		ending := timedconn.CloseReason{At: f.client.clock.Now(), Orderly: true, Known: true}
		if isDropped {
			ending = dropped.CloseReason
		}
		return &http1.Dropped{Err: fmt.Errorf("%w (no message of this response had come)", cut.Err), CloseReason: ending}
	case q.latest != record.Never && isDropped && !isCut:
		return dropped.Err // which broke its response
	}
	return err
}

// endError says what the end of a stream means that the server ended in order.
func (f *flow) endError(trailer []http1.Field) error {
	switch {
	case !f.speaks:
		return notGRPCAnswer(f.status, f.contentType, nil)
	case f.said != nil:
		return f.said
	case len(trailer) > 0:
		if err := outcome(trailer); err != nil {
			return err
		}
	}
	return http1.Truncated(errors.New("the server ended the stream before the response was complete"))
}

// Leaving takes in that the server is about to leave.
func (f *flow) Leaving() (idle bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closing = true
	return len(f.waiting) == 0
}

// leave closes the stream; false: it is over already.
func (f *flow) leave() bool {
	select {
	case <-f.ended:
		return false
	default:
	}
	f.mu.Lock()
	f.closing = true
	f.mu.Unlock()
	f.stream.Close()
	return true
}

// expire ends the requests that ran into a limit.
func (f *flow) expire() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.alarm.Reset()
	now, limits := f.client.clock.Now(), f.client.options.Limits
	var next time.Duration
	for _, q := range f.waiting {
		limits.Cancel = q.rec.CancelAfter
		limits := limits.Wrote(q.from(), q.rec.Written)
		if class := limits.Over(q.from(), q.latest, now); class != "" {
			f.finish(q, &timedconn.Expired{Class: class})
		} else if due := limits.Due(q.from(), q.latest); due != 0 && (next == 0 || due < next) {
			next = due
		}
	}
	if !f.closing || len(f.waiting) > 0 {
		f.alarm.Set(next)
	}
}

// abandon lets go of a request that this side has ended, and of the stream if no other is on it.
func (f *flow) abandon(q *request) {
	f.mu.Lock()
	f.finish(q, timedconn.ErrAborted)
	alone := len(f.waiting) == 0 && !f.closing
	f.closing = f.closing || alone
	f.mu.Unlock()
	if !alone {
		f.stream.Withdraw(q)
		return
	}
	if f.stream.Reset(q.from()) {
		close(f.ended)
	}
}

var (
	_ h2.Receiver      = (*flow)(nil)
	_ h2.GoAwayHandler = (*flow)(nil)
	_ h2.Sender        = (*request)(nil)
)
