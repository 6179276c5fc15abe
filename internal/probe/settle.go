package probe

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// A server may count a request after its last byte. It is asked again until two responses agree.
const (
	firstPause = 5 * time.Millisecond
	mostPause  = 100 * time.Millisecond
	patience   = time.Second
)

// SnapshotIdle takes a snapshot of a server that has nothing to do: one whose statistics have
// stopped moving. busy: they did not for a second, so others use the server.
func SnapshotIdle(ctx context.Context, p Prober) (s *record.Snapshot, busy bool, err error) {
	began, pause := time.Now(), firstPause
	s, err = p.Snapshot(ctx)
	for s != nil && time.Since(began) < patience {
		if !Sleep(ctx, pause) {
			return s, false, errors.Join(err, context.Cause(ctx))
		}
		pause = min(2*pause, mostPause)
		next, nextErr := p.Snapshot(ctx)
		if next == nil {
			return s, false, errors.Join(err, nextErr)
		}
		still := reflect.DeepEqual(s.Models, next.Models)
		s, err = next, nextErr
		if still {
			return s, false, err
		}
	}
	return s, s != nil, err
}

// Sleep waits for a while; false: ctx ended first.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
