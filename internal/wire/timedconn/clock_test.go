package timedconn

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestClockFollowsTheWallClock(t *testing.T) {
	c := NewClock()
	start := c.wall.Load()
	if off := start - c.Start().UnixNano(); off < -int64(time.Second) || off > int64(time.Second) {
		t.Errorf("offset 0 is %d ns away from the start", off)
	}
	if got := c.FromWall(start + 5); got != 5 {
		t.Errorf("5 ns after the start maps to %d", got)
	}
	const ms = int64(time.Millisecond)
	for _, look := range []struct {
		wall, step int64 // where offset 0 lies now, and the largest step so far
	}{
		{start, 0},
		{start + ms - 1, 0}, // slewed, not stepped
		{start + ms - 1 + 5*ms, 5 * ms},
		{start - 2*ms, 8*ms - 1}, // back
		{start, 8*ms - 1},        // a smaller one changes nothing
	} {
		c.adjust(look.wall)
		if got := int64(c.Step()); got != look.step {
			t.Errorf("offset 0 seen at %d ns: largest step %d ns, want %d", look.wall-start, got, look.step)
		}
		if got := c.FromWall(look.wall + 7); got != 7 {
			t.Errorf("offset 0 seen at %d ns: 7 ns later maps to %d", look.wall-start, got)
		}
	}
}

func TestWatchSeesAStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClock()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			c.Watch(ctx)
		}()
		time.Sleep(time.Second)
		synctest.Wait()
		if c.Step() != 0 {
			t.Errorf("a clock that was left alone stepped by %v", c.Step())
		}
		c.wall.Add(int64(-20 * time.Millisecond)) // as if the last look had been before a step
		time.Sleep(lookEvery)
		synctest.Wait()
		if c.Step() != 20*time.Millisecond {
			t.Errorf("step %v, want 20ms", c.Step())
		}
		cancel()
		<-ended
	})
}

func TestMedian(t *testing.T) {
	for _, tt := range [][4]int64{{1, 2, 3, 2}, {3, 1, 2, 2}, {2, 3, 1, 2}, {5, 5, 1, 5}, {9, 5, 5, 5}, {4, 4, 4, 4}} {
		if got := median(tt[0], tt[1], tt[2]); got != tt[3] {
			t.Errorf("median of %v is %d", tt[:3], got)
		}
	}
}
