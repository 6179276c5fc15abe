package load

import "time"

// Sleeper waits for a moment. Sleep and Close are called from one goroutine,
// Interrupt from any.
type Sleeper interface {
	// Sleep waits for d; false: it was interrupted. With d ≤ 0 it returns at once.
	Sleep(d time.Duration) bool
	// Interrupt ends the current Sleep, or else the next one. Those not yet noticed count as one.
	Interrupt()
	Close() error
}

// NewSleeper makes the most precise sleeper that the system has, or one on Go's own timers.
func NewSleeper() Sleeper {
	if s, err := newPrecise(); err == nil {
		return s
	}
	return NewTimerSleeper()
}

// NewTimerSleeper makes a sleeper on Go's own timers, whose precision is about a
// millisecond in an idle program on Linux. It keeps to the clock of testing/synctest.
func NewTimerSleeper() Sleeper {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &timerSleeper{timer: t, wake: make(chan struct{}, 1)}
}

type timerSleeper struct {
	timer *time.Timer
	wake  chan struct{}
}

// Sleep implements Sleeper.
func (s *timerSleeper) Sleep(d time.Duration) bool {
	if d <= 0 {
		select {
		case <-s.wake:
			return false
		default:
			return true
		}
	}
	s.timer.Reset(d)
	select {
	case <-s.timer.C:
		return true
	case <-s.wake:
		s.timer.Stop()
		return false
	}
}

// Interrupt implements Sleeper.
func (s *timerSleeper) Interrupt() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Close implements Sleeper.
func (s *timerSleeper) Close() error {
	s.timer.Stop()
	return nil
}
