package build

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// answer is a good request that goes at a moment and takes so long.
func answer(i int, due, sent, took time.Duration) *record.Record {
	return &record.Record{
		Seq: int64(i), Prompt: uint64(i + 1), Due: due, Ready: due, Sent: sent, Written: sent, End: sent + took,
		Status: 200, Cached: -1, In: record.Tokens{Local: -1}, Out: record.Tokens{N: 20, Source: record.FromServer, Local: -1},
		Marks:  []record.Read{{Off: 1, Kernel: sent + took, User: sent + took}},
		Events: []record.Event{{Label: record.Whole, Tokens: 20}},
	}
}

// closedLoop is a run of 12 s with 8 in flight whose responses take 200 ms. While the client
// is stopped nothing is sent: a slot that came free is used when it goes on, and Due is then.
func closedLoop(pauses [][2]time.Duration, lateness time.Duration) *world {
	w := healthy()
	w.plan.Stages = []plan.Stage{{Concurrency: 8, Duration: plan.Duration(12 * time.Second)}}
	w.facts.Stages = []record.StageSummary{{StageTimes: record.StageTimes{SendEnd: 12 * time.Second, DrainEnd: 12200 * ms}, Reason: "duration"}}
	w.recs = nil
	for slot := range 8 {
		for at := time.Duration(slot) * 25 * ms; at < 12*time.Second; {
			for _, p := range pauses {
				if at >= p[0] && at < p[1] {
					at = p[1]
				}
			}
			w.recs = append(w.recs, answer(len(w.recs), at, at+50*time.Microsecond, 200*ms))
			at += 200*ms + lateness
		}
	}
	for i := range w.facts.Health {
		h := &w.facts.Health[i]
		for _, p := range pauses {
			if h.At >= p[1] {
				h.Standstill += p[1] - p[0]
				if h.At < p[1]+time.Second {
					h.Pause = p[1] - p[0]
				}
			}
		}
	}
	return w
}

func TestClosedLoopHeld(t *testing.T) {
	s := time.Second
	for _, tt := range []struct {
		name string
		w    *world
		bend func(*world)
		want []string
		says []string
	}{
		{name: "held", w: closedLoop(nil, ms)},
		{
			name: "stopped for 2 × 2 s of 12", w: closedLoop([][2]time.Duration{{2 * s, 4 * s}, {7 * s, 9 * s}}, ms),
			want: []string{"in_flight", "client_stalled", "client_longest_stall"},
			says: []string{"of the requested 8 requests in flight", "was stalled for 4000 ms, 33 % of the time (budget 5 %)", "2000 ms at a time (budget 1000 ms)"},
		},
		{
			name: "no watchdog, as in older files", w: closedLoop([][2]time.Duration{{2 * s, 4 * s}, {7 * s, 9 * s}}, ms),
			bend: func(w *world) {
				for i := range w.facts.Health {
					w.facts.Health[i].Standstill, w.facts.Health[i].Pause = record.Never, 0
				}
			},
			want: []string{"in_flight"},
		},
		{name: "one pause that a busy host makes", w: closedLoop([][2]time.Duration{{2 * s, 2*s + 300*ms}}, ms)},
		{name: "slow to use a free slot", w: closedLoop(nil, 50*ms), want: []string{"in_flight"}, says: []string{"52 ms later on average", "budget 95 %"}},
		{
			name: "slots waited as the server asked", w: closedLoop(nil, 50*ms),
			bend: func(w *world) { w.facts.Stages[0].RetryAfterWaits, w.facts.Stages[0].HeededFor = 384, 384*49*ms },
		},
		{name: "a plan that allows for it", w: closedLoop(nil, 50*ms), bend: func(w *world) { w.plan.Budgets.InFlight = 0.7 }},
		{
			name: "slots wait while users think", w: closedLoop(nil, 50*ms),
			bend: func(w *world) { w.each(func(_ int, r *record.Record) { r.Session = "s" }) },
		},
		{name: "answers that do not end, and hold their slots", w: closedLoop(nil, 2*s),
			bend: func(w *world) { w.each(func(_ int, r *record.Record) { r.Unterminated = true }) }},
		{
			name: "connections are opened in between", w: closedLoop(nil, 50*ms),
			bend: func(w *world) { w.each(func(_ int, r *record.Record) { r.Conn.TLS = 49 * ms }) },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.bend != nil {
				tt.bend(tt.w)
			}
			judged(t, tt.w, tt.want, tt.says)
		})
	}
}

