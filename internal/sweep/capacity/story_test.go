package capacity

import (
	"strings"
	"testing"
)

// told makes a level of a search with one objective on a percentile: the shares of bad samples in its
// ten parts.
func told(s *Search, stage int, load float64, kind string, shares ...float64) Trial {
	l := Trial{Stage: stage, Kind: kind, Load: load, Seconds: 60, Requests: 1000, Answered: load, Seen: []Observation{{}}}
	for i := range 10 {
		share := shares[min(i*len(shares)/10, len(shares)-1)]
		l.Seen[0].Batches = append(l.Seen[0].Batches, Batch{N: 100, Bad: 100 * share})
	}
	s.Judge(&l)
	return l
}

func p90Search() *Search {
	return &Search{Objectives: []Objective{{Text: "ttft.p90 < 1s", Figure: "ttft.p90", Bound: 1000, Unit: "ms", Allowed: 0.1, Least: 47}}, Start: 1, Least: 0.1, Precision: 0.05, Seconds: 900, Hold: 60}
}

// A level at which this client was in trouble is run again, and then does not count; not more than
// twice, and not where the objectives were met all the same.
func TestRepeat(t *testing.T) {
	s := p90Search()
	levels := []Trial{told(s, 0, 1, "", 0), told(s, 1, 2, "", 0.5)}
	if step, ok := s.Next(levels, 60); !ok || step.Kind == Repeat {
		t.Errorf("without trouble: %+v", step)
	}
	for n := range 3 {
		levels[len(levels)-1].Trouble = "late"
		step, ok := s.Next(levels, 60)
		if want := n < 2; !ok || (step.Kind == Repeat) != want || want && step.Load != 2 {
			t.Fatalf("after %d repeats: %+v", n, step)
		}
		levels = append(levels, told(s, len(levels), 2, Repeat, 0.5))
	}
	st := s.story(levels)
	if len(st.counts) != 2 || st.unused[1] == "" || st.unused[2] == "" || st.unused[4] != "" {
		t.Errorf("%d levels count, not used are %v", len(st.counts), st.unused)
	}
	fine := []Trial{told(s, 0, 1, "", 0)}
	fine[0].Trouble = "late"
	if step, _ := s.Next(fine, 60); step.Kind == Repeat {
		t.Error("a level that met its objectives is repeated")
	}
}

// After an overload a load that was good is measured again; a server that does not come back is
// given lower loads and rests, and it is said what helped.
func TestRecovery(t *testing.T) {
	s := p90Search()
	over := told(s, 2, 16, "", 1)
	over.Over, over.Grew = "the backlog grew", true
	s.Judge(&over)
	levels := []Trial{told(s, 0, 4, "", 0), told(s, 1, 8, "", 0), over}
	steps := []struct {
		load, rest float64
	}{{4, 0}, {2, 0}, {1, 0}, {4, rests()[0]}, {4, rests()[1]}}
	for i, want := range steps {
		step, ok := s.Next(levels, 60)
		if !ok || step.Kind != Recovery || step.Load != want.load || step.Rest != want.rest {
			t.Fatalf("step %d: %+v, want %v", i, step, want)
		}
		share := 1.0
		if i == len(steps)-1 {
			share = 0
		}
		l := told(s, len(levels), step.Load, Recovery, share)
		l.Rest = step.Rest
		levels = append(levels, l)
	}
	a := s.Answer(levels)
	if r := a.Relapse; r == nil || r.Load != 16 || r.Stays != 1 || r.Rest != rests()[1] || r.Lost {
		t.Errorf("found %+v", r)
	}
	if want := "After 16 requests/s it did not recover at 1; it recovered after 10 s without requests."; !strings.Contains(a.Sentence, want) {
		t.Errorf("%s\nwant %s", a.Sentence, want)
	}
	if step, ok := s.Next(levels, 60); !ok || step.Kind != "" {
		t.Errorf("after that: %+v", step)
	}
}

// An objective that as many miss at a low load as at a high one does not depend on the load.
func TestFlat(t *testing.T) {
	s := p90Search()
	levels := []Trial{told(s, 0, 1, "", 1), told(s, 1, 0.25, "", 1)}
	a := s.Answer(levels)
	if a.Outcome != Never || a.Flat == nil || a.Sentence != "Missed at every load from 0.25 to 1 request/s: 100 % of all samples miss ttft.p90 < 1s. It does not depend on the load." {
		t.Errorf("%s: %s", a.Outcome, a.Sentence)
	}
	if _, ok := s.Next(levels, 60); ok {
		t.Error("the search goes on")
	}
	if a := s.Answer([]Trial{told(s, 0, 1, "", 0), told(s, 1, 8, "", 0.3)}); a.Flat != nil {
		t.Errorf("of one that does: %s", a.Sentence)
	}
}

