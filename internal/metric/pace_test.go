package metric

import (
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// The spread counts from the first request, whatever the order in which requests are added.
func TestPaceSpread(t *testing.T) {
	at := func(due, sent time.Duration) *record.Record {
		return &record.Record{Due: due * time.Millisecond, Sent: sent * time.Millisecond}
	}
	requests := []*record.Record{at(100, 110), at(200, 230), at(300, 350), at(1000, 1500), {Due: 50, Sent: record.Never}, {Session: "a", Due: 1, Sent: 1}}
	for _, order := range [][]int{{0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {2, 4, 0, 5, 3, 1}} {
		var p, second Pace
		for k, i := range order {
			if k%2 == 0 {
				p.add(requests[i])
			} else {
				second.add(requests[i])
			}
		}
		p.merge(second)
		due, sent := p.Spread()
		if wantDue, wantSent := 300*time.Millisecond, 437500*time.Microsecond; due != wantDue || sent != wantSent || p.N != 4 || p.Turns != 1 {
			t.Errorf("in the order %v: due %v (want %v), sent %v (want %v), %d requests, %d turns", order, due, wantDue, sent, wantSent, p.N, p.Turns)
		}
	}
	if due, sent := new(Pace).Spread(); due != 0 || sent != 0 {
		t.Errorf("of no request: %v, %v", due, sent)
	}
}
