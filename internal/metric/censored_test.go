package metric

import (
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// hangs is a stream that was cut off at a moment, with nothing but events before it.
func hangs(sent, cut time.Duration, events ...token) *record.Record {
	rec := streamed(sent, events...)
	rec.End = cut
	rec.Failure = &record.Failure{Class: record.CutOff, Message: "still under way", At: cut}
	return rec
}

// TestHangsAreNotLeftOut: where one request in twelve hangs for 40 s and is cut off after 30 s,
// latencies are not those of the others.
func TestHangsAreNotLeftOut(t *testing.T) {
	f := mustFold(t, Options{Times: fixed(0, 10*time.Second)})
	for i := range 1200 {
		sent := time.Duration(i) * 8 * msec
		rec := evenly(sent, 41*msec, msec, 5)
		if i%12 == 0 {
			rec = hangs(sent, 40*time.Second)
		}
		rec.Seq = int64(i)
		f.Add(rec)
	}
	st := summarize(t, f)[0]
	for _, id := range []string{"time_to_first_byte", "time_to_first_event", "time_to_first_token", "time_to_first_output_token", "time_to_first_token_from_due", "request_latency", "request_latency_from_due"} {
		s := st.Whole.Stats[id]
		if s.N != 1100 || s.Censored != 100 || s.Beyond != 100 || s.Avg < 2800 || s.Avg > 3400 {
			t.Errorf("%s: %+v", id, s)
		}
		p90, p95 := s.Quantiles[6], s.Quantiles[7]
		if p90 > 50 || s.Bounds[6] || p95 < 30_000 || p95 > 40_000 || !s.Bounds[7] {
			t.Errorf("%s: p90 %v, p95 %v, bounds %v", id, p90, p95, s.Bounds)
		}
		if steady := st.Steady.Stats[id]; steady.Censored != 0 || steady.Bounds != nil || steady.Avg > 50 {
			t.Errorf("%s in the steady window: %+v", id, steady)
		}
	}
	if s := st.Whole.Stats["inter_token_latency"]; s.Censored != 0 || s.N != 4400 {
		t.Errorf("gaps: %+v", s)
	}
	if u := st.Unfinished; u.Cut != 100 || u.Old != 100 || u.Ancient != 100 || u.Ended != 1100 || u.Longest != 45*msec ||
		u.Oldest != 40*time.Second {
		t.Errorf("%+v", u)
	}
}

// TestHangsThatSomeEndOf: with some of the slow ones seen to their end, the estimate is the truth.
func TestHangsThatSomeEndOf(t *testing.T) {
	f := mustFold(t, Options{})
	for i := range 12_000 {
		sent := time.Duration(i) * msec
		rec := evenly(sent, 41*msec, msec, 1)
		if i%12 == 0 {
			rec = evenly(sent, 40*time.Second, msec, 1)
			if cut := 42 * time.Second; rec.End > cut {
				rec = hangs(sent, cut)
			}
		}
		f.Add(rec)
	}
	s := summarize(t, f)[0].Whole.Stats["time_to_first_token"]
	want := (11*41.0 + 40_000) / 12
	if s.Beyond != 0 || s.Censored == 0 || math.Abs(s.Avg-want) > 0.01*want || s.Quantiles[8] != 40_000 || slices.Contains(s.Bounds, true) {
		t.Errorf("average %v, want %v: %+v", s.Avg, want, s)
	}
}

// TestWhatHadCome: what had come of a request before it was cut off is known, and what else can
// have come of it is not made up.
func TestWhatHadCome(t *testing.T) {
	type want struct {
		seen, censored float64 // in ms; 0: there is none
	}
	const sent, cut = 100 * msec, 1100 * msec
	unstreamed := hangs(sent, cut)
	unstreamed.Streamed = false
	unsent := hangs(sent, cut)
	unsent.Sent = record.Never
	unknown := hangs(sent, cut)
	unknown.Failure.Message = record.StillUnderway + ", with 12 bytes in 1 reads"
	early := hangs(sent, cut, token{at: sent + 7*msec, tokens: 1})
	early.Due = sent - 10*msec
	folded := hangs(sent, cut)
	folded.Tail = &record.Tail{Events: 9, First: sent + 20*msec, Visible: record.Never}
	stopped := hangs(sent, cut)
	stopped.Failure.Class = record.Cancelled
	late := hangs(sent, cut)
	late.Failure.Class = record.TimedOut
	all := want{censored: 1000}
	for _, tt := range []struct {
		name string
		rec  *record.Record
		want map[string]want
	}{
		{"nothing", hangs(sent, cut), map[string]want{
			"time_to_first_byte": all, "time_to_first_event": all, "time_to_first_token": all, "time_to_first_output_token": all,
			"time_to_first_token_from_due": all, "request_latency": all, "request_latency_from_due": all,
		}},
		{"a token", early, map[string]want{
			"time_to_first_byte": {seen: 7}, "time_to_first_event": {seen: 7}, "time_to_first_token": {seen: 7}, "time_to_first_output_token": {seen: 7},
			"time_to_first_token_from_due": {seen: 17}, "request_latency": all, "request_latency_from_due": {censored: 1010},
		}},
		{"a role and reasoning", hangs(sent, cut, token{at: sent + 5*msec, label: record.Role}, token{at: sent + 9*msec, tokens: 1, label: record.Reasoning}), map[string]want{
			"time_to_first_byte": {seen: 5}, "time_to_first_event": {seen: 5}, "time_to_first_token": {seen: 9}, "time_to_first_output_token": all,
			"time_to_first_token_from_due": {seen: 9}, "request_latency": all, "request_latency_from_due": all,
		}},
		{"events that were not kept", folded, map[string]want{
			"time_to_first_byte": all, "time_to_first_event": all, "time_to_first_token": {seen: 20}, "time_to_first_output_token": all,
			"time_to_first_token_from_due": {seen: 20}, "request_latency": all, "request_latency_from_due": all,
		}},
		{"not a stream", unstreamed, map[string]want{"time_to_first_byte": all, "request_latency": all, "request_latency_from_due": all}},
		{"never sent", unsent, map[string]want{"time_to_first_token_from_due": all, "request_latency_from_due": all}},
		{"a record that is missing", unknown, nil},
		{"stopped by the user", stopped, map[string]want{
			"time_to_first_byte": all, "time_to_first_event": all, "time_to_first_token": all, "time_to_first_output_token": all,
			"time_to_first_token_from_due": all, "request_latency": all, "request_latency_from_due": all,
		}},
		{"a time-out", late, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := mustFold(t, Options{Targets: 2})
			for range 3 {
				f.Add(evenly(0, 3*msec, 3*msec, 2))
			}
			f.Add(tt.rec)
			st := summarize(t, f)[0]
			for _, d := range Defs() {
				s, w := st.Whole.Stats[d.ID], tt.want[d.ID]
				if d.Failed || d.Rate != nil {
					continue
				}
				switch {
				case w.censored == 0 && (s.Censored != 0 || s.Bounds != nil):
					t.Errorf("%s: %+v, want none censored", d.ID, s)
				case w.censored > 0 && (s.Censored != 1 || s.Beyond != 1 || s.Max != w.censored):
					t.Errorf("%s: %+v, want one of at least %v", d.ID, s, w.censored)
				}
				if w.seen > 0 && (s.N != 4 || s.Max != w.seen) {
					t.Errorf("%s: %+v, want one of %v", d.ID, s, w.seen)
				}
			}
			if got, want := st.Targets[0].Stats["request_latency"].Censored, st.Whole.Stats["request_latency"].Censored; got != want {
				t.Errorf("its target has %d censored latencies, want %d", got, want)
			}
			if got, want := st.Targets[0].Stats["time_to_first_token"].N, st.Whole.Stats["time_to_first_token"].N; got != want {
				t.Errorf("its target has %d first tokens, want %d", got, want)
			}
		})
	}
}

