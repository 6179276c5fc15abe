package load

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
)

func TestInFlight(t *testing.T) {
	for _, tc := range []struct {
		from, to int
		over     time.Duration
		at       map[time.Duration]int
	}{
		{8, 8, 0, map[time.Duration]int{-time.Second: 8, 0: 8, time.Hour: 8}},
		{0, 10, 10 * time.Second, map[time.Duration]int{
			-1: 0, 0: 0, 499 * time.Millisecond: 0, 500 * time.Millisecond: 1, 5 * time.Second: 5,
			9500 * time.Millisecond: 10, 10 * time.Second: 10, time.Hour: 10}},
		{10, 1, 9 * time.Second, map[time.Duration]int{0: 10, time.Second: 9, 8 * time.Second: 2, 9 * time.Second: 1, time.Hour: 1}},
		{1, math.MaxInt, math.MaxInt64, map[time.Duration]int{0: 1, math.MaxInt64 - 1: math.MaxInt - 1, math.MaxInt64: math.MaxInt}},
	} {
		slots := InFlight(tc.from, tc.to, tc.over)
		for now, want := range tc.at {
			if got := slots(now); got != want {
				t.Errorf("InFlight(%d, %d, %v) at %v = %d, want %d", tc.from, tc.to, tc.over, now, got, want)
			}
		}
	}
}

const second = plan.Duration(time.Second)

// compiled is the load of the plan's i-th stage.
func compiled(p *plan.Plan, i int) Profile {
	t := NewSpec(p, i, p.Stages[i])
	return t.Compile(nil)
}

