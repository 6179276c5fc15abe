package metric

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// TestFormulas folds one request each and reads its metrics off.
func TestFormulas(t *testing.T) {
	t0 := 1000 * msec
	reasoning := streamed(t0,
		token{t0 + 20*msec, 0, record.Role, false},
		token{t0 + 50*msec, 1, record.Reasoning, false},
		token{t0 + 60*msec, 1, record.Reasoning, false},
		token{t0 + 80*msec, 3, record.Content, false},
		token{t0 + 81*msec, 0, record.Usage, false},
		token{t0 + 82*msec, 0, record.Done, false},
	)
	reasoning.Due = t0 - 5*msec
	reasoning.Held = 2 * msec
	reasoning.Conn = record.Conn{Connect: msec, TLS: 1500 * time.Microsecond}
	reasoning.Cached = 64

	unknown := streamed(t0, token{t0 + 10*msec, -1, record.Content, false}, token{t0 + 30*msec, -1, record.Content, false})
	unknown.Out = record.Tokens{N: 5, Source: record.FromServer, Local: -1}

	ends := *unknown
	ends.Sparse = true
	sparse := &ends

	unstreamed := streamed(t0, token{t0 + 40*msec, 16, record.Whole, false})

	stalling := streamed(t0,
		token{t0 + 10*msec, 1, record.Content, false}, token{t0 + 20*msec, 1, record.Content, false},
		token{t0 + 30*msec, 1, record.Content, false}, token{t0 + 90*msec, 1, record.Content, false},
		token{t0 + 100*msec, 1, record.Content, false}, token{t0 + 110*msec, 1, record.Content, false})

	uncounted := streamed(t0, token{t0 + 40*msec, -1, record.Whole, false})
	uncounted.Out, uncounted.In = record.Tokens{}, record.Tokens{}

	const none = -12345
	for _, c := range []struct {
		name string
		rec  *record.Record
		want map[string]float64
	}{
		{"reasoning", reasoning, map[string]float64{
			"time_to_first_byte": 20, "time_to_first_event": 20, "time_to_first_token": 50,
			"time_to_first_output_token": 80, "time_to_second_token": 10,
			"time_to_first_token_from_due": 55, "request_latency": 82, "request_latency_from_due": 87,
			"inter_token_latency": 7.5, "inter_event_latency": 15, "time_per_output_token": 7.5,
			"normalized_time_per_output_token": 16.4, "longest_gap": 20, "stall_share": 0,
			"tokens_per_event": 5.0 / 3, "output_token_throughput_per_user": 4 / 0.030,
			"output_sequence_length": 5, "input_sequence_length": 100, "cached_prompt_tokens": 64,
			"lag": 5, "slot_wait": 2, "dispatch_delay": 0.5, "read_delay": 0.01,
			"resolve_time": none, "connect_time": 1, "tls_time": 1.5,
			"request_throughput": 1 / 0.082, "output_token_throughput": 5 / 0.082,
			"input_token_throughput": 100 / 0.082, "total_token_throughput": 105 / 0.082,
			"concurrency": 1, "error_rate": 0, "request_count": 1, "request_goodput": none, "slo_attainment": none,
		}},
		{"tokens of events unknown", unknown, map[string]float64{
			"inter_token_latency": none, "inter_event_latency": 20, "time_per_output_token": 5, "tokens_per_event": 2.5,
		}},
		{"only its ends known", sparse, map[string]float64{
			"time_to_first_token": 10, "time_per_output_token": 5, "output_token_throughput_per_user": 200, "inter_token_latency": none, "inter_event_latency": none,
			"longest_gap": none, "stall_share": none, "tokens_per_event": none, "time_to_second_token": none,
		}},
		{"not streamed", unstreamed, map[string]float64{
			"time_to_first_token": none, "time_to_first_event": none, "time_to_first_output_token": none,
			"inter_token_latency": none, "inter_event_latency": none, "longest_gap": none, "stall_share": none,
			"time_per_output_token": none, "tokens_per_event": none, "output_token_throughput_per_user": none,
			"time_to_first_byte": 40, "request_latency": 40, "output_sequence_length": 16, "normalized_time_per_output_token": 2.5,
			"cached_prompt_tokens": none, "slot_wait": none, "connect_time": none,
		}},
		{"stalling", stalling, map[string]float64{"stall_share": 0.6, "longest_gap": 60, "inter_token_latency": 20}},
		{"nothing counted", uncounted, map[string]float64{
			"output_sequence_length": none, "input_sequence_length": none, "output_token_throughput": none,
			"input_token_throughput": none, "total_token_throughput": none, "normalized_time_per_output_token": none,
			"request_throughput": 25,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := mustFold(t, Options{})
			f.Add(c.rec)
			got := summarize(t, f)[0].Whole.Stats
			for id, want := range c.want {
				s, ok := got[id]
				switch {
				case want == none && ok:
					t.Errorf("%s: %v, want none", id, s.Avg)
				case want != none && !ok:
					t.Errorf("%s: none, want %v", id, want)
				case want != none && math.Abs(s.Avg-want) > 1e-6*max(1, want):
					t.Errorf("%s: %v, want %v", id, s.Avg, want)
				}
			}
		})
	}
}

