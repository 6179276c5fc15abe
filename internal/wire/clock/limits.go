package clock

import (
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// Limits bound a request; 0 is no bound.
type Limits struct {
	FirstByte time.Duration // from its sending to the first read of the answer
	Stall     time.Duration // between two reads
	Request   time.Duration // from its sending to its end
	Header    int           // bytes of the answer's headers
}

// Due is the nearest moment at which a request runs into one of its limits; 0:
// there is none. Latest is its last read, record.Never before the first.
func (l Limits) Due(sent, latest time.Duration) time.Duration {
	var due time.Duration
	nearer := func(from, limit time.Duration) {
		if limit != 0 && (due == 0 || from+limit < due) {
			due = from + limit
		}
	}
	nearer(sent, l.Request)
	if latest == record.Never {
		nearer(sent, l.FirstByte)
	} else {
		nearer(latest, l.Stall)
	}
	return due
}

// Over is the limit that a request has run into by now; empty: none.
func (l Limits) Over(sent, latest, now time.Duration) record.Class {
	switch {
	case l.Request != 0 && now >= sent+l.Request:
		return record.TimedOut
	case latest == record.Never && l.FirstByte != 0 && now >= sent+l.FirstByte:
		return record.NoFirstByte
	case latest != record.Never && l.Stall != 0 && now >= latest+l.Stall:
		return record.Stalled
	default:
		return ""
	}
}

// Expired says which limit a request ran into.
type Expired struct{ Class record.Class }

func (e *Expired) Error() string {
	switch e.Class {
	case record.NoFirstByte:
		return "no first byte in time"
	case record.Stalled:
		return "no further byte in time"
	default:
		return "not finished in time"
	}
}
