package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/cluster/bus"
)

// lease is a worker's permission to send. It is looked at before each send, with the worker's own clock, and once it has run out it
// never holds again: the coordinator may have ended the run meanwhile.
//
// A renewal counts from its request, and the coordinator has answered it later
// than that. So when the coordinator has answered none for leaseFor, the worker sends nothing, however slow messages are.
type lease struct {
	now   func() time.Duration
	until atomic.Int64 // on that clock; 0: it has run out

	once sync.Once
	over chan struct{} // closed when it has run out
	err  error         // why; set before
}

// errRefused means that the coordinator has given this worker up.
var errRefused = errors.New("the coordinator has given this worker up")

// newLease makes a lease that was asked for at a given time. now reads the worker's clock.
func newLease(now func() time.Duration, asked time.Duration) *lease {
	l := &lease{now: now, over: make(chan struct{})}
	l.until.Store(int64(asked + leaseFor))
	return l
}

// holds reports whether it does at a given time that is now.
func (l *lease) holds(now time.Duration) bool {
	until := l.until.Load()
	if until != 0 && int64(now) < until {
		return true
	}
	l.end(fmt.Errorf("%w: it was not heard for %s", ErrAlone, leaseFor))
	return false
}

// renewed prolongs the lease by a response to what was asked at a given time.
func (l *lease) renewed(asked time.Duration) {
	for until := int64(asked + leaseFor); ; {
		before := l.until.Load()
		if before == 0 || before >= until || l.until.CompareAndSwap(before, until) {
			return
		}
	}
}

func (l *lease) end(why error) {
	l.once.Do(func() {
		l.err = why
		l.until.Store(0)
		close(l.over)
	})
}

func (l *lease) keep(ctx context.Context, renew func(ctx context.Context) error) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for asked := l.now(); l.holds(asked); asked = l.now() {
		go func() {
			ctx, cancel := context.WithTimeout(ctx, leaseFor)
			defer cancel()
			err := renew(ctx)
			var no *bus.RemoteError
			switch {
			case err == nil:
				l.renewed(asked)
			case errors.As(err, &no):
				l.end(fmt.Errorf("%w: %w", errRefused, err))
			}
		}()
		select {
		case <-tick.C:
		case <-l.over:
			return
		case <-ctx.Done():
			return
		}
	}
}