// The answer is held; where it is missed then, or only in the second half, a lower load is.
func TestHold(t *testing.T) {
	s := p90Search()
	s.Precision = 0.5
	var levels []Trial
	for i, load := range []float64{8, 9, 9.5, 10.5, 11, 12, 9, 11} {
		share := 0.01
		if load > 10 {
			share = 0.4
		}
		levels = append(levels, told(s, i, load, "", share))
	}
	next := func() NextLevel {
		t.Helper()
		step, ok := s.Next(levels, 500)
		if !ok {
			t.Fatal("the search is over")
		}
		return step
	}
	step := next()
	if step.Kind != Overload {
		t.Fatalf("%+v, want an overload first", step)
	}
	levels = append(levels, told(s, len(levels), step.Load, Overload, 1))
	step = next()
	if step.Kind != Hold || step.Seconds != 60 || step.Load > 10 || step.Load < 8 {
		t.Fatalf("%+v, want a hold", step)
	}
	levels = append(levels, told(s, len(levels), step.Load, Hold, 0, 0.19))
	again := next()
	if again.Kind == Overload {
		levels = append(levels, told(s, len(levels), again.Load, Overload, 1))
		again = next()
	}
	if again.Kind != Hold || again.Load >= step.Load {
		t.Fatalf("%+v after a hold of %v that became worse", again, step.Load)
	}
	levels = append(levels, told(s, len(levels), again.Load, Hold, 0.01))
	if step, ok := s.Next(levels, 600); ok {
		t.Errorf("%+v after the answer was held", step)
	}
	a := s.Answer(levels)
	if a.Held != 60 || a.Value != again.Load || !strings.Contains(a.Sentence, " held for 60 s; 95 % between ") {
		t.Errorf("%+v: %s", a.Value, a.Sentence)
	}
}

// Loads of sessions are told from those of requests.
func TestSessions(t *testing.T) {
	s := p90Search()
	s.Sessions, s.Hold = true, 0
	var levels []Trial
	for i, load := range []float64{1, 2, 4} {
		l := told(s, i, load, "", []float64{0, 0.01, 0.9}[i])
		l.Answered = 3 * load
		levels = append(levels, l)
	}
	a := s.Answer(levels)
	if a.Unit != "sessions/s" || a.Requests < 2.9*a.Value || a.Requests > 3.1*a.Value || !strings.Contains(a.Sentence, " sessions/s (") {
		t.Errorf("%v of %v: %s", a.Requests, a.Value, a.Sentence)
	}
}

func TestSays(t *testing.T) {
	s := p90Search()
	for _, c := range []struct {
		level Trial
		want  string
	}{
		{told(s, 0, 1, "", 0), "yes"},
		{told(s, 0, 1, Hold, 0), "yes, hold"},
		{told(s, 0, 1, "", 0.5), "no, 50 % missed"},
		{told(s, 0, 1, "", 0.1, 0.12), "too close to call, 11 % missed"},
		{Trial{Met: Few}, "too few requests"},
		{Trial{Met: No, Cut: true, Unused: "it is"}, "no, ended early, not counted"},
	} {
		if got := c.level.Says(s.Objectives); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Requests that are in flight together are answered together, and a level ends between two such waves:
// that the last one is missing is no collapse. Far fewer answers are.
func TestWaves(t *testing.T) {
	s := p90Search()
	s.Whole, s.Least = true, 1
	met := told(s, 0, 23, "", 0)
	for _, tt := range []struct {
		pace   []float64 // of tenths of half a second
		sudden bool
	}{
		{[]float64{52, 0, 52, 0, 0, 52, 0, 0, 0, 0}, false},
		{[]float64{52, 0, 52, 0, 0, 4, 0, 0, 0, 0}, true},
	} {
		l := told(s, 1, 26, "", 1)
		l.Seconds, l.Pace = 5, tt.pace
		if got := s.sudden(s.story([]Trial{met}), &l); got != tt.sudden {
			t.Errorf("%v: sudden is %t", tt.pace, got)
		}
	}
}

// Where no objective was ever missed by a request, and a level is too much all the same, the search goes on.
func TestNothingFails(t *testing.T) {
	failed := Objective{Text: "errors < 1%", Figure: "errors", Bound: 0.01, Unit: "share", Allowed: 0.01, Least: 100}
	s := &Search{Objectives: []Objective{failed, failed}, Whole: true, Start: 1, Least: 1, Precision: 0.05, Seconds: 900, Hold: 60}
	var levels []Trial
	for i, kind := range []string{"", "", Recovery} {
		load := []float64{4, 8, 4}[i]
		l := told(s, i, load, kind, 0)
		l.Seen = append(l.Seen, l.Seen[0])
		if load == 8 {
			l.Over = "the backlog grew"
		}
		s.Judge(&l)
		levels = append(levels, l)
	}
	if _, ok := s.Next(levels, 120); !ok {
		t.Error("the search is over")
	}
	if a := s.Answer(levels); a.Lo > 8 || a.Hi < 4 {
		t.Errorf("%s", a.Sentence)
	}
}