// A stream whose only responses have no text began all the same.
func TestFirstEventOfAnEmptyStream(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	f := mustFold(t, Options{})
	f.Add(&record.Record{
		Sent: 0, Written: ms(1), End: ms(40), Streamed: true, Status: 200, Cached: -1,
		Marks:  []record.Read{{Off: 1, Kernel: ms(30), User: ms(30)}, {Off: 2, Kernel: ms(40), User: ms(40)}},
		Events: []record.Event{{Mark: 0, Label: record.Empty}, {Mark: 1, Label: record.Done}},
	})
	got := summarize(t, f)[0].Whole.Stats
	if s := got["time_to_first_event"]; s.N != 1 || s.Avg != 30 {
		t.Errorf("time to first event %+v, want 30 ms", s)
	}
	if _, ok := got["time_to_first_token"]; ok {
		t.Error("a first token of an answer that has none")
	}
}

func TestTokensOfAnEventShareItsGap(t *testing.T) {
	f := mustFold(t, Options{})
	f.Add(streamed(0, token{at: 10, tokens: 4}, token{at: 20, tokens: 3}, token{at: 27, tokens: 2}))
	f.Add(evenly(100, 10, 5, 3)) // one token each: kept in the shared column
	got := summarize(t, f)[0].Whole.Stats
	itl, iel := got["inter_token_latency"], got["inter_event_latency"]
	// 10/3 as 4 3 3, 7/2 as 4 3, then 5 5; in ms.
	if itl.N != 7 || math.Abs(itl.Avg*7*1e6-27) > 1e-6 || itl.Min*1e6 != 3 || itl.Max*1e6 != 5 {
		t.Errorf("inter-token latency %+v, want seven samples that add up to 27 ns", itl)
	}
	if iel.N != 4 || math.Abs(iel.Avg*4*1e6-27) > 1e-6 {
		t.Errorf("inter-event latency %+v, want four samples that add up to 27 ns", iel)
	}
}

func TestWindows(t *testing.T) {
	f := mustFold(t, Options{Times: fixed(1000*msec, 2000*msec)})
	warm := evenly(500*msec, 10*msec, 10*msec, 5) // ends at 550, before the window
	warm.Phase = record.Warmup
	handed := evenly(900*msec, 100*msec, 10*msec, 11) // warm-up, ends at 1100
	handed.Phase = record.Warmup
	inside := evenly(1200*msec, 100*msec, 10*msec, 21)  // ends at 1500
	over := evenly(1900*msec, 100*msec, 10*msec, 41)    // ends at 2400
	broken := evenly(1300*msec, 100*msec, 10*msec, 2)   // ends at 1410
	failed(broken, record.Reset, 0, "connection reset") //
	before := evenly(700*msec, 10*msec, 10*msec, 2)     // measured by phase, ends before the window
	for _, r := range []*record.Record{warm, handed, inside, over, broken, before} {
		f.Add(r)
	}
	st := summarize(t, f)[0]
	if st.Seen != 6 || st.Warmup != 2 {
		t.Errorf("seen %d, warm-up %d; want 6, 2", st.Seen, st.Warmup)
	}
	w, s := st.Whole.Totals, st.Steady.Totals
	if w.Requests != 4 || w.OK != 3 || w.Out != 21+41+2 || w.Begin != 700*msec || w.End != 2400*msec {
		t.Errorf("whole: %+v", w)
	}
	if s.Requests != 3 || s.OK != 2 || s.Out != 11+21 || s.Begin != 1000*msec || s.End != 2000*msec {
		t.Errorf("steady: %+v", s)
	}
	// 100 of handed, 300 of inside, 100 of over, 110 of broken.
	if s.Held != 610*msec {
		t.Errorf("held %v in the steady window, want 610ms", s.Held)
	}
	if got := st.Whole.Stats["request_latency"].N; got != 3 {
		t.Errorf("%d latencies in the whole, want 3", got)
	}
	lat := st.Steady.Stats["request_latency"]
	if lat.N != 2 || lat.Min != 200 || lat.Max != 300 {
		t.Errorf("steady latency %+v, want 200 and 300 ms", lat)
	}
	if got := st.Steady.Stats["request_throughput"].Avg; got != 2 {
		t.Errorf("steady throughput %v, want 2/s", got)
	}
}

