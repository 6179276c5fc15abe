package sweep

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// at is a request that went and ended at these moments.
func at(sent, end time.Duration) Sample {
	return Sample{Due: sent, Sent: sent, Written: sent, Start: end, First: end, End: end, Closed: end, Responses: 1}
}

func TestWindowMembership(t *testing.T) {
	samples := []Sample{at(1, 2), at(3, 5), at(6, 9), at(10, 14), at(15, 20), at(21, 27)}
	w := WindowBetween(samples, 4, 17, 0)
	if w.Requests != 3 || w.Latency.Min != 2 || w.Latency.Avg != 3 || w.Latency.Max != 4 {
		t.Errorf("got %+v, want the latencies 2, 3 and 4", w)
	}
	if got := w.Throughput * 13e-9; got < 2.999 || got > 3.001 {
		t.Errorf("throughput %v, want 3 requests in 13 ns", w.Throughput)
	}
	// An edge belongs to the window that it ends, so that no request is in two.
	if a, b := WindowBetween(samples, 0, 9, 0), WindowBetween(samples, 9, 30, 0); a.Requests != 3 || b.Requests != 3 {
		t.Errorf("%d and %d requests, want 3 and 3", a.Requests, b.Requests)
	}
}

// differs: pa-delayed
func TestWindowLeavesOutWhatIsNotMeasured(t *testing.T) {
	failed, warm, streamed := at(1, 5), at(1, 5), at(1, 5)
	failed.Failed, warm.Warmup = true, true
	streamed.Responses, streamed.First, streamed.Due = 4, 2, -2*time.Millisecond
	w := WindowBetween([]Sample{failed, warm, streamed}, 0, 10, 0)
	if w.Requests != 1 || w.Failed != 1 || w.Responses != 4 || w.Delayed != 1 {
		t.Errorf("got %+v", w)
	}
	if w.First == nil || w.First.Avg != 1 || w.FromDue.Avg != 5+2*time.Millisecond {
		t.Errorf("first response %+v, from due %+v", w.First, w.FromDue)
	}
}

// differs: pa-one-request-deviation
func TestMeanAndDeviation(t *testing.T) {
	for _, c := range []struct {
		values []int64
		avg    time.Duration
		std    time.Duration // in whole microseconds
	}{
		{[]int64{100000, 200000, 50000}, 116666, 76 * time.Microsecond},
		{[]int64{4.3e9, 4.4e9, 5e9}, 4566666666, 378593 * time.Microsecond},
		{[]int64{7}, 7, 0},
	} {
		s := spread(slices.Clone(c.values), nil)
		if s.Avg != c.avg || s.Std.Truncate(time.Microsecond) != c.std {
			t.Errorf("%v: mean %d, deviation %d", c.values, s.Avg, s.Std)
		}
	}
}

func TestPercentilesAreNearest(t *testing.T) {
	var values []int64
	for i := range int64(101) {
		values = append(values, 100-i)
	}
	s := spread(values, percentiles(75))
	want := []Percentile{{50, 50}, {75, 75}, {90, 90}, {95, 95}, {99, 99}}
	if diff := cmp.Diff(want, s.Percentiles); diff != "" {
		t.Error(diff)
	}
	if v := spread([]int64{1, 2}, []int{50}).Percentiles[0].Value; v != 2 {
		t.Errorf("the median of two is %d: ⌊0.5·1 + 0.5⌋ is the second", v)
	}
	if got := percentiles(95); !slices.Equal(got, []int{50, 90, 95, 99}) {
		t.Errorf("got %v", got)
	}
}

// windows of a throughput and a latency each.
func windows(pairs ...[2]float64) []Window {
	var out []Window
	for _, p := range pairs {
		out = append(out, Window{Requests: 10, Throughput: p[0],
			Latency: LatencyStats{Avg: time.Duration(p[1] * float64(time.Millisecond)),
				Percentiles: []Percentile{{P: 95, Value: time.Duration(2 * p[1] * float64(time.Millisecond))}}}})
	}
	return out
}

