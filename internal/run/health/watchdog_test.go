package health

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestWatchdog: a clock that went on by much more than a tick between two looks went on
// while the program did not.
func TestWatchdog(t *testing.T) {
	var now time.Duration
	w := NewWatchdog(func() time.Duration { return now })
	pass := func(d time.Duration) {
		now += d
		w.poll()
	}
	check := func(total, longest time.Duration) {
		t.Helper()
		if gotTotal, gotLongest := w.Pauses(); gotTotal != total || gotLongest != longest {
			t.Errorf("at %v: %v in all, %v the longest; want %v and %v", now, gotTotal, gotLongest, total, longest)
		}
	}
	for range 100 {
		pass(tick)
		pass(5 * tick) // waited for a core
	}
	check(0, 0)
	pass(2*time.Second + tick)
	pass(tick)
	pass(300*time.Millisecond + tick)
	check(2300*time.Millisecond, 2*time.Second)
	check(2300*time.Millisecond, 0)
	now += time.Second + tick // and nobody has looked since
	check(3300*time.Millisecond, time.Second)
}

// TestWatchdogWatches: a program that goes on without a break has no pauses.
func TestWatchdogWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w := NewWatchdog(func() time.Duration { return time.Since(start) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		w.Watch(ctx)
		if total, longest := w.Pauses(); total != 0 || longest != 0 {
			t.Errorf("%v in all, %v the longest, of a program that never stood still", total, longest)
		}
	})
}
