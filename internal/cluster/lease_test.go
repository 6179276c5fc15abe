package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/cluster/bus"
)

// A lease holds for five seconds from the moment at which the last renewal that was answered had been asked for, however late the
// answer comes, and never again after it has run out.
func TestLease(t *testing.T) {
	for name, tt := range map[string]struct {
		answers func(n int) (after time.Duration, err error) // to the n-th renewal; a negative time: never
		want    time.Duration                                // until then it holds
		reason  error
	}{
		"renewed":         {func(int) (time.Duration, error) { return time.Millisecond, nil }, time.Minute, nil},
		"never answered":  {func(int) (time.Duration, error) { return -1, nil }, leaseFor, ErrAlone},
		"answered late":   {func(int) (time.Duration, error) { return 4 * time.Second, nil }, time.Minute, nil},
		"given up":        {func(n int) (time.Duration, error) { return 0, &bus.RemoteError{} }, 0, errRefused},
		"lost on the way": {func(n int) (time.Duration, error) { return -time.Duration(n % 4), nil }, time.Minute, nil},
		"until the third": {func(n int) (time.Duration, error) {
			if n > 3 {
				return -1, nil
			}
			return 100 * time.Millisecond, nil
		}, 3*renewEvery + leaseFor, ErrAlone},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				uptime := func() time.Duration { return time.Since(start) }
				l := newLease(uptime, 0)
				ctx, cancel := context.WithCancel(t.Context())
				var asked atomic.Int64
				go l.keep(ctx, func(ctx context.Context) error {
					after, err := tt.answers(int(asked.Add(1)) - 1)
					if after < 0 {
						<-ctx.Done()
						return ctx.Err()
					}
					select {
					case <-time.After(after):
						return err
					case <-ctx.Done():
						return ctx.Err()
					}
				})
				held := time.Duration(0)
				for range 60 * 10 {
					if l.holds(uptime()) {
						held = time.Since(start)
					}
					time.Sleep(100 * time.Millisecond)
				}
				if held < tt.want-200*time.Millisecond || held > tt.want {
					t.Errorf("it held until %v, not %v", held, tt.want)
				}
				if tt.reason != nil && (!errors.Is(l.err, tt.reason) || l.holds(uptime())) {
					t.Errorf("ended with %v, not %v", l.err, tt.reason)
				}
				l.renewed(uptime())
				if tt.reason != nil && l.holds(uptime()) {
					t.Error("it holds again")
				}
				cancel()
				synctest.Wait()
			})
		})
	}
}
