package mock

import (
	"sync"
	"time"
)

// alarm goes off once for each time it is set; setting it again moves it.
type alarm interface {
	set(d time.Duration)
	wait() bool // until it goes off; false once it is closed
	close()
}

// sleeper wakes goroutines at given times, all from one alarm. The runtime's
// own timers wait in whole milliseconds on Linux when the process is idle; the
// alarm there does not (see alarm_linux.go).
type sleeper struct {
	base  time.Time
	alarm alarm
	done  chan struct{}

	mu     sync.Mutex
	naps   timerHeap[chan struct{}]
	next   int64 // when the alarm is set for; 0: not set
	closed bool
}

// nap is one goroutine's place among the sleepers, and what wakes it.
type nap = timer[chan struct{}]

func newNap() *nap { return &nap{pos: -1, payload: make(chan struct{}, 1)} }

func newSleeper(a alarm) *sleeper {
	s := &sleeper{base: time.Now(), alarm: a, done: make(chan struct{})}
	go s.loop()
	return s
}

// now is the time that naps are counted in: monotonic, since the server was made.
func (s *sleeper) now() int64 { return int64(time.Since(s.base)) }

// until returns true at the given time, false as soon as gone is closed.
func (s *sleeper) until(n *nap, at int64, gone <-chan struct{}) bool {
	now := s.now()
	if at <= now {
		return true
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false
	}
	n.at = at
	s.naps.push(n)
	if s.next == 0 || at < s.next {
		s.next = at
		s.alarm.set(time.Duration(at - now))
	}
	s.mu.Unlock()
	select {
	case <-n.payload:
		return true
	case <-gone:
	case <-s.done:
	}
	s.mu.Lock()
	if n.pos >= 0 {
		s.naps.remove(n)
	} else {
		<-n.payload
	}
	s.mu.Unlock()
	return false
}

func (s *sleeper) loop() {
	for s.alarm.wait() {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return
		}
		now := s.now()
		for len(s.naps) > 0 && s.naps[0].at <= now {
			n := s.naps[0]
			s.naps.remove(n)
			n.payload <- struct{}{}
		}
		s.next = 0
		if len(s.naps) > 0 {
			s.next = s.naps[0].at
			s.alarm.set(time.Duration(s.next - now))
		}
		s.mu.Unlock()
	}
}

// close wakes everybody with false.
func (s *sleeper) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	close(s.done)
	s.alarm.close()
}

// timerAlarm is the alarm that works everywhere.
type timerAlarm struct {
	t    *time.Timer
	done chan struct{}
}

func newTimerAlarm() alarm {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &timerAlarm{t: t, done: make(chan struct{})}
}

func (a *timerAlarm) set(d time.Duration) { a.t.Reset(d) }

func (a *timerAlarm) wait() bool {
	select {
	case <-a.t.C:
		return true
	case <-a.done:
		return false
	}
}

func (a *timerAlarm) close() {
	a.t.Stop()
	close(a.done)
}
