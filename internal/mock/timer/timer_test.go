package timer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const ms = int64(time.Millisecond)

func TestSleeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSleeper(NewTimerAlarm())
		defer s.Close()
		var woke []int64
		done := make(chan int64)
		for _, at := range []int64{30, 10, 20, 10, 0, -5} {
			go func() {
				if !s.Until(NewNap(), at*ms, nil) {
					t.Error("woken as if cancelled")
				}
				done <- s.Now() / ms
			}()
		}
		for range 6 {
			woke = append(woke, <-done)
		}
		if d := cmp.Diff([]int64{0, 0, 10, 10, 20, 30}, woke); d != "" {
			t.Error(d)
		}
	})
}

func TestSleeperCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSleeper(NewTimerAlarm())
		gone := make(chan struct{})
		n := NewNap()
		go func() {
			s.Until(NewNap(), 10*ms, nil)
			close(gone)
		}()
		if s.Until(n, 20*ms, gone) || s.Now() != 10*ms {
			t.Errorf("not cancelled at 10 ms but at %v", time.Duration(s.Now()))
		}
		if !s.Until(n, 15*ms, nil) || s.Now() != 15*ms {
			t.Errorf("a nap cannot be used again: %v", time.Duration(s.Now()))
		}
		go func() {
			s.Until(NewNap(), 25*ms, nil)
			s.Close()
		}()
		if s.Until(n, 99*ms, nil) || s.Now() != 25*ms {
			t.Errorf("close did not wake: %v", time.Duration(s.Now()))
		}
		if s.Until(n, 99*ms, nil) {
			t.Error("slept after close")
		}
	})
}

// TestAlarm runs the platform's own alarm: nobody wakes early, all wake, in order.
func TestAlarm(t *testing.T) {
	s := NewSleeper(NewAlarm())
	defer s.Close()
	type wake struct{ want, got int64 }
	done := make(chan wake)
	start := s.Now()
	for i := range int64(50) {
		go func() {
			at := start + (i*7%50)*ms/5
			s.Until(NewNap(), at, nil)
			done <- wake{at, s.Now()}
		}()
	}
	for range 50 {
		if w := <-done; w.got < w.want {
			t.Errorf("woken %v early", time.Duration(w.want-w.got))
		}
	}
}
