package http1

import (
	"time"

	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// Dropped is the error of a request whose connection was closed without a byte of a response.
type Dropped struct {
	Err error
	timedconn.CloseReason
}

func (e *Dropped) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *Dropped) Unwrap() error { return e.Err }

// Soon is how long after a request's first byte, beyond a round trip, a server may close the
// connection and still not have taken the request: its time for idle connections is over.
const Soon = 5 * time.Millisecond

// SafeToResend reports whether the server cannot have taken a request that began to go at
// the given time on a connection which had carried others. It is the one rule of
// who goes again, for all protocols. Alone: nothing else was in flight on the
// connection.
//
// A server that closes in order says how much it has received. One that has received
// all of a request may have worked on it, however quickly it closed. A reset says
// nothing: a server that works for a while and then resets has often not confirmed the
// request yet. There the time alone counts.
func (e *Dropped) SafeToResend(sent, soon time.Duration, alone bool) bool {
	early := e.early(sent, soon)
	if e.Orderly && e.Known {
		return e.Lacks && (alone || early)
	}
	return early
}

// early reports whether the server closed too soon after a request began to go to have worked on it.
func (e *Dropped) early(sent, soon time.Duration) bool { return e.At-sent <= soon+e.RTT }
