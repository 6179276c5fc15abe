package sweep

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// lanes is a server that works on so many requests at a time, each for the same time;
// the others queue.
type lanes struct {
	n      int
	takes  time.Duration
	random bool
	most   int // beyond so many in the queue it refuses; 0: never
}

// serve lets requests come at a rate for a time.
func (l lanes) serve(rate float64, sending time.Duration) (record.StageSummary, []RequestTimes) {
	rng := rand.New(rand.NewPCG(1, 2))
	free := make([]time.Duration, l.n)
	var list []RequestTimes
	last := sending
	for due := time.Duration(0); due < sending; {
		k := 0
		for i := range free {
			if free[i] < free[k] {
				k = i
			}
		}
		p := RequestTimes{Due: due, Sent: due}
		if wait := free[k] - due; l.most > 0 && wait > l.takes*time.Duration(l.most)/time.Duration(l.n) {
			p.End, p.Failed = due+time.Millisecond, true
		} else {
			p.End = max(due, free[k]) + l.takes
			free[k] = p.End
		}
		list = append(list, p)
		last = max(last, p.End)
		gap := 1.0
		if l.random {
			gap = rng.ExpFloat64()
		}
		due += time.Duration(gap / rate * float64(time.Second))
	}
	return record.StageSummary{StageTimes: record.StageTimes{SendEnd: sending, DrainEnd: last}}, list
}

func TestHuntFindsWhatAServerCanDo(t *testing.T) {
	for _, c := range []struct {
		name     string
		server   lanes
		low, top float64
		steps    int
	}{
		{"100/s", lanes{n: 10, takes: 100 * time.Millisecond}, 90, 105, 4},
		{"100/s, random arrivals", lanes{n: 10, takes: 100 * time.Millisecond, random: true}, 80, 110, 7},
		{"2/s, slow answers", lanes{n: 10, takes: 5 * time.Second}, 1.6, 2.2, 7},
		{"3000/s", lanes{n: 30, takes: 10 * time.Millisecond}, 2700, 3150, 7},
		{"refuses what it cannot do", lanes{n: 10, takes: 100 * time.Millisecond, most: 20}, 85, 105, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plan.DefaultSaturation()
			h := NewHunt(p)
			for {
				rate, d, ok := h.Next()
				if !ok {
					break
				}
				mark, list := c.server.serve(rate, d)
				h.Observe(JudgeStep(rate, mark, list, p.Percentile))
			}
			f := h.Found()
			if f.Rate < c.low || f.Rate > c.top || len(f.Steps) > c.steps {
				t.Errorf("%d steps: %s", len(f.Steps), f.Why)
				for _, s := range f.Steps {
					t.Logf("%+v", s)
				}
			}
			if f.Above <= f.Rate || len(f.Rates) != 5 || f.Rates[4] != round(f.Rate) {
				t.Errorf("above %v, rates %v", f.Above, f.Rates)
			}
		})
	}
}

// TestHuntWithFewRequests: what is found is never above what was answered, however little
// was asked.
func TestHuntWithFewRequests(t *testing.T) {
	for _, c := range []struct {
		server   lanes
		requests int64
		can      float64
	}{
		{lanes{n: 4, takes: 288600 * time.Microsecond}, 30, 13.86},
		{lanes{n: 4, takes: 288600 * time.Microsecond}, 60, 13.86},
		{lanes{n: 8, takes: 193237 * time.Microsecond}, 20, 41.4},
		{lanes{n: 8, takes: 193237 * time.Microsecond}, 60, 41.4},
		{lanes{n: 8, takes: 193237 * time.Microsecond}, 200, 41.4},
		{lanes{n: 1, takes: 50 * time.Millisecond}, 40, 20},
	} {
		p := plan.DefaultSaturation()
		p.Requests = c.requests
		h := NewHunt(p)
		most := 0.0
		for {
			rate, d, ok := h.Next()
			if !ok {
				break
			}
			mark, list := c.server.serve(rate, d)
			s := JudgeStep(rate, mark, list, p.Percentile)
			if s.Kept || s.short {
				most = max(most, s.Answered)
			}
			if s.Kept && s.Answered < 0.97*s.Rate {
				t.Errorf("%v/s is called kept up with, and %v/s were answered", s.Rate, s.Answered)
			}
			h.Observe(s)
		}
		if f := h.Found(); f.Rate > 1.04*c.can || f.Rate < 0.85*c.can || f.Rate > most {
			t.Errorf("%d requests at %v/s: %s", c.requests, c.can, f.Why)
			for _, s := range f.Steps {
				t.Logf("%+v", s)
			}
		}
	}
}

