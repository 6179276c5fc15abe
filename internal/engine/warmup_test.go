package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/record"
)

// TestWarmupDrains: no measured request goes before the last one of the warm-up has ended,
// and none of them counts the wait.
// differs: pa-warmup
func TestWarmupDrains(t *testing.T) {
	const answer = 100 * time.Millisecond
	for _, tt := range []struct {
		name           string
		stage          load.Profile
		warm, measured int
		begin, end     time.Duration // of the measured part
	}{
		{"concurrency 8", load.Profile{InFlight: slots(8), MaxSlots: 8, WarmupRequests: 9, Requests: 16}, 9, 16, 2 * answer, 4 * answer},
		{"whole rounds", load.Profile{InFlight: slots(4), MaxSlots: 4, WarmupRequests: 8, Requests: 4}, 8, 4, 2 * answer, 3 * answer},
		{"fewer than slots", load.Profile{InFlight: slots(4), MaxSlots: 4, WarmupRequests: 1, Duration: 3 * answer}, 1, 12, answer, 4 * answer},
		{"arrivals", load.Profile{InFlight: slots(0), Arrivals: &every{gap: 10 * time.Millisecond}, WarmupRequests: 3, Requests: 5}, 3, 5, 120 * time.Millisecond, 260 * time.Millisecond},
		{"slow arrivals", load.Profile{InFlight: slots(0), Arrivals: &every{gap: time.Second}, WarmupRequests: 1, Requests: 2}, 1, 2, time.Second, 2*time.Second + answer},
		{"arrivals for a time", load.Profile{InFlight: slots(0), Arrivals: &every{gap: 10 * time.Millisecond}, WarmupRequests: 3, Duration: answer}, 3, 10, 120 * time.Millisecond, 310 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(answer, -1)
				tt.stage.WarmupDrains, tt.stage.Drain = true, time.Minute
				mark := b.run(t, tt.stage)
				if warm, measured := phases(b.keeper.recs); warm != tt.warm || measured != tt.measured {
					t.Errorf("%d warm-up and %d measured requests, want %d and %d", warm, measured, tt.warm, tt.measured)
				}
				if mark.WarmupEnd != tt.begin || mark.DrainEnd != max(tt.end, mark.SendEnd) {
					t.Errorf("measured from %v to %v, want %v to %v", mark.WarmupEnd, mark.DrainEnd, tt.begin, tt.end)
				}
				var end, last time.Duration
				for _, r := range b.keeper.recs {
					if end = max(end, r.End); r.Phase == record.Warmup {
						last = max(last, r.End)
					}
				}
				for _, r := range b.keeper.recs {
					if r.Phase == record.Measured && (r.Sent < last || r.Due < last || r.Sent != r.Due || r.Ready < r.Due) {
						t.Errorf("due %v, ready %v, sent %v; the warm-up ended at %v", r.Due, r.Ready, r.Sent, last)
					}
				}
				if end != tt.end {
					t.Errorf("the last answer ended at %v, want %v", end, tt.end)
				}
			})
		})
	}
}

// A stage that is stopped while it waits for the end of its warm-up sends no more.
func TestStopWhileTheWarmupDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(time.Second, -1)
		stop := make(chan record.StopReason)
		time.AfterFunc(1500*time.Millisecond, func() { close(stop) }) // which is a wish like any other
		mark, err := b.Run(t.Context(),
			load.Profile{InFlight: slots(4), MaxSlots: 4, WarmupRequests: 5, WarmupDrains: true, Requests: 9, Drain: time.Minute}, stop)
		b.Close()
		if warm, measured := phases(b.keeper.recs); err != nil || warm != 5 || measured != 0 || mark.Reason != record.StopInterrupted {
			t.Errorf("%d warm-up and %d measured requests, ended by %q: %v", warm, measured, mark.Reason, err)
		}
	})
}