// TestQuickAnswersAreHeld: where answers take 0.1 ms, so does the way to the next request.
func TestQuickAnswersAreHeld(t *testing.T) {
	w := closedLoop(nil, 0)
	w.plan.Stages[0].Concurrency = 1
	w.recs = nil
	for i := range 60_000 {
		at := time.Duration(i) * 200 * time.Microsecond
		w.recs = append(w.recs, answer(i, at, at, 100*time.Microsecond))
	}
	judged(t, w, nil, nil)
}

// openLoop is a stage of 200 requests at 40/s. With a cap, a server of 20/s makes them wait.
func openLoop(gap func() time.Duration, held bool) *world {
	w := healthy()
	w.plan.Stages = []plan.Stage{{Rate: 40, Requests: 200, MaxInFlight: 8}}
	w.recs = nil
	var due, free time.Duration
	for i := range 200 {
		sent := due + 50*time.Microsecond
		if held {
			sent = max(sent, free)
			free = sent + 50*ms
		}
		r := answer(i, due, sent, 100*ms)
		r.Held = max(0, sent-due-50*time.Microsecond)
		w.recs = append(w.recs, r)
		due += gap()
	}
	end := w.recs[199].End
	w.facts.Stages = []record.StageSummary{{StageTimes: record.StageTimes{SendEnd: w.recs[199].Sent, DrainEnd: end}, Scheduled: 200, Reason: "requests"}}
	return w
}

func TestRateHeld(t *testing.T) {
	even := func() time.Duration { return 25 * ms }
	chance := rand.New(rand.NewPCG(3, 4))
	poisson := func() time.Duration { return time.Duration(chance.ExpFloat64() * float64(25*ms)) }
	for _, tt := range []struct {
		name string
		w    *world
		bend func(*world)
		want []string
		says []string
	}{
		{name: "held", w: openLoop(even, false)},
		{name: "held, by chance uneven", w: openLoop(poisson, false)},
		{name: "a cap that makes them wait", w: openLoop(even, true), want: []string{"achieved_rate"}, says: []string{"at 20/s instead of the requested 40/s (budget 99 %)", "max_in_flight (8)"}},
		{
			name: "a trace", w: openLoop(poisson, true), bend: func(w *world) {
				w.plan.Stages[0].Rate, w.plan.Stages[0].Arrival = 0, plan.ArrivalTrace
			},
			want: []string{"achieved_rate"}, says: []string{"of the pace asked for"},
		},
		{
			name: "the last one late", w: openLoop(even, false),
			bend: func(w *world) { w.recs[199].Sent += 200 * ms; w.recs[199].End += 200 * ms; w.recs[199].Held = 200 * ms },
		},
		{
			name: "a few, each a little late", w: openLoop(even, false),
			bend: func(w *world) {
				w.recs = w.recs[:5]
				w.each(func(i int, r *record.Record) { r.Sent += time.Duration(i) * ms / 5 })
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.bend != nil {
				tt.bend(tt.w)
			}
			judged(t, tt.w, tt.want, tt.says)
		})
	}
}

// judged looks which of the checks of the load are over their budgets, and what is said.
func judged(t *testing.T, w *world, want, says []string) {
	t.Helper()
	r := w.build(t)
	load := []string{"achieved_rate", "in_flight", "client_stalled", "client_longest_stall"}
	got := slices.DeleteFunc(broken(&r.Verdict), func(name string) bool { return !slices.Contains(load, name) })
	if !slices.Equal(got, want) {
		t.Fatalf("over budget: %v, want %v: %v", got, want, r.Verdict.Reasons)
	}
	said := strings.Join(r.Verdict.Reasons, "\n")
	for _, s := range says {
		if !strings.Contains(said, s) {
			t.Errorf("%q does not say %q", said, s)
		}
	}
}