func TestStability(t *testing.T) {
	m := plan.DefaultMeasurement()
	for _, c := range []struct {
		name    string
		change  func(*plan.Measurement)
		windows []Window
		want    record.StopReason
	}{
		{"two windows are too few", nil, windows([2]float64{100, 1}, [2]float64{100, 1}), ""},
		{"within ten per cent", nil, windows([2]float64{100, 1}, [2]float64{104, 1}, [2]float64{108, 1}), record.StopStable},
		{"twelve per cent", nil, windows([2]float64{100, 1}, [2]float64{106, 1}, [2]float64{112, 1}), ""},
		{"latency is apart", nil, windows([2]float64{100, 1}, [2]float64{100, 1.2}, [2]float64{100, 1}), ""},
		{"only the last three count", nil, windows([2]float64{1, 9}, [2]float64{100, 1}, [2]float64{100, 1}, [2]float64{100, 1}), record.StopStable},
		{"a wide bound", func(m *plan.Measurement) { m.Stability = 9.99 }, windows([2]float64{100, 1}, [2]float64{500, 5}, [2]float64{1000, 2}), record.StopStable},
		{"over the threshold, unstable", func(m *plan.Measurement) { m.LatencyThreshold = plan.Duration(2 * time.Millisecond) },
			windows([2]float64{100, 1}, [2]float64{100, 2}, [2]float64{100, 1}), record.StopThreshold},
		{"a percentile over the threshold", func(m *plan.Measurement) { m.LatencyThreshold, m.Percentile = plan.Duration(3*time.Millisecond), 95 },
			windows([2]float64{100, 1}, [2]float64{100, 2}, [2]float64{100, 1}), record.StopThreshold},
		{"below the threshold", func(m *plan.Measurement) { m.LatencyThreshold = plan.Duration(3 * time.Millisecond) },
			windows([2]float64{100, 1}, [2]float64{100, 2}, [2]float64{100, 1}), ""},
		{"out of trials", func(m *plan.Measurement) { m.MaxTrials = 3 }, windows([2]float64{100, 1}, [2]float64{100, 2}, [2]float64{100, 1}), record.StopTrials},
		{"out of trials, throughput agrees", func(m *plan.Measurement) { m.MaxTrials, m.ThroughputAlone = 3, true },
			windows([2]float64{100, 1}, [2]float64{100, 2}, [2]float64{100, 1}), record.StopThroughput},
		{"out of trials, throughput does not agree", func(m *plan.Measurement) { m.MaxTrials, m.ThroughputAlone = 3, true },
			windows([2]float64{100, 1}, [2]float64{200, 2}, [2]float64{100, 1}), record.StopTrials},
		{"fewer trials than windows", func(m *plan.Measurement) { m.MaxTrials, m.ThroughputAlone = 2, true }, windows([2]float64{100, 1}, [2]float64{100, 1}), record.StopTrials},
		{"an empty window", nil, append(windows([2]float64{100, 1}), Window{}), record.StopEmpty},
	} {
		m := m
		if c.change != nil {
			c.change(&m)
		}
		if got := (judge{m}).after(c.windows); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// levels runs a search in which levels up to a bound pass.
func levels(l plan.Levels, whole bool, bound float64) []float64 {
	s := NewSearch(l, whole)
	var got []float64
	for {
		v, ok := s.Next()
		if !ok || len(got) > 100 {
			return got
		}
		got = append(got, v)
		s.Observe(v <= bound)
	}
}

func TestSearch(t *testing.T) {
	binary := func(start, end, step float64) plan.Levels {
		return plan.Levels{Start: start, End: end, Step: step, Search: plan.SearchBinary}
	}
	for _, c := range []struct {
		name  string
		l     plan.Levels
		whole bool
		bound float64
		want  []float64
	}{
		{"a list goes on whatever happens", plan.Levels{List: []float64{1, 8, 4}}, true, 2, []float64{1, 8, 4}},
		{"a range", plan.Levels{Start: 6, End: 8, Step: 1}, true, 100, []float64{6, 7, 8}},
		{"a step beyond the end", plan.Levels{Start: 1, End: 4, Step: 2}, true, 100, []float64{1, 3}},
		{"a range ends at the first that fails", plan.Levels{Start: 1, End: 8, Step: 1}, true, 3, []float64{1, 2, 3, 4}},
		{"no end but the threshold", plan.Levels{Start: 1, Step: 10}, true, 35, []float64{1, 11, 21, 31, 41}},
		{"rates", plan.Levels{Start: 0.1, End: 0.4, Step: 0.1}, false, 100, []float64{0.1, 0.2, 0.3, 0.4}},
		{"binary: the start fails", binary(4, 16, 1), true, 1, []float64{4}},
		{"binary: the end passes", binary(4, 16, 1), true, 16, []float64{4, 16}},
		// differs: pa-search-down
		{"binary", binary(1, 16, 1), true, 11, []float64{1, 16, 8, 12, 10, 11}},
		{"binary with a wide step", binary(1, 16, 4), true, 11, []float64{1, 16, 8, 12}},
		{"binary rates", binary(1, 2, 0.2), false, 1.3, []float64{1, 2, 1.5, 1.25, 1.375}},
		{"binary: one level", binary(4, 4, 1), true, 16, []float64{4}},
	} {
		got := levels(c.l, c.whole, c.bound)
		if !cmp.Equal(c.want, got, cmpopts.EquateApprox(0, 1e-12)) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if most := MaxLevels(c.l); len(got) > most {
			t.Errorf("%s: %d levels, said to be %d at most", c.name, len(got), most)
		}
	}
}

func TestSampleOf(t *testing.T) {
	// differs: pa-comments
	rec := &record.Record{
		Due: 1, Sent: 2, Written: 3, End: 50, Phase: record.Warmup,
		Marks: []record.Read{{Kernel: 10, User: 11}, {Kernel: 20, User: 21}, {Kernel: record.Never, User: 30}, {Kernel: 40, User: 41}},
		Events: []record.Event{{Mark: 0, Label: record.Comment}, {Mark: 1, Label: record.Role}, {Mark: 2, Label: record.Content},
			{Mark: 3, Label: record.Done}},
	}
	want := Sample{Due: 1, Sent: 2, Written: 3, Start: 10, First: 20, End: 30, Closed: 50, Responses: 2, Warmup: true}
	if diff := cmp.Diff(want, SampleOf(rec)); diff != "" {
		t.Error(diff)
	}
	if last := SampleOf(&record.Record{Sent: 1, End: 9, Session: "7", Turn: 4, Ends: true}); !last.Ends {
		t.Error("the last request of a sequence does not end it")
	}
	if w := WindowBetween([]Sample{{Sent: 1, End: 2, Responses: 1, Ends: true}, {Sent: 1, End: 3, Responses: 1}}, 0, 5, 0); w.Sequences != 1 {
		t.Errorf("%d sequences, want 1", w.Sequences)
	}
	// A response without text is a response; a stream that only ends has none.
	// differs: pa-no-response
	rec.Events = []record.Event{{Mark: 0, Label: record.Content}, {Mark: 1, Label: record.Empty}, {Mark: 2, Label: record.Finish},
		{Mark: 3, Label: record.Done}}
	if s := SampleOf(rec); s.Responses != 3 || s.End != 30 {
		t.Errorf("%d responses until %d, want 3 until 30", s.Responses, s.End)
	}
	silent := SampleOf(&record.Record{Sent: 1, End: 9, Streamed: true, Marks: []record.Read{{Kernel: 8}},
		Events: []record.Event{{Label: record.Done}}})
	if w := WindowBetween([]Sample{silent, {Sent: 1, End: 3, Responses: 2}}, 0, 10, 0); silent.Responses != 0 || w.Requests != 1 ||
		w.Empty != 1 || w.Responses != 2 {
		t.Errorf("a request without a response: %+v in %+v", silent, w)
	}
	bare := SampleOf(&record.Record{Sent: 1, End: 9})
	if bare.End != 9 || bare.First != 9 || bare.Responses != 1 || bare.Failed {
		t.Errorf("without events: %+v", bare)
	}
	if s := SampleOf(&record.Record{Sent: record.Never, End: 9}); !s.Failed || s.Responses != 0 {
		t.Errorf("never sent: %+v", s)
	}
}

// bench is a meter with a load that is made up.
type bench struct {
	*Meter
	start  time.Time
	edges  []record.Edge
	passes []Window
	fails  func(at time.Duration, i int) bool // nil: nothing does
}

func newBench(m plan.Measurement) *bench {
	b := &bench{start: time.Now()}
	b.Meter = &Meter{
		Plan: m, Log: NewLog(), Now: func() time.Duration { return time.Since(b.start) },
		Settle: func(context.Context) {},
		Edge:   func(e record.Edge) { b.edges = append(b.edges, e) },
		Window: func(_ int, w Window) { b.passes = append(b.passes, w) },
	}
	b.Log.Begin(0)
	return b
}

// load sends requests one after the other until ctx ends: latency says how long the
// i-th takes.
func (b *bench) load(ctx context.Context, latency func(i int) time.Duration) {
	for i := 0; ctx.Err() == nil; i++ {
		sent := b.Now()
		time.Sleep(latency(i))
		rec := &record.Record{Due: sent, Sent: sent, Written: sent, End: b.Now()}
		if b.fails != nil && b.fails(b.Now(), i) {
			rec.Failure = new(record.Failure)
		}
		b.Log.Add(rec)
	}
}

// measure runs a level under a load.
func (b *bench) measure(latency func(i int) time.Duration) *Level {
	ctx, cancel := context.WithCancel(context.Background())
	go b.load(ctx, latency)
	l := b.Run(ctx, 0, 1, 0)
	cancel()
	synctest.Wait()
	time.Sleep(time.Minute) // what is in flight ends
	b.Finish(context.Background(), l, 0)
	return l
}

func TestMeterByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := plan.DefaultMeasurement()
		m.Interval = plan.Duration(time.Second)
		b := newBench(m)
		l := b.measure(func(int) time.Duration { return 40 * time.Millisecond })
		if l.Ended != record.StopStable || !l.Passed || len(l.Windows) != 3 || len(b.passes) != 3 || len(b.edges) != 4 {
			t.Fatalf("ended %q, passed %v, %d windows, %d edges", l.Ended, l.Passed, len(l.Windows), len(b.edges))
		}
		if l.Merged.Requests != 75 || l.Merged.Throughput != 25 || l.Merged.Latency.Avg != 40*time.Millisecond {
			t.Errorf("merged %+v: want 75 requests in 3 s", l.Merged)
		}
		if b.edges[3].At != 3*time.Second || l.Windows[1].Begin != time.Second || l.Windows[1].End != 2*time.Second {
			t.Errorf("edges %+v: want one each second, without a gap", b.edges)
		}
	})
}

