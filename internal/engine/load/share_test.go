package load

import (
	"testing"
	"time"
)

// The shares of all workers together are the load, each request and slot once; a worker has
// whole lanes.
func TestShares(t *testing.T) {
	for workers := 1; workers <= 7; workers++ {
		for _, lanes := range []int{0, 7, 8, 50} {
			whole := Profile{
				InFlight: InFlight(10, 45, time.Second), MaxSlots: 45, Requests: 103, AtLeast: 57, WarmupRequests: 11, Sessions: 29, Lanes: lanes,
			}
			var slots, requests, atLeast, warmup, sessions int
			var at [3]int
			due, owner := map[int64]time.Duration{}, map[int64]int{}
			for i := range workers {
				part := whole
				part.Arrivals = Poisson(ConstantRate(100), 3)
				part = part.Part(Shard{Index: i, Of: workers})
				atLeast += int(part.AtLeast)
				slots, requests, warmup, sessions = slots+part.MaxSlots, requests+int(part.Requests), warmup+int(part.WarmupRequests),
					sessions+int(part.Sessions)
				for k, now := range []time.Duration{0, 400 * time.Millisecond, time.Second} {
					at[k] += part.InFlight(now)
				}
				for k := range part.WarmupRequests + part.Requests {
					place := part.Share.GlobalIndex(k)
					due[place], _ = part.Arrivals.Next()
					if lanes > 0 {
						if before, known := owner[place%int64(lanes)]; known && before != i {
							t.Fatalf("%d workers, %d lanes: workers %d and %d send in lane %d", workers, lanes, before, i, place%int64(lanes))
						}
						owner[place%int64(lanes)] = i
					}
					if got := part.Share.Owner(place); got != i {
						t.Fatalf("%d workers, %d lanes: request %d is of worker %d, not %d", workers, lanes, place, got, i)
					}
				}
			}
			if slots != 45 || requests != 103 || atLeast != 57 || warmup != 11 || sessions != 29 || at != [3]int{10, 24, 45} {
				t.Errorf("%d workers: %d slots, %d requests, %d at least, %d of warm-up, %d sessions, %d in flight over time", workers, slots, requests, atLeast, warmup, sessions, at)
			}
			all := Poisson(ConstantRate(100), 3)
			for i := range int64(len(due)) {
				if want, _ := all.Next(); due[i] != want {
					t.Fatalf("%d workers, %d lanes: arrival %d at %v, want %v", workers, lanes, i, due[i], want)
				}
			}
		}
	}
}

// A share that would be empty means no bound: fewer workers send.
func TestSenders(t *testing.T) {
	closed := Profile{InFlight: InFlight(8, 8, 0), MaxSlots: 8, Requests: 20}
	ramp := Profile{InFlight: InFlight(2, 8, time.Second), MaxSlots: 8}
	open := Profile{Arrivals: Constant(ConstantRate(5)), InFlight: func(time.Duration) int { return 0 }, Requests: 3}
	for _, c := range []struct {
		name          string
		stage         Profile
		workers, want int
	}{
		{"a slot each", closed, 8, 8},
		{"fewer slots than workers", closed, 9, 8},
		{"some would have no slot at first", ramp, 3, 2},
		{"open loop", open, 3, 3},
		{"fewer requests than workers", open, 4, 3},
		{"a load that grows", Profile{InFlight: InFlight(8, 8, 0), MaxSlots: 8, Growth: Growth{Step: 2}}, 2, 1},
		{"fewer lanes than workers", Profile{InFlight: InFlight(8, 8, 0), MaxSlots: 8, Requests: 20, Lanes: 5}, 6, 5},
		{"one lane", Profile{Arrivals: Constant(ConstantRate(5)), Lanes: 1}, 6, 1},
		{"some would have no request behind the warm-up", Profile{InFlight: InFlight(8, 8, 0), MaxSlots: 8, WarmupRequests: 4, Requests: 4, Lanes: 5}, 4, 3},
	} {
		if got := c.stage.Senders(c.workers); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// The workers of a closed loop have as many requests as they have slots, so that they end together; all of them have
// all requests, each once, and the warm-up is made of the first.
func TestRequestsFollowSlots(t *testing.T) {
	for _, c := range []struct{ slots, warmup, requests, workers int }{
		{3, 0, 900, 2}, {5, 7, 33, 2}, {8, 1, 100, 3}, {64, 0, 64, 7}, {5, 3, 4, 3}, {4, 0, 2, 2}, {6, 2, 7, 3}, {1, 0, 9, 1},
	} {
		whole := Profile{InFlight: InFlight(c.slots, c.slots, 0), MaxSlots: c.slots, WarmupRequests: int64(c.warmup),
			Requests: int64(c.requests), WarmupDrains: c.warmup > 0}
		seen, warm := map[int64]bool{}, map[int64]bool{}
		for i := range c.workers {
			part := whole.Part(Shard{Index: i, Of: c.workers})
			if part.Requests == 0 || part.MaxSlots == 0 || part.WarmupDrains && part.WarmupRequests == 0 {
				t.Errorf("%+v: worker %d has nothing to send: %+v", c, i, part)
			}
			n := part.WarmupRequests + part.Requests
			for k := range n {
				place := part.Share.GlobalIndex(k)
				if seen[place] = true; k < part.WarmupRequests {
					warm[place] = true
				}
			}
			if fair := float64((c.warmup+c.requests)*part.MaxSlots) / float64(c.slots); c.requests >= c.slots &&
				(float64(n) < fair-float64(part.MaxSlots) || float64(n) > fair+float64(part.MaxSlots)) {
				t.Errorf("%+v: worker %d has %d requests for %d slots", c, i, n, part.MaxSlots)
			}
		}
		for i := range c.warmup + c.requests {
			if !seen[int64(i)] || warm[int64(i)] != (i < c.warmup) {
				t.Errorf("%+v: request %d: sent %v, warm-up %v", c, i, seen[int64(i)], warm[int64(i)])
			}
		}
		if len(seen) != c.warmup+c.requests {
			t.Errorf("%+v: %d requests", c, len(seen))
		}
	}
}

// Parts of a share have the share's lanes among them, not the load's.
func TestSplitDealsTheSharesLanes(t *testing.T) {
	share := Shard{Index: 1, Of: 3}
	for lanes, dealt := range map[int]int{0: 0, 2: 1, 7: 2, 8: 3, 9: 3} { // lanes 1, 4 and 7
		if got, want := share.Split(0, 2, lanes), (Shard{Of: 2, Dealt: dealt}); got != want {
			t.Errorf("%d lanes: %+v, want %+v", lanes, got, want)
		}
	}
}
