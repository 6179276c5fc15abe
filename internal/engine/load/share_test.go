package load

import (
	"slices"
	"testing"
	"time"
)

// The shares of all workers together are the load, each request and slot once.
func TestShares(t *testing.T) {
	for workers := 1; workers <= 7; workers++ {
		whole := Stage{
			InFlight: InFlight(10, 45, time.Second), MaxSlots: 45, Requests: 103, WarmupRequests: 11, Sessions: 29,
		}
		var slots, requests, warmup, sessions int
		var at [3]int
		var due []time.Duration
		for i := range workers {
			part := whole
			part.Arrivals = Poisson(Steady(100), 3)
			part = part.Part(Share{i, workers})
			slots, requests, warmup, sessions = slots+part.MaxSlots, requests+int(part.Requests), warmup+int(part.WarmupRequests), sessions+int(part.Sessions)
			for k, now := range []time.Duration{0, 400 * time.Millisecond, time.Second} {
				at[k] += part.InFlight(now)
			}
			for range part.Requests {
				d, _ := part.Arrivals.Next()
				due = append(due, d)
			}
		}
		if slots != 45 || requests != 103 || warmup != 11 || sessions != 29 || at != [3]int{10, 24, 45} {
			t.Errorf("%d workers: %d slots, %d requests, %d of warm-up, %d sessions, %d in flight over time", workers, slots, requests, warmup, sessions, at)
		}
		slices.Sort(due)
		all := Poisson(Steady(100), 3)
		for i := range due {
			if want, _ := all.Next(); due[i] != want {
				t.Fatalf("%d workers: arrival %d at %v, want %v", workers, i, due[i], want)
			}
		}
	}
}

// A share that would be empty means no bound: the stage does not fit so many workers.
func TestFits(t *testing.T) {
	closed := Stage{InFlight: InFlight(8, 8, 0), MaxSlots: 8, Requests: 20}
	ramp := Stage{InFlight: InFlight(2, 8, time.Second), MaxSlots: 8}
	open := Stage{Arrivals: Constant(Steady(5)), InFlight: func(time.Duration) int { return 0 }, Requests: 3}
	for _, c := range []struct {
		name    string
		stage   Stage
		workers int
		fits    bool
	}{
		{"a slot each", closed, 8, true},
		{"fewer slots than workers", closed, 9, false},
		{"one worker has no slot at first", ramp, 3, false},
		{"open loop", open, 3, true},
		{"fewer requests than workers", open, 4, false},
		{"a load that grows", Stage{InFlight: InFlight(8, 8, 0), MaxSlots: 8, Growth: Growth{Step: 2}}, 2, false},
	} {
		if got := c.stage.Fits(c.workers); got != c.fits {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
