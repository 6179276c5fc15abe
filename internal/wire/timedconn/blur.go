package timedconn

import (
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// blur finds how long before its stamp a read can have come, and how long this side may have
// kept the server from sending.
type blur struct {
	since   time.Duration // nothing of what the latest receive found had come by then
	left    bool          // it left something behind, or did not say
	asked   time.Duration // when the request in flight was sent: its response came later
	held    time.Duration // see Stamp.Held
	begin   time.Duration // since, of the first of the reads that are handed over together
	gathers bool          // further reads are handed over together with that

	// Until acknowledged and its round trip later, what comes may have waited in the server from
	// stalled on; 0: nothing has.
	stalled, acknowledged time.Duration
}

// found takes in that a receive found nothing.
func (b *blur) found() { b.left = false }

// read takes in a read whose stamps are given, the one before it, and the time after which its
// poller says that it came. left: it was not all that there was. It gives the stamps with Blur.
func (b *blur) read(at, before Stamp, after time.Duration, left bool) Stamp {
	if !b.left {
		// The stamp of the read before is that of its last segment, and there was nothing behind
		// that. Had it left something that would not hold: what the kernel puts together has the
		// stamp of its last segment, read or not.
		b.since = max(b.since, before.Kernel, after, b.asked)
	}
	late := at.Time() < b.acknowledged
	if late {
		b.since = max(min(b.since, b.stalled), b.asked)
	}
	b.left = left
	if !b.gathers {
		b.begin = b.since
	}
	at.Blur = max(0, at.Time()-b.begin)
	at.Loose = late || at.Kernel == record.Never
	at.Held = b.held
	return at
}

// full takes in that a read found so much that the server may have had to wait until it was read.
func (b *blur) full(at, before Stamp) {
	from := at.Kernel
	if from == record.Never {
		from = b.since
	}
	b.held += max(0, at.User-max(from, before.User))
}

// stall takes in a late read of so many small segments that the server may have had to wait for this
// side to acknowledge them, which the kernel does when they are read, or 40 ms later: what it sent
// meanwhile came no sooner, with this read or in the round trip after it. It gives the read's stamps.
func (b *blur) stall(at Stamp, roundTrip time.Duration) Stamp {
	b.stalled, b.acknowledged = b.since, at.User+2*roundTrip+stallSlack
	at.Loose = true
	return at
}

const (
	// stalls is how many segments a read has at least for that. A server that had paused may send ten,
	// and a few may be unacknowledged from before.
	stalls = 6
	// leastEvent is how many bytes the shortest have, so that few reads need be asked about.
	leastEvent = 64
	// stallsAfter is how long the first of them may have lain unread, at least. Who reads in time
	// acknowledges in time.
	stallsAfter = 2 * time.Millisecond
	// stallSlack is what systems take besides.
	stallSlack = time.Millisecond
)

// muchWaits is how many bytes must wait in the kernel for the window that it offers the server to
// be near its end: that begins with 64 kB, and small segments take several times their bytes.
const muchWaits = 16 << 10

// Narrow makes the most of what is known of the bytes that a read brought of a response. alone:
// nothing of them matters but their end; last: the read ends with them; single tells whether it
// was of one segment, and is asked where it matters.
func (s Stamp) Narrow(alone, last bool, single func() bool) Stamp {
	held := s.Held
	s.Held = 0
	switch {
	case s.Blur == 0:
		s.Loose = false
	case s.Loose: // nothing tells when its last byte came
	case alone && last, s.Blur > closeBy && single():
		s.Blur = 0
	default:
		s.Loose = !last
	}
	if held > 0 {
		s.Blur, s.Loose = max(s.Blur, held), true
	}
	return s
}

// NotBefore is the stamp of what cannot have come before a time.
func (s Stamp) NotBefore(at time.Duration) Stamp {
	if at != record.Never {
		s.Blur = min(s.Blur, max(0, s.Time()-at))
	}
	return s
}

// closeBy is how short a Blur must be for it not to be worth a system call.
const closeBy = 100 * time.Microsecond
