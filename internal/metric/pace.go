package metric

import (
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// Pace compares when the measured requests of a stage were due with when they went. Its
// sums are integers, so that they come out the same in whatever order the requests come.
type Pace struct {
	N         int64 // requests that went, those of sessions aside: their times follow from responses
	Turns     int64 // requests of sessions
	firstDue  time.Duration
	firstSent time.Duration
	due, sent int64 // Σ microseconds
}

func (p *Pace) add(rec *record.Record) {
	switch {
	case rec.Session != "":
		p.Turns++
	case rec.Sent != record.Never:
		p.merge(Pace{N: 1, firstDue: rec.Due, firstSent: rec.Sent, due: rec.Due.Microseconds(), sent: rec.Sent.Microseconds()})
	}
}

func (p *Pace) merge(o Pace) {
	switch {
	case o.N == 0:
	case p.N == 0:
		p.firstDue, p.firstSent = o.firstDue, o.firstSent
	default:
		p.firstDue, p.firstSent = min(p.firstDue, o.firstDue), min(p.firstSent, o.firstSent)
	}
	p.N += o.N
	p.Turns += o.Turns
	p.due += o.due
	p.sent += o.sent
}

// Spread is how long after the first request one was due, and how long after it one went,
// on average. Requests at half the rate take twice as long; a few that were late change little.
func (p *Pace) Spread() (due, sent time.Duration) {
	if p.N == 0 {
		return 0, 0
	}
	mean := func(sum int64, first time.Duration) time.Duration {
		return time.Duration(sum-p.N*first.Microseconds()) * time.Microsecond / time.Duration(p.N)
	}
	return mean(p.due, p.firstDue), mean(p.sent, p.firstSent)
}
