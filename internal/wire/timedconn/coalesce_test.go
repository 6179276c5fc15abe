package timedconn

import (
	"testing"
	"time"
)

func TestModerator(t *testing.T) {
	for _, tt := range []struct {
		name  string
		every time.Duration // between two reads
		bytes int
		rests bool
	}{
		{"one by one at 200,000 a second", 5 * time.Microsecond, 200, true},
		{"at 25,000 a second", 40 * time.Microsecond, 200, false},
		{"one request at a time", 150 * time.Microsecond, 200, false},
		{"large reads", 5 * time.Microsecond, 32 << 10, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rests := 0
			m := &coalescer{rest: func() { rests++ }}
			now := time.Duration(0)
			for range 2000 {
				now += tt.every
				m.after(tt.bytes, now)
			}
			if tt.rests && rests < 1000 || !tt.rests && rests > 0 {
				t.Errorf("%d rests in 2000 reads", rests)
			}
		})
	}
}

// A rate that falls ends the rests within a period.
func TestModeratorEnds(t *testing.T) {
	rests := 0
	m := &coalescer{rest: func() { rests++ }}
	now := time.Duration(0)
	for range 1000 {
		now += 5 * time.Microsecond
		m.after(100, now)
	}
	now += time.Millisecond
	m.after(100, now)
	rests = 0
	for range 100 {
		now += time.Millisecond
		m.after(100, now)
	}
	if rests > 0 {
		t.Errorf("%d rests at 1,000 reads a second", rests)
	}
}

// While one connection lets arrivals gather, others read on.
func TestModeratorRestsOnce(t *testing.T) {
	var m *coalescer
	rests, inside := 0, false
	now := time.Duration(0)
	m = &coalescer{rest: func() {
		rests++
		if inside {
			t.Error("two rests at once")
		}
		inside = true
		now += time.Microsecond
		m.after(100, now)
		inside = false
	}}
	for range 1000 {
		now += 5 * time.Microsecond
		m.after(100, now)
	}
	if rests == 0 {
		t.Error("no rests at all")
	}
}

func TestNoModerator(t *testing.T) {
	var m *coalescer
	m.after(1, 0)
}