func TestCompileClosedLoop(t *testing.T) {
	p := &plan.Plan{Drain: 5 * second, Stages: []plan.Stage{{
		Name: "up", Concurrency: 4, RampTo: 16, Duration: 12 * second, Requests: 900,
		Warmup: plan.Warmup{Duration: 2 * second, Requests: 10},
	}}}
	s := compiled(p, 0)
	if s.Arrivals != nil {
		t.Error("a closed loop has arrivals")
	}
	if s.MaxSlots != 16 {
		t.Errorf("MaxSlots = %d, want 16", s.MaxSlots)
	}
	for now, want := range map[time.Duration]int{-time.Second: 4, 0: 4, 6 * time.Second: 10, 12 * time.Second: 16, time.Minute: 16} {
		if got := s.InFlight(now); got != want {
			t.Errorf("InFlight(%v) = %d, want %d", now, got, want)
		}
	}
	s.InFlight = nil
	want := Profile{
		Name: "up", MaxSlots: 16, WarmupFor: 2 * time.Second, WarmupRequests: 10,
		Duration: 12 * time.Second, Requests: 900, Drain: 5 * time.Second,
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}

// A ramp needs a time to go through: without one the concurrency stays what it is at first.
func TestRampWithoutDuration(t *testing.T) {
	s := compiled(&plan.Plan{Stages: []plan.Stage{{Concurrency: 4, RampTo: 16, Requests: 900}}}, 0)
	if got := s.InFlight(time.Hour); got != 4 || s.MaxSlots != 4 {
		t.Errorf("%d in flight in %d slots, want 4 in 4", got, s.MaxSlots)
	}
}

func TestCompileOpenLoop(t *testing.T) {
	p := &plan.Plan{Seed: 9, Stages: []plan.Stage{
		{Rate: 2, Arrival: "constant"},
		{Rate: 100, Arrival: "poisson", MaxInFlight: 7},
		{Rate: 100, Arrival: "poisson"},
		{Rate: 100, Arrival: "gamma", CV: 3},
		{Rate: 10, RampTo: 30, Arrival: "constant", Duration: 10 * second, Warmup: plan.Warmup{Duration: second}},
		{Rate: 10, RampTo: 30, Arrival: "constant", Duration: 10 * second, Warmup: plan.Warmup{Duration: second, Requests: 20}},
	}}
	if diff := cmp.Diff([]time.Duration{0, time.Second / 2, time.Second}, take(compiled(p, 0).Arrivals, 3)); diff != "" {
		t.Error(diff)
	}
	if s := compiled(p, 1); s.MaxSlots != 7 || s.InFlight(0) != 7 || s.InFlight(time.Hour) != 7 || s.Index != 1 {
		t.Errorf("stage 1 has %d slots at most, %d at first, index %d", s.MaxSlots, s.InFlight(0), s.Index)
	}
	if s := compiled(p, 2); s.MaxSlots != 0 || s.InFlight(0) != 0 {
		t.Errorf("stage 2 is bounded: %d, %d", s.MaxSlots, s.InFlight(0))
	}
	if cmp.Equal(take(compiled(p, 1).Arrivals, 5), take(compiled(p, 2).Arrivals, 5)) {
		t.Error("two stages share their arrivals")
	}
	if diff := cmp.Diff(take(compiled(p, 3).Arrivals, 50), take(compiled(p, 3).Arrivals, 50)); diff != "" {
		t.Errorf("the same plan differs:\n%s", diff)
	}
	if _, cv := moments(take(compiled(p, 3).Arrivals, 50_000)); math.Abs(cv-3) > 0.2 {
		t.Errorf("stage 3 has a coefficient of variation of %v, want 3", cv)
	}
	// 10/s during the warm-up, 200 in the ten seconds of the ramp, then 30/s.
	for stage, warm := range map[int]int{4: 1, 5: 2} {
		got := take(compiled(p, stage).Arrivals, 10*warm+200+31)
		for i, want := range map[int]time.Duration{
			10 * warm:          time.Duration(warm) * time.Second,
			10*warm + 200:      time.Duration(warm+10) * time.Second,
			10*warm + 200 + 30: time.Duration(warm+11) * time.Second,
		} {
			if off := got[i] - want; off < -1 || off > 1 {
				t.Errorf("stage %d: arrival %d is due at %v, want %v", stage, i, got[i], want)
			}
		}
	}
}

func TestSessionsOfAPlan(t *testing.T) {
	for name, tc := range map[string]struct {
		load  plan.SessionLoad
		slots int
		due   time.Duration // of the second session; negative: whenever there is room
	}{
		"slots":        {plan.SessionLoad{Concurrent: 3, Count: 9}, 3, -1},
		"rate":         {plan.SessionLoad{Rate: 4, Timeout: plan.Duration(time.Minute)}, 0, 250 * time.Millisecond},
		"rate, capped": {plan.SessionLoad{Rate: 4, Concurrent: 5}, 5, 250 * time.Millisecond},
		"all at once":  {plan.SessionLoad{}, 0, 0},
	} {
		p := plan.Default()
		p.Stages = []plan.Stage{{Arrival: plan.ArrivalSessions, Sessions: tc.load}}
		s := compiled(&p, 0)
		due := time.Duration(-1)
		if s.Arrivals != nil {
			s.Arrivals.Next()
			due, _ = s.Arrivals.Next()
		}
		if s.MaxSlots != tc.slots || s.InFlight(0) != tc.slots || due != tc.due || s.Sessions != tc.load.Count ||
			s.Duration != time.Duration(tc.load.Timeout) {
			t.Errorf("%s: the second is due at %v: %+v", name, due, s)
		}
	}
}

// A stage of sessions has the grace in place of the drain time: whatever halts it but its
// last session comes before its time. The grace is never longer than the drain time.
func TestGraceOfAPlan(t *testing.T) {
	for _, c := range []struct {
		stage                plan.Stage
		drain, grace         time.Duration
		wantDrain, wantGrace time.Duration
	}{
		{plan.Stage{Concurrency: 1}, time.Hour, time.Minute, time.Hour, time.Minute},
		{plan.Stage{Concurrency: 1}, time.Second, time.Minute, time.Second, time.Second},
		{plan.Stage{Rate: 1}, time.Hour, 0, time.Hour, 0},
		{plan.Stage{Arrival: plan.ArrivalSessions}, time.Hour, time.Minute, time.Minute, time.Minute},
		{plan.Stage{Arrival: plan.ArrivalSessions}, time.Hour, 0, 0, 0},
	} {
		p := plan.Default()
		p.Stages, p.Drain, p.Grace = []plan.Stage{c.stage}, plan.Duration(c.drain), plan.Duration(c.grace)
		if s := compiled(&p, 0); s.Drain != c.wantDrain || s.Grace != c.wantGrace {
			t.Errorf("%+v: drain %v, grace %v, want %v and %v", c, s.Drain, s.Grace, c.wantDrain, c.wantGrace)
		}
	}
}
