//go:build !linux || 386 || s390x

package clock

import (
	"sync/atomic"
	"time"
)

// beats are the moments at which this program was seen to run. Where the kernel does not say when
// data came, and nobody looks at sockets but those who read them, that is the best that there is: a
// program that runs reads what comes. It is no proof, because the one who reads may have waited
// for its turn while this one had it.
type beats struct{ at atomic.Int64 }

func (b *beats) last() time.Duration { return time.Duration(b.at.Load()) }

func looksByTicks([]*poller) bool { return true }

func tick(clock *Clock, _ []*poller) bool {
	clock.beats.at.Store(int64(clock.Now()))
	return true
}