// differs: pa-window-length
func TestMeterFaithfulWindowsLastLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := plan.DefaultMeasurement()
		m.Interval, m.Faithful = plan.Duration(10*time.Second), true
		b := newBench(m)
		l := b.measure(func(int) time.Duration { return 100 * time.Millisecond })
		if got := l.Merged.End - l.Merged.Begin; got != 36*time.Second {
			t.Errorf("three windows of 10 s took %v, want 36 s", got)
		}
	})
}

func TestMeterByCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := plan.DefaultMeasurement()
		m.Mode, m.Requests = plan.WindowCount, 10
		b := newBench(m)
		l := b.measure(func(int) time.Duration { return 30 * time.Millisecond })
		if l.Ended != record.StopStable || l.Merged.Requests != 30 || l.Merged.End != 900*time.Millisecond {
			t.Errorf("ended %q, merged %+v: want 30 requests in 0.9 s", l.Ended, l.Merged)
		}
		for i, w := range l.Windows {
			if w.Requests != 10 {
				t.Errorf("window %d has %d requests, want 10", i, w.Requests)
			}
		}
	})
}

// Counted windows at a rate have as many requests per second as are sent, the first of them too,
// which begins with a request.
func TestMeterByCountAtARate(t *testing.T) {
	for _, latency := range []time.Duration{5 * time.Millisecond, 180 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			m := plan.DefaultMeasurement()
			m.Mode, m.Requests = plan.WindowCount, 6
			b := newBench(m)
			b.Paced, b.Gap = true, 50*time.Millisecond
			ctx, cancel := context.WithCancel(context.Background())
			go func() {
				for ; ctx.Err() == nil; time.Sleep(b.Gap) {
					due := b.Now()
					time.AfterFunc(latency, func() { b.Log.Add(&record.Record{Due: due, Sent: due, Written: due, End: b.Now()}) })
				}
			}()
			l := b.Run(ctx, 0, 20, 0)
			cancel()
			time.Sleep(time.Second)
			b.Finish(context.Background(), l, 0)
			for i, w := range l.Windows {
				got := float64(w.Requests) / (w.End - w.Begin).Seconds()
				if w.Requests != 6 || got > 20 || got < 19.9 && (i > 0 || latency < b.Gap) {
					t.Errorf("latency %v, window %d: %d requests in %v, which are %.2f per second, want 20", latency, i, w.Requests, w.End-w.Begin, got)
				}
			}
		})
	}
}

