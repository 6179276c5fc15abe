package record

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Class is the kind of a failure.
type Class string

// The classes of failure, in the order in which a request can meet them.
const (
	ClientResource Class = "client"         // this machine had no file descriptor, port or memory left for it
	ResolveFailed  Class = "resolve"        // the host name has no address
	ConnectFailed  Class = "connect"        // no connection was made
	TLSFailed      Class = "tls"            // the handshake or the certificate failed
	NoFirstByte    Class = "first_byte"     // time-out before the first byte of the response
	Stalled        Class = "stall"          // time-out between two bytes of the response
	TimedOut       Class = "timeout"        // time-out of the whole request
	Dropped        Class = "dropped"        // the server closed the connection without a byte of a response
	Reset          Class = "reset"          // the connection broke while the request or answer was in flight
	Truncated      Class = "truncated"      // the response ended before its own framing said so
	HTTPStatus     Class = "http_status"    // a response with a status other than 2xx
	GRPCStatus     Class = "grpc_status"    // a gRPC status other than OK
	StreamError    Class = "stream_error"   // an error object inside a 2xx stream
	Aborted        Class = "aborted"        // a 2xx answer whose finish reason says that the server gave up on it
	BadBody        Class = "bad_body"       // a response that is not what the protocol says
	TooLarge       Class = "too_large"      // a response, an event or headers beyond a limit of the plan
	Cancelled      Class = "cancelled"      // stopped by the user before its end
	CutOff         Class = "cut_off"        // in flight when the drain timeout was exceeded
	UserCancelled  Class = "user_cancelled" // its user went away, as the plan's load has it
	WorkerLost     Class = "worker_lost"    // its worker ended, or was cut off, before the response was recorded
)

// EndedHere reports whether this side ended the requests of a class with nothing wrong: they would
// have taken longer. That is no failure of the server.
func (c Class) EndedHere() bool { return c == CutOff || c == Cancelled || c == UserCancelled }

// Left reports whether the user of a request went away, as the plan's load has it: it has neither
// succeeded nor failed. nil means it succeeded.
func (f *Failure) Left() bool { return f != nil && f.Class == UserCancelled }

// Overflow reports whether a server refused a request because it is longer than its model's context.
func (f *Failure) Overflow() bool {
	if f == nil {
		return false
	}
	text := strings.ToLower(f.Message)
	return slices.ContainsFunc([]string{"context length", "maximum context", "context_length_exceeded", "prompt is too long"}, func(sign string) bool {
		return strings.Contains(text, sign)
	})
}

// StillUnderway is how the message of a failure begins that a reader makes of a request whose
// record is missing where the file ends.
const StillUnderway = "still under way where the records end"

// unrecorded is how it begins where the record is missing in the middle.
const unrecorded = "no record of its end was kept"

// Unrecorded reports whether a reader made the failure of a request whose record is missing:
// what had come of it is not known.
func (f *Failure) Unrecorded() bool {
	return f.Class == CutOff && (strings.HasPrefix(f.Message, StillUnderway) || strings.HasPrefix(f.Message, unrecorded))
}

// ErrCutOff is the cause of a context that ended because the drain time of its stage was
// over: what is still in flight then fails with CutOff.
var ErrCutOff = errors.New("the drain time is over")

// Failure says how a request failed. It is data: it never ends a run.
type Failure struct {
	Class   Class
	Status  int           // HTTP status, where there was one; the code, where Class is GRPCStatus
	Message string        // what the server or the system said, shortened
	At      time.Duration // when it was noticed
}

// Kind is the kind of the failure.
func (f *Failure) Kind() FailureKind { return kind(f.Class, f.Status) }

// Exception is the exception that a Python client raises for such a failure, which is how
// rules and reports of tools made in Python know it; the class where there is none.
func (f *Failure) Exception() string {
	switch f.Class {
	case HTTPStatus:
		return "HTTP Error " + strconv.Itoa(f.Status)
	case NoFirstByte, Stalled, TimedOut:
		return "TimeoutError"
	case ResolveFailed:
		return "ClientConnectorDNSError"
	case ConnectFailed, ClientResource:
		return "ClientConnectorError"
	case TLSFailed:
		return "ClientConnectorSSLError"
	case Dropped:
		return "ServerDisconnectedError"
	case Reset:
		if f.Status == 0 {
			return "ServerDisconnectedError"
		}
		return "ClientPayloadError"
	case Truncated:
		return "ClientPayloadError"
	}
	return string(f.Class)
}

// FailureCount is how often one kind of failure happened, with its first example.
type FailureCount struct {
	Class   Class  `json:"class"`
	Status  int    `json:"status,omitempty"`
	Count   int64  `json:"count"`
	Example string `json:"example"`
}

// Kind is the kind of failure that is counted.
func (f *FailureCount) Kind() FailureKind { return kind(f.Class, f.Status) }

// FailureKind is a kind of failure: its class, and the status where that is what failed. The zero one stands for several.
type FailureKind struct {
	Class  Class
	Status int
}

func kind(class Class, status int) FailureKind {
	if class != HTTPStatus && class != GRPCStatus {
		status = 0
	}
	return FailureKind{class, status}
}

// String is how reports call a kind.
func (k FailureKind) String() string {
	switch {
	case k == FailureKind{}:
		return "other failures"
	case k.Status == 0:
		return strings.ReplaceAll(string(k.Class), "_", " ")
	case k.Class == GRPCStatus:
		return "gRPC status " + strconv.Itoa(k.Status)
	}
	return "HTTP " + strconv.Itoa(k.Status)
}