// TestCensoredMerge: it does not matter which fold saw a request that did not end.
func TestCensoredMerge(t *testing.T) {
	add := func(folds ...*Aggregator) StageStats {
		for i := range 60 {
			rec := evenly(time.Duration(i)*msec, 10*msec, msec, 3)
			if i%7 == 0 {
				rec = hangs(time.Duration(i)*msec, time.Second+time.Duration(i%3)*msec)
			}
			rec.Seq, rec.Target = int64(i), i%2
			folds[i%len(folds)].Add(rec)
		}
		for _, o := range folds[1:] {
			if err := folds[0].Merge(o); err != nil {
				t.Fatal(err)
			}
		}
		return summarize(t, folds[0])[0]
	}
	opts := Options{Targets: 2}
	one, three := add(mustFold(t, opts)), add(mustFold(t, opts), mustFold(t, opts), mustFold(t, opts))
	for _, id := range []string{"request_latency", "time_to_first_token"} {
		a, b := one.Whole.Stats[id], three.Whole.Stats[id]
		if a.Censored != 9 || a.Censored != b.Censored || a.Avg != b.Avg || a.Std != b.Std || !slices.Equal(a.Quantiles, b.Quantiles) ||
			!slices.Equal(a.Bounds, b.Bounds) {
			t.Errorf("%s: %+v, want %+v", id, b, a)
		}
		for k := range one.Targets {
			if a, b := one.Targets[k].Stats[id], three.Targets[k].Stats[id]; a.Censored == 0 || a.Censored != b.Censored || a.Avg != b.Avg {
				t.Errorf("target %d, %s: %+v, want %+v", k, id, b, a)
			}
		}
	}
	if one.Unfinished != three.Unfinished {
		t.Errorf("%+v, want %+v", three.Unfinished, one.Unfinished)
	}
}

// TestIntervalsOfCutRequests: the first token that came before a request was cut off has its own place
// in time, whichever fold saw it.
func TestIntervalsOfCutRequests(t *testing.T) {
	intervals := func(n int) map[string]estimate.Interval {
		folds := make([]*Aggregator, n)
		for i := range folds {
			folds[i] = mustFold(t, Options{})
		}
		for i := range 300 {
			rec := evenly(time.Duration(i)*msec, time.Duration(10+i*37%11)*msec, msec, 3)
			if rec.Seq = int64(i); i%7 == 0 {
				rec.Failure = &record.Failure{Class: record.CutOff, At: rec.End}
			}
			folds[i%n].Add(rec)
		}
		for _, o := range folds[1:] {
			if err := folds[0].Merge(o); err != nil {
				t.Fatal(err)
			}
		}
		sums := summarize(t, folds[0])
		if err := folds[0].Intervals(0, &sums[0]); err != nil {
			t.Fatal(err)
		}
		return sums[0].Whole.Stats["time_to_first_token"].Intervals
	}
	if one, three := intervals(1), intervals(3); len(one) == 0 || !maps.Equal(one, three) {
		t.Errorf("by three folds %+v, by one %+v", three, one)
	}
}
