package metric

import (
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// resend takes a request into account that went again because its connection had been closed.
// Its latencies count from the first time, so that what was lost by then is in them: in that to
// the first token, where there is one, it weighs most.
func (s *stageAggregate) resend(r *Request, bends func(added, latency time.Duration) bool) {
	if r.Resent == 0 || r.Failure != nil {
		return // a failure has no latency
	}
	first := r.End
	if r.First != record.Never {
		first = r.First
	}
	if r.LastTry == 0 || bends == nil || bends(r.LastTry-r.Sent, first-r.LastTry) {
		s.Delayed++
	}
}