func TestGoodput(t *testing.T) {
	f := mustFold(t, Options{SLOs: []plan.SLO{{Metric: "time_to_first_token", Max: plan.Duration(100 * msec)}, {Metric: "inter_token_latency", Max: plan.Duration(10 * msec)}}})
	f.Add(evenly(0, 100*msec, 10*msec, 10))                                              // at both bounds: good
	f.Add(evenly(0, 101*msec, 10*msec, 10))                                              // first token late
	f.Add(evenly(0, 100*msec, 11*msec, 10))                                              // gaps too long
	f.Add(evenly(0, 100*msec, 0, 1))                                                     // one token: no gap to be too long
	f.Add(failed(evenly(0, msec, msec, 10), record.Truncated, 200, "ended early"))       // failed
	f.Add(streamed(0, token{at: 50 * msec, tokens: 8, label: record.Whole}))             // no first token to judge
	f.Add(streamed(0, token{at: 50 * msec, tokens: 1}, token{at: 90 * msec, tokens: 4})) // 40 ms for 4 tokens
	st := summarize(t, f)[0]
	if st.Whole.Totals.Good != 3 {
		t.Errorf("%d good requests, want 3", st.Whole.Totals.Good)
	}
	if a, b := st.Objectives[0].Met, st.Objectives[1].Met; a != 4 || b != 4 {
		t.Errorf("objectives met by %d and %d, want 4 and 4", a, b)
	}
	if got := st.Whole.Stats["slo_attainment"].Avg; math.Abs(got-3.0/7) > 1e-9 {
		t.Errorf("attainment %v, want 3/7", got)
	}
	if _, err := NewFold(Options{SLOs: []plan.SLO{{Metric: "output_sequence_length", Max: plan.Duration(msec)}}}); err == nil || !strings.Contains(err.Error(), "time_to_first_token") {
		t.Errorf("an objective on a length: %v, want an error that names what can be used", err)
	}
}

func TestCounts(t *testing.T) {
	f := mustFold(t, Options{})
	short := evenly(0, msec, msec, 3)
	short.RequestedTokens = 4
	empty := evenly(0, msec, msec, 1)
	empty.Out.N, empty.RequestedTokens = 0, 4
	events := evenly(0, msec, msec, 3)
	events.RequestedTokens, events.Out.Source = 4, record.FromEvents
	both := evenly(0, msec, msec, 10)
	both.Out.Local, both.In.Local = 12, 99
	plain := evenly(0, msec, msec, 4)
	plain.Marks[1].Kernel = record.Never
	plain.RequestedTokens = 4
	late := failed(evenly(0, msec, msec, 1), record.HTTPStatus, 503, "second")
	late.Seq = 9
	early := failed(evenly(0, msec, msec, 1), record.HTTPStatus, 503, "first")
	early.Seq = 3
	other := failed(evenly(0, msec, msec, 1), record.CutOff, 0, "cut")
	a, b := mustFold(t, Options{Pool: f.pool}), f
	for _, r := range []*record.Record{short, late, both} {
		a.Add(r)
	}
	for _, r := range []*record.Record{empty, events, plain, early, other} {
		b.Add(r)
	}
	if err := f.Merge(a); err != nil {
		t.Fatal(err)
	}
	st := summarize(t, f)[0]
	c := st.Counts
	if c.Short != 1 || c.Empty != 1 {
		t.Errorf("short %d empty %d, want 1 and 1", c.Short, c.Empty)
	}
	if c.Both != [2]int64{1, 1} || c.Server != [2]int64{100, 10} || c.Disagree != [2]int64{1, 2} {
		t.Errorf("disagreement: %v of %v in %v requests", c.Disagree, c.Server, c.Both)
	}
	if c.Sources[1] != [4]int64{0, 4, 0, 1} || c.Unstamped != 1 {
		t.Errorf("sources %v, unstamped %d", c.Sources, c.Unstamped)
	}
	if len(st.Failures) != 2 || st.Failures[0].Count != 2 || st.Failures[0].Example != "first" || st.Failures[0].Status != 503 {
		t.Errorf("failures %+v", st.Failures)
	}
	if st.Whole.Totals.CutOff != 1 || math.Abs(st.Whole.Stats["error_rate"].Avg-3.0/8) > 1e-9 {
		t.Errorf("cut off %d, error rate %v", st.Whole.Totals.CutOff, st.Whole.Stats["error_rate"].Avg)
	}
}