// differs: pa-counted-window
func TestMeterByCountFaithful(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := plan.DefaultMeasurement()
		m.Mode, m.Requests, m.Faithful = plan.WindowCount, 10, true
		b := newBench(m)
		l := b.measure(func(int) time.Duration { return 160 * time.Millisecond })
		// Ten requests take 1.6 s, and the end is looked for once a second.
		if l.Windows[0].End != 2*time.Second || l.Windows[0].Requests != 12 {
			t.Errorf("first window %+v", l.Windows[0])
		}
	})
}

// A server that does nothing but fail does not hold up a counted window for ever. One that
// fails for a moment, or now and then, does not end it.
// differs: pa-failed-request
func TestMeterByCountOfFailures(t *testing.T) {
	for _, faithful := range []bool{false, true} {
		for _, c := range []struct {
			name  string
			fails func(at time.Duration, i int) bool
			ended record.StopReason
		}{
			{"from the first on", func(time.Duration, int) bool { return true }, record.StopEmpty},
			{"from then on", func(at time.Duration, _ int) bool { return at > 150*time.Millisecond }, record.StopEmpty},
			{"for a moment", func(at time.Duration, _ int) bool { return at > 150*time.Millisecond && at < time.Second }, record.StopStable},
			{"nine of ten", func(_ time.Duration, i int) bool { return i%10 > 0 }, record.StopStable},
		} {
			synctest.Test(t, func(t *testing.T) {
				m := plan.DefaultMeasurement()
				m.Mode, m.Requests, m.Faithful, m.Stability = plan.WindowCount, 10, faithful, 99
				b := newBench(m)
				b.fails = c.fails
				l := b.measure(func(int) time.Duration { return 10 * time.Millisecond })
				if l.Ended != c.ended || !faithful && c.ended == record.StopStable && l.Merged.Requests != 30 {
					t.Errorf("%s, faithful %v: ended %q after %+v", c.name, faithful, l.Ended, l.Windows)
				}
				if last := l.Windows[len(l.Windows)-1]; c.ended == record.StopEmpty &&
					(last.Requests != 0 || last.Failed < hopeless || last.End-last.Begin > 3*time.Second) {
					t.Errorf("%s, faithful %v: the last window is %+v", c.name, faithful, last)
				}
			})
		}
	}
}

