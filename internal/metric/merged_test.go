package metric

import (
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// reads makes a stream of reads that each bring some events, a gap apart, read so long
// after the last of them had come. The first brings one.
func reads(gap time.Duration, each ...readOf) *record.Record {
	events := []token{{at: gap, tokens: 1}}
	for i, g := range each {
		at := time.Duration(i+2) * gap
		for k := range max(g.events, -g.events) {
			if k == 1 && g.events < 0 {
				at += 20 * time.Microsecond
			}
			events = append(events, token{at: at, tokens: 1})
		}
	}
	rec := streamed(0, events...)
	k := 1
	for _, g := range each {
		rec.Marks[k].User = rec.Marks[k].Kernel + g.delay
		if k++; g.events < 0 {
			k++
		}
	}
	return rec
}

type readOf struct {
	events int // negative: so many, of which the first was read alone
	delay  time.Duration
}

func TestWhoMergedTheEvents(t *testing.T) {
	const soon, late = 100 * time.Microsecond, 6 * msec
	times := func(n int, g readOf) []readOf {
		var all []readOf
		for range n {
			all = append(all, g)
		}
		return all
	}
	for _, tt := range []struct {
		name string
		gap  time.Duration
		each []readOf
		want int64
	}{
		{"one by one", 10 * msec, times(20, readOf{1, soon}), 0},
		{"one by one, read late", 10 * msec, times(20, readOf{1, late}), 0},
		{"four at a time", 40 * msec, times(20, readOf{4, soon}), 0},
		{"four at a time, some read late", 40 * msec, append(times(20, readOf{4, soon}), times(9, readOf{4, late})...), 0},
		{"four at a time, and two bursts in one late read", 40 * msec, append(times(20, readOf{4, soon}), readOf{8, late}), 4},
		{"four at a time, the first often read alone", 40 * msec, append(times(20, readOf{-4, soon}), times(9, readOf{4, late})...), 0},
		{"one by one, and a stall of the client", 10 * msec, append(times(20, readOf{1, soon}), readOf{5, late}), 4},
		{"one by one, and a stall of the server", 10 * msec, append(times(20, readOf{1, soon}), readOf{5, soon}), 0},
		{"always late", 30 * msec, times(20, readOf{3, late}), 40},
		{"mostly late", 30 * msec, append(times(18, readOf{3, late}), times(2, readOf{3, soon})...), 36},
		{"fast, and late by half of a gap", 2 * msec, append(times(20, readOf{1, soon}), times(4, readOf{2, 800 * time.Microsecond})...), 4},
	} {
		f := mustFold(t, Options{})
		rec := reads(tt.gap, tt.each...)
		rec.Merged = 1000
		f.Add(rec)
		f.Add(evenly(0, msec, 10*msec, 1)) // what the one before had is gone
		if c := summarize(t, f)[0].Counts; c.Late != tt.want {
			t.Errorf("%s: %d late, want %d", tt.name, c.Late, tt.want)
		}
	}
}

// No more events are late than the kernel has put together, and where it does not say,
// nobody knows.
func TestCoalesced(t *testing.T) {
	for merged, want := range map[int][2]int64{0: {0, 0}, 1: {1, 0}, 2: {2, 0}, 9: {2, 0}, -1: {0, 2}} {
		f := mustFold(t, Options{})
		rec := streamed(0,
			token{10 * msec, 1, record.Content, false}, token{20 * msec, 1, record.Content, true}, token{20 * msec, 1, record.Content, true},
			token{20 * msec, 1, record.Content, false}, token{20*msec + 100*time.Microsecond, 1, record.Content, true},
			token{20*msec + 100*time.Microsecond, 1, record.Content, false})
		rec.Merged = merged
		rec.Marks[1].User = rec.Marks[1].Kernel + 5*msec
		f.Add(rec)
		f.Add(evenly(0, msec, 10*msec, 1))
		c := summarize(t, f)[0].Counts
		if c.Late != want[0] || c.Unsure != want[1] || c.Apart != 1 {
			t.Errorf("%d segments merged: late %d, unsure %d, apart %d, want %d and 1", merged, c.Late, c.Unsure, c.Apart, want)
		}
	}
}

// A first read that holds more events than the others may have come late, and the stamp of
// its first event with it.
func TestFirstReadsThatHoldMore(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first int
		rest  int // events of each later read
		want  time.Duration
	}{
		{"as many as the others", 1, 1, 0},
		{"as many as the others, several", 4, 4, 0},
		{"one more", 2, 1, 10 * msec},
		{"three more", 4, 1, 30 * msec},
	} {
		var events []token
		for i := range 21 {
			n := tt.rest
			if i == 0 {
				n = tt.first
			}
			for range n {
				events = append(events, token{at: time.Duration(i+1) * 10 * msec, tokens: 1})
			}
		}
		f := mustFold(t, Options{})
		rec := streamed(0, events...)
		for i := range rec.Marks {
			rec.Marks[i].User = rec.Marks[i].Kernel + 100*time.Microsecond
		}
		f.Add(rec)
		f.Add(evenly(0, msec, 10*msec, 1))
		c := summarize(t, f)[0].Counts
		if got := time.Duration(c.Blur); (c.Blurred > 0) != (tt.want > 0) || got < tt.want*9/10 || got > tt.want*11/10 {
			t.Errorf("%s: %d blurred, by %v; want %v", tt.name, c.Blurred, got, tt.want)
		}
	}
}
