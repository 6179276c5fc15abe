package build

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// shared has a run sent by so many workers, in turn.
func shared(w *world, workers int, bound time.Duration) {
	for i := range workers {
		w.facts.Header.Workers = append(w.facts.Header.Workers, record.WorkerInfo{Name: string(rune('a' + i)), ClockBound: bound})
	}
	for i, r := range w.recs {
		r.Worker = i%workers + 1
	}
	var health []record.Health
	for _, h := range w.facts.Health {
		for i := range workers {
			h.Worker = i + 1
			health = append(health, h)
		}
	}
	w.facts.Health = health
}

// Workers that do not begin together, or whose clocks may be too far apart, did not send the load that was
// asked for.
func TestWorkersSendTogether(t *testing.T) {
	for _, c := range []struct {
		name    string
		workers int
		late    time.Duration
		bound   time.Duration // of each clock
		change  func(*world)
		fails   []string
		says    []string
	}{
		{name: "together", workers: 2, late: 400 * time.Microsecond, bound: 500 * time.Microsecond},
		{name: "at the budgets", workers: 2, late: 5 * ms, bound: 10 * ms},
		{name: "one began late", workers: 2, late: 422 * ms, bound: ms, fails: []string{"start_skew"}, says: []string{"422 ms after the agreed moment", "budget 5", "bring them nearer to NATS"}},
		{name: "within the gaps of the load", workers: 2, late: 20 * ms, bound: ms, change: func(w *world) {
			w.recs = slices.DeleteFunc(w.recs, func(r *record.Record) bool { return r.Seq%20 > 0 })
			w.plan.Stages[0].Concurrency = 2
		}},
		{name: "clocks far apart", workers: 3, bound: 300 * ms, fails: []string{"clock_bound"}, says: []string{"differed by 600 ms", "budget 20"}},
		{name: "budgets of the plan", workers: 2, late: 422 * ms, bound: 200 * ms, change: func(w *world) {
			w.plan.Budgets.StartSkew, w.plan.Budgets.ClockBound = plan.Duration(time.Second), plan.Duration(time.Second)
		}},
		{name: "a bound that no budget makes up for", workers: 2, bound: 300 * ms, change: func(w *world) {
			w.plan.Budgets.ClockBound = plan.Duration(time.Hour)
		}, fails: []string{"clock_bound"}, says: []string{"budget 5"}},
		{name: "one worker has one clock", workers: 1, late: 422 * ms, bound: time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := healthy()
			shared(w, c.workers, c.bound)
			w.facts.Stages[0].StartDelay = c.late
			if c.change != nil {
				c.change(w)
			}
			r := w.build(t)
			published.Fits(t, r)
			var made, failed []string
			for _, k := range r.Verdict.Checks {
				if k.Name == "start_skew" || k.Name == "clock_bound" {
					if made = append(made, k.Name); !k.OK {
						failed = append(failed, k.Name)
					}
				}
			}
			if !slices.Equal(failed, c.fails) || (len(made) == 2) != (c.workers > 1) || len(c.fails) > 0 && r.Verdict.Status != result.Invalid {
				t.Errorf("%s: of %v failed %v, want %v", r.Verdict.Status, made, failed, c.fails)
			}
			said := strings.Join(r.Verdict.Reasons, "\n")
			for _, text := range c.says {
				if !strings.Contains(said, text) {
					t.Errorf("%q does not say %q", said, text)
				}
			}
		})
	}
}

// Rates are over a time that begins by one clock and ends by another; latencies are by one.
func TestClocksInErrorBars(t *testing.T) {
	bars := func(workers int, bound time.Duration) map[string]result.Stat {
		w := healthy()
		if workers > 0 {
			shared(w, workers, bound)
		}
		st := w.build(t).Stages[0]
		if st.Steady == nil {
			t.Fatal("nothing is steady")
		}
		for id, s := range st.Steady.Metrics { // 10 s as well
			if all := st.Metrics[id]; all.Error != nil && math.Abs(s.Off("avg")/s.Avg-all.Off("avg")/all.Avg) > 1e-3 {
				t.Errorf("%s has %+v in the steady part, %+v in all", id, s.Error, all.Error)
			}
		}
		return st.Metrics
	}
	alone, one, two := bars(0, 0), bars(1, 50*ms), bars(2, 50*ms)
	for id := range alone {
		a, o, b := alone[id], one[id], two[id]
		if a.Error == nil {
			continue
		}
		want := a.Off("avg")
		if strings.HasSuffix(id, "_throughput") || id == "request_goodput" {
			// Of about 10.2 s, 100 ms are not certain.
			if share := (b.Off("avg") - a.Off("avg")) / a.Avg; share < 0.0095 || share > 0.0105 {
				t.Errorf("%s can be off by %v of it because of the clocks", id, share)
			}
			want = b.Off("avg")
		}
		if o.Off("avg") != a.Off("avg") || b.Off("avg") != want || b.Off("p99") != a.Off("p99") {
			t.Errorf("%s: %+v alone, %+v by one worker, %+v by two", id, a.Error, o.Error, b.Error)
		}
	}
	if s := bars(2, time.Minute)["request_throughput"]; s.Error["avg"].Lo != 0 {
		t.Errorf("%v lies in %+v", s.Avg, s.Error)
	}
}
