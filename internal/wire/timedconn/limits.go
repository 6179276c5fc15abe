package timedconn

import (
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// Timeouts bound a request; 0 is no bound.
type Timeouts struct {
	FirstByte time.Duration // from its sending to the first read of the response
	Stall     time.Duration // between two reads
	Request   time.Duration // from its sending to its end
	Cancel    time.Duration // from when all of it was written to when its user goes away
	Header    int           // bytes of the response's headers

	left time.Duration // Cancel from its sending; 0: it was not written yet
}

// Wrote are the limits of a request that was written: its user has begun to wait.
func (l Timeouts) Wrote(sent, written time.Duration) Timeouts {
	if l.Cancel > 0 && written != record.Never {
		l.left = written - sent + l.Cancel
	}
	return l
}

// Due is the nearest time at which a request runs into one of its limits; 0:
// there is none. Latest is its last read, record.Never before the first.
func (l Timeouts) Due(sent, latest time.Duration) time.Duration {
	var due time.Duration
	nearer := func(from, limit time.Duration) {
		if limit != 0 && (due == 0 || from+limit < due) {
			due = from + limit
		}
	}
	nearer(sent, l.Request)
	nearer(sent, l.left)
	if latest == record.Never {
		nearer(sent, l.FirstByte)
	} else {
		nearer(latest, l.Stall)
	}
	return due
}

// Over is the limit that a request has run into by now; empty: none.
func (l Timeouts) Over(sent, latest, now time.Duration) record.Class {
	switch {
	case l.left != 0 && now >= sent+l.left && (l.Request == 0 || l.left <= l.Request):
		return record.UserCancelled
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

// Alarm looks at limits no later than when the nearest of them is due.
type Alarm struct {
	clock *Clock
	look  func()
	timer *time.Timer
	at    time.Duration // when it goes off; 0: it does not
}

// NewAlarm makes an alarm that calls look when it goes off, which begins with Reset.
func NewAlarm(clock *Clock, look func()) Alarm { return Alarm{clock: clock, look: look} }

// Set makes the alarm go off by the given time at the latest; 0: it need not.
func (a *Alarm) Set(at time.Duration) {
	if at == 0 || (a.at != 0 && a.at <= at) {
		return
	}
	a.at = at
	if wait := at - a.clock.Now(); a.timer == nil {
		a.timer = time.AfterFunc(wait, a.look)
	} else {
		a.timer.Reset(wait)
	}
}

// Reset says that the alarm has gone off.
func (a *Alarm) Reset() { a.at = 0 }

// Stop keeps the alarm from going off.
func (a *Alarm) Stop() {
	if a.timer != nil {
		a.timer.Stop()
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
	case record.UserCancelled:
		return "its user went away"
	default:
		return "not finished in time"
	}
}