func TestMeterNeverStable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := plan.DefaultMeasurement()
		m.Interval, m.MaxTrials = plan.Duration(time.Second), 5
		b := newBench(m)
		l := b.measure(func(i int) time.Duration { return 10*time.Millisecond + time.Duration(i)*time.Millisecond/2 })
		if l.Ended != record.StopTrials || l.Passed || len(l.Windows) != 5 || l.Merged == nil || l.Merged.Requests == 0 {
			t.Errorf("ended %q, passed %v, %d windows, merged %+v", l.Ended, l.Passed, len(l.Windows), l.Merged)
		}
	})
}

func TestMeterThresholdIsNeverMet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := plan.DefaultMeasurement()
		m.Interval, m.LatencyThreshold = plan.Duration(time.Second), plan.Duration(50*time.Millisecond)
		b := newBench(m)
		l := b.measure(func(int) time.Duration { return 50 * time.Millisecond })
		if l.Passed || len(l.Windows) != 3 || l.Measured() != 50*time.Millisecond {
			t.Errorf("ended %q, passed %v, latency %v", l.Ended, l.Passed, l.Measured())
		}
	})
}

func TestMeterServerDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := plan.DefaultMeasurement()
		m.Interval = plan.Duration(time.Second)
		b := newBench(m)
		l := b.measure(func(i int) time.Duration {
			if i >= 25 {
				return 10 * time.Second
			}
			return 40 * time.Millisecond
		})
		if l.Ended != record.StopEmpty || l.Passed || len(l.Windows) != 2 || l.Windows[0].Requests != 25 {
			t.Errorf("ended %q after %+v", l.Ended, l.Windows)
		}
	})
}

