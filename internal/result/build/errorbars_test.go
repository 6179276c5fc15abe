package build

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// busy is a host whose other processes take the cores of the client.
func busy(w *world) {
	for i := range w.facts.Health {
		w.facts.Health[i].CPU = w.facts.Health[i].Allowed / 100
		w.facts.Health[i].CPUWait = w.facts.Health[i].Allowed * 30 / 100
	}
}

// TestErrorBars: each metric says how far the client can have bent it.
func TestErrorBars(t *testing.T) {
	w := healthy()
	w.each(func(_ int, r *record.Record) { r.Written = r.Sent + 200*time.Microsecond })
	r := w.build(t)
	published.Fits(t, r)
	m := r.Stages[0].Metrics
	for id, want := range map[string]float64{
		"time_to_first_token": 0.2, "request_latency": 0.2, "inter_token_latency": 0,
		"request_latency_from_due": 0.25, // with the 50 µs from due to sent
	} {
		if s := m[id]; s.Error == nil || math.Abs(s.Off("avg")-want) > 1e-3 || math.Abs(s.Off("p99")-want) > 1e-6 {
			t.Errorf("%s: error %+v, want %v", id, s.Error, want)
		}
	}
	// A round is 241 ms, of which 80 µs are the client's.
	if s := m["request_throughput"]; s.Off("avg") <= 0 || s.Off("avg") > s.Avg*0.0005 || s.Error["avg"].Lo != s.Avg {
		t.Errorf("throughput %+v", s)
	}
	if m["output_sequence_length"].Error != nil {
		t.Error("a length cannot be bent")
	}
}

// TestBusyHost: a busy host is a note where the kernel's stamps make up for it, and
// INVALID where it can have bent the figures.
func TestBusyHost(t *testing.T) {
	for _, tt := range []struct {
		name  string
		bend  func(*world)
		fails string // "": valid
	}{
		{"stamps not touched", func(*world) {}, ""},
		{"no stamps", func(w *world) {
			w.facts.Header.Kernel = false
			w.each(func(_ int, r *record.Record) {
				for k := range r.Marks {
					r.Marks[k].Kernel = record.Never
				}
			})
		}, "client_error client_cpu"},
		{"wrote late", func(w *world) {
			w.each(func(_ int, r *record.Record) { r.Written = r.Sent + 5*ms })
		}, "client_error"},
		{"wrote a long body", func(w *world) {
			w.each(func(_ int, r *record.Record) { r.Written, r.Size = r.Sent+5*ms, 1<<20 })
		}, ""},
		{"a few wrote late", func(w *world) {
			w.each(func(i int, r *record.Record) {
				if i%200 == 0 {
					r.Written = r.Sent + 5*ms
				}
			})
		}, ""},
		{"sent late", func(w *world) {
			w.each(func(i int, r *record.Record) {
				if i%5 == 0 {
					r.Due -= 8 * ms
				}
			})
		}, "dispatch_delay_p90"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := healthy()
			busy(w)
			tt.bend(w)
			r := w.build(t)
			var failed []string
			for _, c := range r.Verdict.Checks {
				if !c.OK {
					failed = append(failed, c.Name)
				}
			}
			if strings.Join(failed, " ") != tt.fails {
				t.Errorf("failed %v, want %q: %v", failed, tt.fails, r.Verdict.Reasons)
			}
			if said := strings.Join(append(r.Notes, r.Verdict.Reasons...), "\n"); !strings.Contains(said, "short of CPU: it used 1 % of its allowance") {
				t.Error(said)
			}
		})
	}
}
