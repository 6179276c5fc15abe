package engine

import (
	"sync"
	"testing"
)

// Each worker counts once, however many there are.
func TestLiveFollowsAnyNumberOfWorkers(t *testing.T) {
	for _, workers := range []int{1, 64, 100, 1000} {
		live := NewLive(1)
		var all sync.WaitGroup
		for w := range workers {
			all.Go(func() {
				for sent := range int64(10) {
					live.Follow(w, sent+1, 2)
					if live.Sent() < 1 || live.InFlight() < 2 {
						t.Error("what was told is not seen")
					}
				}
			})
		}
		all.Wait()
		if live.Sent() != int64(10*workers) || live.InFlight() != int64(2*workers) {
			t.Errorf("%d workers: %d of %d requests are seen, %d of %d in flight", workers, live.Sent(), 10*workers, live.InFlight(), 2*workers)
		}
	}
}

// What a process sends itself is counted beside what it follows.
func TestLiveCountsItsOwn(t *testing.T) {
	live := NewLive(1)
	for slot := range 200 {
		live.send(slot)
	}
	live.end(199)
	live.Follow(7, 5, 1)
	if live.Sent() != 205 || live.InFlight() != 200 {
		t.Errorf("%d sent and %d in flight, want 205 and 200", live.Sent(), live.InFlight())
	}
}

// The steps of a search, whose stages are negative, have times of their own.
func TestTimesOfSteps(t *testing.T) {
	live := NewLive(2)
	step := live.stageTimes(-1)
	if step != live.stageTimes(-7) || step == live.stageTimes(0) || step == live.stageTimes(1) {
		t.Error("steps have the times of a stage, or each has times of its own")
	}
}
