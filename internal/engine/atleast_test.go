package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/record"
)

// A stage that has sent too few requests when its time is over goes on until it has.
func TestAtLeast(t *testing.T) {
	for _, tc := range []struct {
		name    string
		latency time.Duration
		atLeast int64
		want    int // requests
		sendEnd time.Duration
		reason  record.StopReason
	}{
		{"a slow server", time.Second, 10, 10, 4 * time.Second, record.StopRequests},
		{"enough in time", 100 * ms, 10, 20, time.Second, record.StopDuration},
		{"all in the first moment", 10 * time.Second, 2, 2, time.Second, record.StopDuration},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(tc.latency, -1)
				mark := b.run(t, load.Profile{InFlight: slots(2), MaxSlots: 2, Duration: time.Second, AtLeast: tc.atLeast, Drain: time.Minute})
				if len(b.keeper.recs) != tc.want || mark.SendEnd != tc.sendEnd || mark.Reason != tc.reason {
					t.Errorf("%d requests, sent until %v, ended by %s; want %d, %v, %s", len(b.keeper.recs), mark.SendEnd, mark.Reason, tc.want, tc.sendEnd, tc.reason)
				}
			})
		})
	}
}
