package metric

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// stepped is a closed loop of one request at a time, from a start: each takes as long as
// its part of the series.
func stepped(from time.Duration, took ...time.Duration) *Series {
	s := &Series{of: 1, closed: true, from: from}
	at := from
	for i, d := range took {
		s.kept = append(s.kept, arrival{seq: int64(i), due: at, sent: at, first: at + d, end: at + d, perToken: -1, prompt: 1, work: 1})
		at += d
	}
	s.to = at
	return s
}

// parted are n times of which those before cut are one, and the others another.
func parted(n, cut int, before, after time.Duration) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		if out[i] = after; i < cut {
			out[i] = before
		}
	}
	return out
}

// A change bends the figure of the whole by as much as the smaller part of it weighs.
func TestTrendEffect(t *testing.T) {
	for _, tt := range []struct {
		name           string
		cut            int
		before, after  time.Duration
		share, changed float64
		effect         float64
	}{
		{"slow at first", 40, 100 * msec, 50 * msec, 0.25, -0.5, 0.5},
		{"slow at last", 120, 50 * msec, 100 * msec, 0.75, 1, 0.5},
		{"half and half", 80, 50 * msec, 100 * msec, 0.5, 1, 0.5},
	} {
		s := stepped(10*time.Second, parted(160, tt.cut, tt.before, tt.after)...)
		got := s.Trends()[0]
		if got.Of != LatencyTrend || got.Blocks != 16 || got.Share != tt.share || got.At != s.kept[tt.cut].sent {
			t.Errorf("%s: %+v, want the change at %v", tt.name, got, s.kept[tt.cut].sent)
		}
		if math.Abs(got.Change-tt.changed) > 1e-9 || math.Abs(got.Effect-tt.effect) > 1e-9 {
			t.Errorf("%s: changed by %v with an effect of %v, want %v and %v", tt.name, got.Change, got.Effect, tt.changed, tt.effect)
		}
	}
}

// Times below what stamps can tell apart are no trend, however many times as long they become.
func TestTrendsOfTheFinest(t *testing.T) {
	for _, tr := range stepped(0, parted(160, 80, 2*time.Microsecond, 40*time.Microsecond)...).Trends() {
		if tr.Of != FlowTrend && tr.Effect > 1e-9 {
			t.Errorf("%s: an effect of %v", tr.Of, tr.Effect)
		}
	}
}

// A series settles after its slow start, on the run's clock.
func TestSettledAt(t *testing.T) {
	const from = 10 * time.Second
	s := stepped(from, parted(320, 32, 200*msec, 50*msec)...)
	want := from + 32*200*msec
	got, ok := s.SettledAt(0.05)
	if !ok || got < want || got > want+2*time.Second {
		t.Errorf("settled at %v (%v), want soon after %v", got, ok, want)
	}
	if at, ok := stepped(from, parted(320, 0, 0, 50*msec)...).SettledAt(0.05); ok {
		t.Errorf("a steady series settled at %v", at)
	}
}

// Blocks of sessions' time have as many seconds of requests each, not as many seconds.
func TestPlayedEdges(t *testing.T) {
	p := &played{steps: []step{{0, 4}, {10, 1}, {50, 0}}}
	for _, tt := range []struct {
		from, to time.Duration
		want     []float64
	}{
		{0, 50, []float64{0, 5, 10, 30, 50}},
		{0, 10, []float64{0, 2.5, 5, 7.5, 10}},
		{5, 30, []float64{5, 7.5, 10, 20, 30}},
	} {
		if got := p.edges(tt.from, tt.to, 4); !slices.Equal(got, tt.want) {
			t.Errorf("edges from %d to %d: %v, want %v", tt.from, tt.to, got, tt.want)
		}
	}
}

// Reads whose delays are kept one by one and those of the tail make one mean.
func TestMeanDelay(t *testing.T) {
	tail := &record.Tail{}
	tail.Delays.Add(300)
	tail.Delays.Add(500)
	for _, tt := range []struct {
		name string
		r    Request
		want int64
		ok   bool
	}{
		{"none", Request{Record: &record.Record{}}, 0, false},
		{"one by one", Request{Record: &record.Record{}, delays: []int64{100, 300}}, 200, true},
		{"in the tail", Request{Record: &record.Record{Tail: tail}}, 400, true},
		{"both", Request{Record: &record.Record{Tail: tail}, delays: []int64{100}}, 300, true},
	} {
		if got, ok := meanDelay(&tt.r); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %d, %v, want %d, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

// Samples of latencies and lengths are kept by part, those of nothing else.
func TestOrdered(t *testing.T) {
	defs := []Def{{ID: "lag"}, {ID: outputID}, {ID: latencyID}, {ID: "read_delay"}, {ID: inputID}}
	if got, want := ordered(defs), []int{1, 2, 4}; !slices.Equal(got, want) {
		t.Errorf("ordered = %v, want %v", got, want)
	}
}

// In an open loop as many are neighbours as come while a quick one is answered, in a closed one as
// many as were in flight.
func TestNeighboursInFlight(t *testing.T) {
	s := &Series{of: 1}
	for i := range 20 {
		sent := 10*time.Second + time.Duration(i)*10*msec
		s.kept = append(s.kept, arrival{due: sent, sent: sent, end: sent + 50*msec + time.Duration(i)*msec})
	}
	if got, want := s.InFlight(), 51*20.0/190; got != want { // the second quickest of twenty
		t.Errorf("an open loop: %v in flight, want %v", got, want)
	}
	if got := stepped(10*time.Second, parted(20, 10, 50*msec, 60*msec)...).InFlight(); got != 1 {
		t.Errorf("a closed loop of one: %v in flight", got)
	}
}