// Figures may be made of this side's count; what the server left out is told by its own.
//
// differs: ip-screen
func TestOwnCount(t *testing.T) {
	f := mustFold(t, Options{Local: true})
	both, alone := evenly(0, msec, msec, 10), evenly(0, msec, msec, 10)
	both.Out.Local, both.RequestedTokens = 7, 10
	alone.Out.Local = -1
	f.Add(both)
	f.Add(alone)
	st := summarize(t, f)[0]
	if c := st.Counts; st.Whole.Totals.Out != 17 || c.Short != 0 || c.Sources[1] != [4]int64{0, 1, 1, 0} || c.Disagree[1] != 3 {
		t.Errorf("%d tokens, %+v", st.Whole.Totals.Out, c)
	}
}

func TestWordsAreNotHeldAgainstTheLengthAsked(t *testing.T) {
	for words, want := range map[bool]int64{false: 1, true: 0} {
		f := mustFold(t, Options{StandIn: words})
		r := evenly(0, msec, msec, 3)
		r.RequestedTokens, r.Out.Source = 4, record.FromTokenizer
		f.Add(r)
		if got := summarize(t, f)[0].Counts.Short; got != want {
			t.Errorf("words %v: %d short, want %d", words, got, want)
		}
	}
}

func TestRepeatedPrompts(t *testing.T) {
	pool := stat.NewPool("", 1<<20)
	a, b := mustFold(t, Options{Pool: pool}), mustFold(t, Options{Pool: pool})
	for i, f := range []*Aggregator{a, a, b, b, b, a, a} {
		r := evenly(0, msec, msec, 1)
		r.Prompt = []uint64{7, 8, 8, 9, 9, 0, 0}[i]
		f.Add(r)
	}
	if err := a.Merge(b); err != nil {
		t.Fatal(err)
	}
	if n, err := a.Repeats(); n != 2 || err != nil {
		t.Errorf("%d repeats (%v), want 2", n, err)
	}
}

func TestClosedLoopFirstWave(t *testing.T) {
	for closed, want := range map[bool]int64{true: 1, false: 2} {
		f := mustFold(t, Options{Closed: []bool{closed}, Times: fixed(100*msec, time.Hour)})
		first := evenly(112*msec, msec, msec, 2)
		first.Due = 100 * msec
		next := evenly(201*msec, msec, msec, 2)
		next.Due = 200 * msec
		f.Add(first)
		f.Add(next)
		if got := summarize(t, f)[0].Whole.Stats["dispatch_delay"].N; got != want {
			t.Errorf("closed %v: %d delays, want %d", closed, got, want)
		}
	}
}

// TestMergedFoldsEqualOne: however records are dealt out to folds, with spilling or
// without, the figures are the same.
func TestMergedFoldsEqualOne(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var recs []*record.Record
	for i := range 3000 {
		sent := time.Duration(r.Int64N(int64(20 * time.Second)))
		rec := evenly(sent, time.Duration(r.Int64N(1e8)), time.Duration(r.Int64N(1e7)), 1+r.IntN(20))
		rec.Seq, rec.Stage, rec.Prompt = int64(i), i%2, uint64(r.IntN(2000))
		if r.IntN(3) == 0 && len(rec.Events) > 1 {
			rec.Events[1].Tokens = 1 + r.IntN(3)
		}
		if r.IntN(20) == 0 {
			failed(rec, record.Reset, 0, "reset")
		}
		recs = append(recs, rec)
	}
	opts := Options{Times: fixed(5*time.Second, 15*time.Second), SLOs: []plan.SLO{{Metric: "time_to_first_token", Max: plan.Duration(60 * msec)}}}
	one := mustFold(t, opts)
	opts.Pool = stat.NewPool(t.TempDir(), 0)
	t.Cleanup(func() { opts.Pool.Close() })
	many := []*Aggregator{mustFold(t, opts), mustFold(t, opts), mustFold(t, opts)}
	for _, rec := range recs {
		one.Add(rec)
		many[r.IntN(3)].Add(rec)
	}
	for _, f := range many[1:] {
		if err := many[0].Merge(f); err != nil {
			t.Fatal(err)
		}
	}
	want, got := summarize(t, one), summarize(t, many[0])
	for i := range want {
		compareWindows(t, &want[i].Whole, &got[i].Whole)
		compareWindows(t, want[i].Steady, got[i].Steady)
		if want[i].Counts != got[i].Counts || !slices.Equal(want[i].Objectives, got[i].Objectives) {
			t.Errorf("stage %d: counts differ", i)
		}
		if d, e := want[i].Series.Trends(), got[i].Series.Trends(); !slices.Equal(d, e) {
			t.Errorf("stage %d: trends %+v, want %+v", i, e, d)
		}
	}
	a, _ := one.Repeats()
	if b, _ := many[0].Repeats(); a != b || a == 0 {
		t.Errorf("%d repeats, want %d", b, a)
	}
}

