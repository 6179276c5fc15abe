package capacity

import "testing"

// The answer is one sentence: the load, between what it lies, and what misses above.
func TestSentence(t *testing.T) {
	s := Search{Objectives: []Objective{{Figure: "ttft.p99", Bound: 200, Unit: "ms", Allowed: 0.01, Least: 474}}, Start: 1, Least: 0.1, Precision: 0.05, Seconds: 900}
	level := func(load, bad, p99 float64) Trial {
		l := Trial{Load: load, Seconds: 60, Requests: 6000, Answered: load, Seen: []Observation{{Value: &p99}}}
		for range 10 {
			l.Seen[0].Batches = append(l.Seen[0].Batches, Batch{N: 600, Bad: bad * 600})
		}
		s.Judge(&l)
		return l
	}
	levels := []Trial{level(10, 0, 50), level(38, 0.001, 120), level(40, 0.005, 170), level(41, 0.0075, 190), level(42, 0.012, 209),
		level(44, 0.05, 231), level(80, 0.9, 4000)}
	for _, c := range []struct {
		levels []Trial
		want   string
	}{
		{nil, "The capacity is not known: no level was measured."},
		{levels[:1], "At least 10 requests/s: all objectives are met at the highest load that was tried."},
		{levels[6:], "No load was found that meets the objectives: even at 80 requests/s, the lowest that was tried, ttft.p99 misses by 3800 ms."},
		{levels, "41.1 requests/s, 95 % between 18.6 and 42.4; at 44 ttft.p99 misses by 31 ms. The search ended before the interval was within 5 %."},
	} {
		if a := s.Answer(c.levels); a.Sentence != c.want {
			t.Errorf("%s\nwant %s", a.Sentence, c.want)
		}
	}
	if l := level(41.5, 0.01, 200); l.Met != Close {
		t.Errorf("a level at the bound: %s", l.Met)
	}
}

// A level near the knee takes what its percentile needs, not four times that where the interval is
// still wide: there are more levels in the same time then, and the later ones tell more.
func TestLength(t *testing.T) {
	s := Search{Objectives: []Objective{percentile(0.99, 0.2)}, Start: 1, Least: 0.1, Precision: 0.05, Seconds: 36000}
	level := func(load, bad float64) Trial {
		l := Trial{Load: load, Seconds: 60, Requests: 6000, Answered: load, Seen: []Observation{{}}}
		for range 10 {
			l.Seen[0].Batches = append(l.Seen[0].Batches, Batch{N: 600, Bad: bad * 600})
		}
		s.Judge(&l)
		return l
	}
	wide := []Trial{level(5, 0), level(40, 0.5)}
	seconds := func(hi float64) float64 {
		e := s.after(wide)
		e.lo, e.hi = 10, hi
		return s.length(wide, 10, e, s.Seconds)
	}
	if short, long := seconds(10), seconds(40); long > 2*short || long <= short {
		t.Errorf("%g s where the interval is narrow, %g s where it is wide", short, long)
	}
	s.Objectives = []Objective{percentile(0.9, 0.2)}
	for whole, want := range map[bool]float64{false: refined, true: steadily} {
		s.Whole = whole
		if got := s.length(wide, 1000, s.after(wide), s.Seconds); got != want {
			t.Errorf("by concurrency %v: %g s at least, want %g", whole, got, want)
		}
	}
}
