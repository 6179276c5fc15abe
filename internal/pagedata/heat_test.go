package pagedata

import (
	"slices"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// A heat map has every gap where it was, in time and in value.
func TestHeatMap(t *testing.T) {
	d, _, _ := drawn(t, planOf(plan.Stage{Name: "s", Concurrency: 1, Requests: 1}), nil, func(add func(*record.Record)) {
		for i := range 200 {
			due, gap := time.Duration(i)*20*ms, 2*ms
			if i >= 100 {
				gap = 8 * ms
			}
			add(answered(int64(i), due, due, ms, gap, 3))
		}
	})
	s := find(t, d, "itl_heat")
	rows, cells, times := readerOf(t, &d.Planes).column(*s.Column.Lo), readerOf(t, &d.Planes).column(*s.Column.V),
		readerOf(t, &d.Planes).column(s.Column.T)
	high := len(rows) - 1
	if len(cells) != high*(len(times)-1) {
		t.Fatalf("%d cells of %d rows and %d times", len(cells), high, len(times))
	}
	var early, late, all float64
	for i, n := range cells {
		at, from, to := times[i/high], rows[i%high], rows[i%high+1]
		all += n
		if from <= 2 && 2 < to && at < 2 {
			early += n
		}
		if from <= 8 && 8 < to && at >= 1.9 {
			late += n
		}
	}
	if all != 400 || early != 200 || late != 200 {
		t.Errorf("%v gaps, %v of 2 ms in the first half and %v of 8 ms in the second", all, early, late)
	}
}

// A gap of nearly nothing does not take most of the map.
func TestHeatMapLeavesOutNoise(t *testing.T) {
	var p Planes
	made := HeatMap(&p, "x", "X", "g", []float64{0, 1, 2}, func(_ int, add func(time.Duration, uint64)) {
		add(2*time.Microsecond, 1)
		add(20*time.Millisecond, 99)
	})
	d := &Document{Planes: p}
	if rows := readerOf(t, &d.Planes).column(*made[0].Column.Lo); rows[0] < 0.01 {
		t.Errorf("it begins at %v ms", rows[0])
	}
	var n float64
	for _, v := range readerOf(t, &d.Planes).column(*made[0].Column.V) {
		n += v
	}
	if n != 200 {
		t.Errorf("%v of 200 are there", n)
	}
}

// Failures over time are told apart by class and status; where there are many, the rest are together.
func TestFailuresByKind(t *testing.T) {
	d, _, _ := drawn(t, planOf(plan.Stage{Name: "s", Concurrency: 1, Requests: 1}), nil, func(add func(*record.Record)) {
		for i := range 80 {
			rec := failed(int64(i), time.Duration(i)*50*ms, 10*ms, record.HTTPStatus)
			rec.Failure.Status = 500 + i%8
			add(rec)
		}
	})
	var names []string
	total := 0.0
	for _, s := range d.Series {
		if s.Group != groupErrors {
			continue
		}
		names = append(names, s.Title)
		edges, v := readerOf(t, &d.Planes).column(s.Column.T), readerOf(t, &d.Planes).column(*s.Column.V)
		for i := range v {
			if s.Name != "errors" {
				total += v[i] * (edges[i+1] - edges[i])
			}
		}
	}
	want := []string{"Failed requests", "HTTP 500", "HTTP 501", "HTTP 502", "HTTP 503", "HTTP 504", "other failures"}
	if !slices.Equal(names, want) || total < 79.9 || total > 80.1 {
		t.Errorf("%v failures of %q", total, names)
	}
}

// The requests of a conversation are there together, with their turns, and turns have figures of their own.
func TestSessions(t *testing.T) {
	d, _, _ := drawn(t, planOf(plan.Stage{Name: "s", Concurrency: 1, Requests: 1}), nil, func(add func(*record.Record)) {
		for i := range 30 {
			rec := answered(int64(i), time.Duration(i)*20*ms, time.Duration(i)*20*ms, time.Duration(1+i%3)*10*ms, ms, 3)
			rec.Session, rec.Turn = string(rune('a'+i/3)), i%3
			add(rec)
		}
	})
	if len(d.Sessions) != 10 || d.Sessions[0] != "a" {
		t.Fatalf("the sessions are %q", d.Sessions)
	}
	of, turn := readerOf(t, &d.Planes).column(d.Requests.Columns["session"]), readerOf(t, &d.Planes).column(d.Requests.Columns["turn"])
	for i := range of {
		if of[i] != float64(i/3) || turn[i] != float64(i%3) {
			t.Errorf("request %d is turn %v of session %v", i, turn[i], of[i])
		}
	}
	all := d.Stages[0].Turns
	if len(all) != 3 {
		t.Fatalf("the turns are %v", all)
	}
	for i, at := range all {
		if want := float64(10 * (i + 1)); at.Turn != i+1 || at.Samples != 10 || at.P50 < want*0.97 || at.P50 > want*1.03 {
			t.Errorf("turn %d is %+v", i, at)
		}
	}
}

// A sample has whole conversations.
func TestSampleOfSessions(t *testing.T) {
	d, _, _ := drawn(t, planOf(plan.Stage{Name: "s", Concurrency: 1, Requests: 1}), nil, func(add func(*record.Record)) {
		for i := range 2 * mostSampled {
			rec := answered(int64(i), time.Duration(i)*100*us, time.Duration(i)*100*us, ms, ms, 1)
			rec.Session, rec.Turn = "session "+string(rune(0x4e00+i/4)), i%4
			add(rec)
		}
	})
	n := map[float64]int{}
	for _, of := range readerOf(t, &d.Planes).column(d.Requests.Columns["session"]) {
		n[of]++
	}
	cut := 0
	for _, turns := range n {
		if turns != 4 {
			cut++
		}
	}
	if cut > len(n)/5 { // those at the edge, and those that are there for being slow
		t.Errorf("%d of %d sessions are not whole", cut, len(n))
	}
}