func compareWindows(t *testing.T, want, got *Stats) {
	t.Helper()
	if want.Totals != got.Totals {
		t.Errorf("totals\n got %+v\nwant %+v", got.Totals, want.Totals)
	}
	for id, w := range want.Stats {
		g := got.Stats[id]
		if g.N != w.N || g.Avg != w.Avg || g.Std != w.Std || !slices.Equal(g.Quantiles, w.Quantiles) {
			t.Errorf("%s\n got %+v\nwant %+v", id, g, w)
		}
	}
}

func TestAddAllocatesNothing(t *testing.T) {
	f := mustFold(t, Options{Times: fixed(0, record.NotYet), SLOs: []plan.SLO{{Metric: "inter_token_latency", Max: plan.Duration(msec)}}, Live: new(LiveStats)})
	rec := evenly(0, 10*msec, 100, 20)
	rec.Prompt = 1
	for range 2000 {
		f.Add(rec)
	}
	// Full chunks of packed samples are kept in memory, one every few thousand records.
	if got := testing.AllocsPerRun(200, func() { f.Add(rec) }); got > 0.5 {
		t.Errorf("%v allocations for each record", got)
	}
	if p := f.opts.Live.Part(0, record.Measured); p.OK.Load() < 2000 || p.ITL.Count() < 38000 {
		t.Error("the live figures were not kept")
	}
}

func TestStrangeRecords(t *testing.T) {
	f := mustFold(t, Options{Times: fixed(0, record.NotYet)})
	f.Add(&record.Record{Stage: -1})
	f.Add(&record.Record{Sent: record.Never, Failure: &record.Failure{Class: record.ConnectFailed}, Cached: -1})
	f.Add(&record.Record{Events: []record.Event{{Mark: 5, Tokens: 1}}, Cached: -1})
	f.Add(&record.Record{Stage: 2, Sent: 5, End: 3})
	for i, st := range summarize(t, f) {
		for _, w := range []*Stats{&st.Whole, st.Steady} {
			if w == nil {
				continue
			}
			for id, s := range w.Stats {
				for _, v := range append([]float64{s.Avg, s.Min, s.Max, s.Std}, s.Quantiles...) {
					if math.IsNaN(v) || math.IsInf(v, 0) {
						t.Errorf("stage %d, %s: %v", i, id, v)
					}
				}
			}
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	for name, rec := range map[string]*record.Record{
		"512 events":   evenly(0, 50*msec, 10*msec, 512),
		"16 events":    evenly(0, 50*msec, 10*msec, 16),
		"irregular":    irregular(512),
		"not streamed": streamed(0, token{at: 50 * msec, tokens: 16, label: record.Whole}),
	} {
		b.Run(name, func(b *testing.B) {
			pool := stat.NewPool(b.TempDir(), 1<<20)
			defer pool.Close()
			f := mustFold(b, Options{Times: fixed(0, record.NotYet), Pool: pool})
			b.ReportAllocs()
			for i := uint64(0); b.Loop(); i++ {
				rec.Prompt = i % 1000
				f.Add(rec)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rec.Events)), "ns/event")
		})
	}
}

func irregular(n int) *record.Record {
	r := rand.New(rand.NewPCG(5, 5))
	var ev []token
	at := 50 * msec
	for range n {
		if r.IntN(3) > 0 {
			at += time.Duration(r.Int64N(int64(20 * msec)))
		}
		ev = append(ev, token{at: at, tokens: 1 + r.IntN(3)})
	}
	return streamed(0, ev...)
}

func BenchmarkFinish20kx16(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	pool := stat.NewPool(b.TempDir(), 64<<20)
	defer pool.Close()
	f := mustFold(b, Options{Times: fixed(time.Second, 25*time.Second), Pool: pool})
	for i := range 20_000 {
		rec := evenly(time.Duration(i)*msec, 50*msec+time.Duration(r.Int64N(1e7)), 10*msec+time.Duration(r.Int64N(1e6)), 16)
		rec.Seq = int64(i)
		for k := range rec.Marks {
			rec.Marks[k].Kernel += time.Duration(r.Int64N(1e5))
		}
		f.Add(rec)
	}
	for b.Loop() {
		summarize(b, f)
	}
}
