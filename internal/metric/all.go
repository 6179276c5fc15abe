package metric

import (
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// All are sums over all requests of a stage, those of the warm-up too: what a
// server that counts from before the stage to its end has seen.
type All struct {
	OK     int64
	Failed int64
	// Abandoned are those of Failed that the server may have gone on with: given up here, or cut
	// off.
	Abandoned int64
	Unsent    int64         // those of Failed that never left
	Latency   time.Duration // Σ End − Sent of OK
	Retried   int64         // requests that no server answered at first, and went again
	Retries   int64         // how often they did
	Resent    int64         // requests that went twice because their connection was closed under them
	OwnFault  int64         // those of Failed that this machine had no means for
}

func (a *All) add(rec *record.Record) {
	if rec.Retries > 0 {
		a.Retried++
		a.Retries += int64(rec.Retries)
	}
	if rec.Resent > 0 {
		a.Resent++
	}
	switch {
	case rec.Failure == nil:
		a.OK++
		a.Latency += rec.End - rec.Sent
		return
	case rec.Sent == record.Never:
		a.Unsent++
	}
	a.Failed++
	if rec.Failure.Class == record.ClientResource {
		a.OwnFault++
	}
	switch rec.Failure.Class {
	case record.NoFirstByte, record.Stalled, record.TimedOut, record.Dropped, record.Reset, record.Truncated,
		record.Cancelled, record.CutOff, record.UserCancelled:
		a.Abandoned++
	}
}

func (a *All) merge(o All) {
	a.OK += o.OK
	a.Failed += o.Failed
	a.Abandoned += o.Abandoned
	a.Unsent += o.Unsent
	a.Latency += o.Latency
	a.Retried += o.Retried
	a.Retries += o.Retries
	a.Resent += o.Resent
	a.OwnFault += o.OwnFault
}
