package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/record"
)

// A stage that is ended before its time waits for what is in flight no longer than its
// grace, also where it was already draining.
func TestGrace(t *testing.T) {
	for name, c := range map[string]struct {
		stage  load.Profile
		stop   time.Duration // 0: never
		reason record.StopReason
		end    time.Duration
	}{
		"all is sent":           {load.Profile{Requests: 2, Drain: 10 * time.Second, Grace: 2 * time.Second}, 0, "requests", 10 * time.Second},
		"its time is over":      {load.Profile{Duration: time.Second, Drain: 10 * time.Second, Grace: 2 * time.Second}, 0, "duration", 11 * time.Second},
		"stopped":               {load.Profile{Duration: time.Minute, Drain: 10 * time.Second, Grace: 2 * time.Second}, time.Second, "interrupted", 3 * time.Second},
		"stopped, no grace":     {load.Profile{Duration: time.Minute, Drain: 10 * time.Second}, time.Second, "breaker b: opened", time.Second},
		"stopped while it ends": {load.Profile{Requests: 2, Drain: 10 * time.Second, Grace: 2 * time.Second}, 5 * time.Second, "errors", 7 * time.Second},
		"stopped near the end":  {load.Profile{Requests: 2, Drain: 10 * time.Second, Grace: 2 * time.Second}, 9 * time.Second, "interrupted", 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(time.Hour, -1)
				stop := make(chan record.StopReason, 1)
				if c.stop > 0 {
					time.AfterFunc(c.stop, func() { stop <- c.reason })
				}
				c.stage.InFlight, c.stage.MaxSlots = slots(2), 2
				mark, err := b.Run(t.Context(), c.stage, stop)
				if err != nil {
					t.Fatal(err)
				}
				b.Close()
				if mark.Reason != c.reason || mark.DrainEnd != c.end {
					t.Errorf("ended by %q at %v, want %q at %v", mark.Reason, mark.DrainEnd, c.reason, c.end)
				}
				for _, r := range b.keeper.recs {
					if r.Failure == nil || r.Failure.Class != record.CutOff {
						t.Errorf("failure %+v, want cut off", r.Failure)
					}
				}
			})
		})
	}
}

// Once requests are aborted, no slot takes another.
func TestNothingIsTakenAfterAnAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const inFlight = 64
		b := newBench(time.Hour, -1)
		ctx, abort := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, abort)
		mark, err := b.Run(ctx, load.Profile{Duration: time.Minute, InFlight: slots(inFlight), MaxSlots: inFlight}, nil)
		if err != nil || mark.Reason != record.StopInterrupted {
			t.Fatalf("%+v, %v", mark, err)
		}
		b.Close()
		if len(b.keeper.recs) != inFlight {
			t.Errorf("%d records of %d requests", len(b.keeper.recs), inFlight)
		}
	})
}
