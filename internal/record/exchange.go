package record

import "time"

// Exchange is a request in flight: its record, and what those share beside the facts who
// carry the request out, hold its response and decode it. Nothing of that is ever kept.
type Exchange struct {
	Record

	// Flight is told how far it has come, for those who look from outside; nil means nobody
	// does.
	Flight *InFlight
	flight *InFlight // for the next time; nil means there was none yet
	// Watch is told of every read, with the body up to there; Optional. It is called
	// while the connection is locked and must not wait for anything.
	Watch func(body []byte)

	// CancelAfter is how long after it was sent its user goes away; 0: never.
	CancelAfter time.Duration

	// MaySend is asked once more where a request had to wait for a connection, right before it goes, and before it goes
	// again; nil means it may. It must not wait for anything.
	MaySend func() bool

	// Keeper is asked once more than Room is held; nil means there is no bound. Whole is how many
	// bytes of Body are known to be whole events of a permitted length.
	Keeper SizeLimiter
	Room   int
	Whole  int

	// Media: the prompt has images, sound or video, or unknown: it may be far more tokens
	// than its request has bytes.
	Media bool

	// Request is what the endpoint's decoder must know of the request; nil where the response
	// says it all. Reading is the decoder's state where it has read a part of the response
	// already, and Decoded says that it has read all of it.
	Request any
	Reading any
	Decoded bool
}

// Reset makes it a blank one, whose buffers are used again.
func (x *Exchange) Reset() {
	*x = Exchange{
		Record: Record{Marks: x.Marks[:0], Body: x.Body[:0], Text: x.Text[:0], Events: x.Events[:0], Cached: -1},
		flight: x.flight,
	}
}

// Barred reports whether the request may not go any more.
func (x *Exchange) Barred() bool { return x.MaySend != nil && !x.MaySend() }

// SizeLimiter sees to it that a record does not grow without bound while its response comes.
type SizeLimiter interface {
	// Keep is called after a read that leaves more in a record than it has room for. An
	// error ends the request.
	Keep(x *Exchange) error
}

// MarkSize is what a mark takes of a record's room, with the event that it may bring.
const MarkSize = 64

// Over reports whether a record of a body so long holds more than it has room for.
func (x *Exchange) Over(body int) bool {
	return x.Keeper != nil && body+MarkSize*len(x.Marks) > x.Room
}