// What stands in the records is enough to make the level again.
func TestFromEdges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := plan.DefaultMeasurement()
		m.Interval, m.Stability = plan.Duration(time.Second), 0.05
		b := newBench(m)
		var samples []Sample
		b.Settle = func(context.Context) {
			b.Log.mu.Lock()
			defer b.Log.mu.Unlock()
			for _, s := range b.Log.samples {
				if !slices.Contains(samples, s) {
					samples = append(samples, s)
				}
			}
		}
		live := b.measure(func(i int) time.Duration { return max(60-time.Duration(i), 20) * time.Millisecond })
		b.Settle(t.Context())
		again := FromEdges(m, b.edges, samples, live.Ended)
		if len(live.Windows) < 4 {
			t.Fatalf("only %d windows", len(live.Windows))
		}
		if diff := cmp.Diff(live, again, cmpopts.IgnoreUnexported(Level{})); diff != "" {
			t.Errorf("live and again:\n%s", diff)
		}
	})
}

func TestTapeForgets(t *testing.T) {
	log := NewLog()
	log.Begin(1)
	for i := range 10 {
		log.Add(&record.Record{Stage: i % 2, Sent: 1, End: time.Duration(i)})
	}
	if w := log.Cut(0, 100, 0); w.Requests != 5 {
		t.Errorf("%d requests of the stage, want 5", w.Requests)
	}
	log.Forget(5)
	if w := log.Cut(0, 100, 0); w.Requests != 5 || !log.Knows(0) {
		t.Errorf("%d requests: a short log forgot something", w.Requests)
	}
	log.samples = append(log.samples, make([]Sample, most)...)
	log.Forget(5)
	if w := log.Cut(0, 100, 0); w.Requests != 2 || log.Knows(4) || !log.Knows(5) {
		t.Errorf("%d requests after forgetting, want 2", w.Requests)
	}
}