// What is claimed was answered, also where the backlog of a short step tells nothing.
func TestHuntClaimsWhatWasAnswered(t *testing.T) {
	server := lanes{n: 8, takes: 210 * time.Millisecond} // 38.1/s
	mark, list := server.serve(45.2, 2*time.Second)
	s := JudgeStep(45.2, mark, list, 95)
	if s.Kept || s.Why != "only 38.22 requests/s were answered" {
		t.Errorf("kept %v: %s", s.Kept, s.Why)
	}
	h := NewHunt(plan.DefaultSaturation())
	h.Observe(s)
	if f := h.Found(); f.Rate > s.Answered || f.Why != "The server keeps up with 38.22 requests/s: so many were answered when 45.2 were asked for. It does not keep up with 45.2: only 38.22 requests/s were answered." {
		t.Errorf("%v: %s", f.Rate, f.Why)
	}
	h = NewHunt(plan.DefaultSaturation())
	h.Observe(Step{Rate: 45.2, Kept: true, OK: 9, Answered: 44.567})
	if f := h.Found(); f.Rate != 44.56 {
		t.Errorf("%v claimed of 44.567 answered", f.Rate)
	}
}

func TestStepSaysWhy(t *testing.T) {
	base := func() (record.StageSummary, []RequestTimes) {
		return lanes{n: 100, takes: 100 * time.Millisecond}.serve(100, 5*time.Second)
	}
	for _, c := range []struct {
		name   string
		change func(m *record.StageSummary, list []RequestTimes) []RequestTimes
		kept   bool
		why    string
	}{
		{"kept", func(_ *record.StageSummary, l []RequestTimes) []RequestTimes { return l }, true, "the backlog stood at 10.0 and then 10.0 requests"},
		{"nothing came", func(_ *record.StageSummary, l []RequestTimes) []RequestTimes { return nil }, false, "none of 0 requests was answered"},
		{"late client", func(_ *record.StageSummary, l []RequestTimes) []RequestTimes {
			for i := range l {
				l[i].Sent += 120 * time.Millisecond
				l[i].End += 120 * time.Millisecond
			}
			return l
		}, false, "requests were sent 120ms late at p99: this client or its cap on requests in flight is the limit"},
		{"failures", func(_ *record.StageSummary, l []RequestTimes) []RequestTimes {
			for i := range l {
				l[i].Failed = i%50 == 0
			}
			return l
		}, false, "10 of 500 requests failed"},
		{"not sent", func(m *record.StageSummary, l []RequestTimes) []RequestTimes { m.Unsent = 20; return l }, false, "20 of 520 requests could not be sent in time"},
	} {
		m, list := base()
		list = c.change(&m, list)
		if s := JudgeStep(100, m, list, 95); s.Kept != c.kept || s.Why != c.why {
			t.Errorf("%s: kept %v: %s", c.name, s.Kept, s.Why)
		}
	}
}

func TestServerThatAnswersNothingEndsTheHunt(t *testing.T) {
	h := NewHunt(plan.DefaultSaturation())
	rate, _, _ := h.Next()
	h.Observe(JudgeStep(rate, record.StageSummary{Unsent: 3}, nil, 95))
	if _, _, more := h.Next(); more {
		t.Error("it goes on")
	}
	if f := h.Found(); f.Rate != 0 || len(f.Rates) != 0 || f.Why != "No rate was found that the server keeps up with: at 400 requests/s, none of 3 requests was answered." {
		t.Errorf("%+v", f)
	}
}

func TestRates(t *testing.T) {
	for _, c := range []struct {
		kind   string
		stages int
		most   float64
		want   []float64
	}{
		{plan.SweepLinear, 5, 101, []float64{1, 26, 51, 76, 101}},
		{plan.SweepGeometric, 5, 100, []float64{1, 69.38, 91, 97.84, 100}},
		{plan.SweepLinear, 1, 100, []float64{100}},
		{plan.SweepGeometric, 1, 100, []float64{100}},
		{plan.SweepLinear, 2, 0.5, []float64{0.25, 0.5}},
	} {
		got := Rates(plan.Saturation{Kind: c.kind, Stages: c.stages}, c.most)
		for i := range c.want {
			if len(got) != len(c.want) || math.Abs(got[i]-c.want[i]) > 0.005 {
				t.Errorf("%s up to %v: %v, want %v", c.kind, c.most, got, c.want)
				break
			}
		}
	}
}

// A stage of a sweep sends all that falls due in its time, and no more.
func TestStagesAt(t *testing.T) {
	p := plan.Saturation{Duration: plan.Duration(3 * time.Second)}
	for _, c := range []struct {
		rate float64
		want int64
	}{{0.1, 1}, {1, 3}, {1.5, 4}, {0.7, 2}, {1000.0 / 3, 1000}} {
		s := StagesAt(plan.Stage{Arrival: plan.ArrivalPoisson, Gap: 7}, p, []float64{c.rate})[0]
		if s.Requests != c.want || s.Duration != 0 || s.Rate != c.rate || s.Gap != 7 {
			t.Errorf("%v/s: %+v, want %d requests", c.rate, s, c.want)
		}
	}
}
