package metric

import (
	"math"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// The samples of requests one by one are those that a fold summarizes.
func TestReaderAgreesWithFold(t *testing.T) {
	opts := Options{Closed: []bool{true}, Local: true, Times: fixed(0, time.Hour)}
	f, r := mustFold(t, opts), NewReader(opts)
	counts, sums := map[string]int64{}, map[string]float64{}
	for i := range 20 {
		rec := evenly(time.Duration(i)*msec, 10*msec, time.Duration(i+1)*msec, 5)
		rec.Out.Local = 5 + i
		switch i {
		case 7:
			rec = failed(rec, record.Stalled, 0, "")
		case 8:
			rec.Tail = &record.Tail{}
		}
		f.Add(rec)
		q := r.Read(rec)
		for _, d := range Defs() {
			d.Each(q, func(v int64) { counts[d.ID]++; sums[d.ID] += float64(v) / d.Scale })
		}
	}
	for _, s := range summarize(t, f)[0].Whole.Stats {
		if s.Def.Rate == nil && (s.N != counts[s.Def.ID] || math.Abs(s.Avg*float64(s.N)-sums[s.Def.ID]) > 1e-6*float64(s.N)) {
			t.Errorf("%s: %d samples, sum %v; the fold has %d, %v", s.Def.ID, counts[s.Def.ID], sums[s.Def.ID], s.N, s.Avg*float64(s.N))
		}
	}
	if counts["inter_token_latency"] == 0 {
		t.Error("there are no gaps")
	}
}

// A stream of which no event was kept one by one has the figures that its tail has.
func TestNothingKept(t *testing.T) {
	rec := evenly(0, 10*msec, msec, 5)
	tail := &record.Tail{Events: 3, Tokens: 1, First: 10 * msec, Last: 30 * msec, Visible: 10 * msec}
	tail.Gaps.Add(int64(5 * msec))
	tail.Gaps.Add(int64(15 * msec))
	rec.Events, rec.Tail, rec.Out = nil, tail, record.Tokens{N: 3, Source: record.FromServer, Local: -1}
	r := NewReader(Options{}).Read(rec)
	for id, want := range map[string]float64{"time_to_first_token": 10, "inter_token_latency": 10, "longest_gap": 15, "time_per_output_token": 10} {
		d, _ := ByID(id)
		if got, ok := d.Value(r); !ok || got != want {
			t.Errorf("%s: %v, %v, want %v", id, got, ok, want)
		}
	}
	d, _ := ByID("inter_token_latency")
	if n := d.Samples(r); n != 2 {
		t.Errorf("%d samples", n)
	}
	for range r.TokenEvents() {
		t.Error("an event out of nowhere")
	}
}

// What single requests have is what an objective is compared with, and none of a failed one.
func TestSingleRequests(t *testing.T) {
	good := evenly(0, 10*msec, 4*msec, 5)
	opts := Options{SLOs: []plan.SLO{{Metric: "inter_token_latency", Max: plan.Duration(4 * msec)}}, Times: fixed(0, time.Second)}
	for _, c := range []struct {
		name         string
		rec          *record.Record
		good, steady bool
		gaps         int
	}{
		{"good", good, true, true, 4},
		{"slow", evenly(0, 10*msec, 5*msec, 5), false, true, 4},
		{"failed", failed(evenly(0, 10*msec, 4*msec, 5), record.Stalled, 0, ""), false, true, 0},
		{"late", evenly(time.Second, 10*msec, 4*msec, 5), true, false, 4},
	} {
		r := NewReader(opts)
		q := r.Read(c.rec)
		isGood, judged := r.Good()
		gaps := 0
		for i, gap := range q.TokenEvents() {
			if gap != record.Never {
				gaps++
			} else if i != 0 {
				t.Errorf("%s: event %d has no gap", c.name, i)
			}
		}
		if isGood != c.good || !judged || r.Steady() != c.steady || gaps != c.gaps {
			t.Errorf("%s: good %v, judged %v, steady %v, %d gaps", c.name, isGood, judged, r.Steady(), gaps)
		}
		d, _ := ByID("time_to_first_token")
		if _, has := d.Value(q); has != (c.rec.Failure == nil) {
			t.Errorf("%s: has a time to first token: %v", c.name, has)
		}
	}
}
