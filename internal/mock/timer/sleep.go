// Package timer wakes goroutines at given times, more precisely than the timers of Go do on an idle machine.
package timer

import (
	"sync"
	"time"
)

// Alarm goes off once for each time it is set; setting it again moves it.
type Alarm interface {
	set(d time.Duration)
	wait() bool // until it goes off; false once it is closed
	close()
}

// Sleeper wakes goroutines at given times, all from one alarm. The runtime's own timers wait whole
// milliseconds on Linux when the process is idle; the alarm there does not.
type Sleeper struct {
	Base  time.Time
	alarm Alarm
	done  chan struct{}

	mu     sync.Mutex
	naps   Heap[chan struct{}]
	next   int64 // when the alarm is set for; 0: not set
	closed bool
}

// Nap is one goroutine's place among the sleepers, and what wakes it.
type Nap = Timer[chan struct{}]

// NewNap makes one that has not been slept yet.
func NewNap() *Nap { return &Nap{Pos: -1, Value: make(chan struct{}, 1)} }

// NewSleeper makes one that an alarm wakes.
func NewSleeper(a Alarm) *Sleeper {
	s := &Sleeper{Base: time.Now(), alarm: a, done: make(chan struct{})}
	go s.loop()
	return s
}

// Now is the time that naps are counted in: monotonic, since the server was made.
func (s *Sleeper) Now() int64 { return int64(time.Since(s.Base)) }

// Until returns true at the given time, false as soon as gone is closed.
func (s *Sleeper) Until(n *Nap, at int64, gone <-chan struct{}) bool {
	now := s.Now()
	if at <= now {
		return true
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false
	}
	n.Due = at
	s.naps.Push(n)
	if s.next == 0 || at < s.next {
		s.next = at
		s.alarm.set(time.Duration(at - now))
	}
	s.mu.Unlock()
	select {
	case <-n.Value:
		return true
	case <-gone:
	case <-s.done:
	}
	s.mu.Lock()
	if n.Pos >= 0 {
		s.naps.Remove(n)
	} else {
		<-n.Value
	}
	s.mu.Unlock()
	return false
}

func (s *Sleeper) loop() {
	for s.alarm.wait() {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return
		}
		now := s.Now()
		for len(s.naps) > 0 && s.naps[0].Due <= now {
			n := s.naps[0]
			s.naps.Remove(n)
			n.Value <- struct{}{}
		}
		s.next = 0
		if len(s.naps) > 0 {
			s.next = s.naps[0].Due
			s.alarm.set(time.Duration(s.next - now))
		}
		s.mu.Unlock()
	}
}

// Close wakes everybody with false.
func (s *Sleeper) Close() {
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

// NewTimerAlarm makes an alarm of a timer of Go.
func NewTimerAlarm() Alarm {
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
