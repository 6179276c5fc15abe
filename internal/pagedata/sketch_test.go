package pagedata

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/result/build"
)

var update = flag.Bool("update", false, "write the golden files")

const (
	ms = time.Millisecond
	us = time.Microsecond
)

// answered is a request that was answered with a token every gap after the first.
func answered(seq int64, due, sent, ttft, gap time.Duration, tokens int) *record.Record {
	rec := &record.Record{
		Seq: seq, Due: due, Ready: due, Sent: sent, Written: sent, Streamed: true,
		In: record.Tokens{N: 10, Source: record.FromServer, Local: -1}, Out: record.Tokens{N: tokens, Source: record.FromServer, Local: -1},
		Cached: -1,
	}
	for i := range tokens {
		at := sent + ttft + time.Duration(i)*gap
		rec.Marks = append(rec.Marks, record.Read{Off: i + 1, Kernel: at, User: at})
		rec.Events = append(rec.Events, record.Event{Mark: i, Tokens: 1, Text: 1})
		rec.End = at
	}
	return rec
}

// failed is a request that failed so long after it was sent.
func failed(seq int64, due, after time.Duration, class record.Class) *record.Record {
	return &record.Record{
		Seq: seq, Due: due, Ready: due, Sent: due, Written: due, End: due + after, Cached: -1,
		Failure: &record.Failure{Class: class, Message: "it failed", At: due + after},
	}
}

// drawn makes the document of records, and their result.
func drawn(t *testing.T, p *plan.Plan, marks []record.StageSummary,
	all func(add func(*record.Record))) (*Document, *result.Result, *Builder) {
	t.Helper()
	sketch := NewSketch(p, fromTheBegin)
	opts := metric.OptionsFor(p)
	opts.Times, opts.Each = metric.TimesOf(marks), sketch.Add
	fold, err := metric.NewFold(opts)
	if err != nil {
		t.Fatal(err)
	}
	defer fold.Close()
	all(fold.Add)
	facts := build.Inputs{Header: record.Header{Version: "test", Seed: 1<<63 + 1}, Stages: marks}
	res, err := build.Result(p, facts, fold)
	if err != nil {
		t.Fatal(err)
	}
	d, err := sketch.Document(Facts{Result: res, Fold: fold, OriginalPlan: p, Stages: marks})
	if err != nil {
		t.Fatal(err)
	}
	return d, res, sketch
}

// planOf is a plan of stages.
func planOf(stages ...plan.Stage) *plan.Plan {
	p := plan.Default()
	p.Target.URLs, p.Target.Model = []string{"http://server:8000"}, "m"
	p.Stages = stages
	return &p
}

// several are requests of two stages: one in closed loop with a warm-up, one in open loop
// with failures.
func several(add func(*record.Record)) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range int64(400) {
		due := time.Duration(i) * 10 * ms
		sent := due + time.Duration(r.Int64N(int64(3*ms)))
		rec := answered(i, due, sent, 20*ms+time.Duration(r.ExpFloat64()*float64(5*ms)), ms+time.Duration(r.Int64N(int64(ms))), 2+r.IntN(20))
		if i < 100 {
			rec.Phase = record.Warmup
		}
		add(rec)
	}
	for i := range int64(200) {
		due := 5*time.Second + time.Duration(i)*20*ms
		rec := answered(400+i, due, due+time.Duration(i)*ms/10, 30*ms, 2*ms, 5)
		if i%7 == 3 {
			rec = failed(400+i, due, 8*ms, record.TimedOut)
		}
		rec.Stage = 1
		add(rec)
	}
}

func severalPlan() (*plan.Plan, []record.StageSummary) {
	return planOf(plan.Stage{Concurrency: 8, Requests: 300}, plan.Stage{Rate: 50, Requests: 200}), []record.StageSummary{
		{Stage: 0, StageTimes: record.StageTimes{Begin: 0, WarmupEnd: time.Second, SendEnd: 4 * time.Second, DrainEnd: 4200 * ms},
			Reason: record.StopRequests},
		{Stage: 1, StageTimes: record.StageTimes{Begin: 5 * time.Second, WarmupEnd: 5 * time.Second, SendEnd: 9 * time.Second,
			DrainEnd: 9100 * ms}, Scheduled: 200, Reason: record.StopRequests},
	}
}

func TestCurvesAreThoseOfTheResult(t *testing.T) {
	p, marks := severalPlan()
	d, res, _ := drawn(t, p, marks, several)
	for i, st := range d.Stages {
		for name, sides := range st.Curves {
			for side, c := range map[string]Curve{name: sides.Sent, name + "_from_due": sides.Due} {
				if c == nil {
					continue
				}
				want := res.Stages[i].Metrics[side]
				if want.Distribution == nil {
					t.Fatalf("stage %d has no %s", i, side)
				}
				at := map[string]float64{}
				for _, point := range c {
					at[fmt.Sprint(point[0])] = point[1]
				}
				for _, q := range metric.Percentiles() {
					if got := at[fmt.Sprint(q.Quantile)]; got != want.Quantile(q.Name) {
						t.Errorf("stage %d, %s: %s is %v on the curve, %v in the result", i, side, q.Name, got, want.Quantile(q.Name))
					}
				}
				if c[0][1] != want.Min || c[len(c)-1][1] != want.Max {
					t.Errorf("stage %d, %s: the curve goes from %v to %v, want %v to %v", i, side, c[0][1], c[len(c)-1][1], want.Min, want.Max)
				}
				if !slices.IsSortedFunc(c, func(a, b [2]float64) int { return int(math.Copysign(1, a[1]-b[1])) }) {
					t.Errorf("stage %d, %s: the curve falls", i, side)
				}
			}
			h := st.Histograms[name].Sent
			var n int64
			for _, k := range h.Counts {
				n += k
			}
			if want := res.Stages[i].Metrics[name].Count; n != want || len(h.Edges) != len(h.Counts)+1 {
				t.Errorf("stage %d, %s: %d samples in %d bins, want %d", i, name, n, len(h.Counts), want)
			}
		}
	}
}

// find is the series of a name.
func find(t *testing.T, d *Document, name string) Series {
	t.Helper()
	i := slices.IndexFunc(d.Series, func(s Series) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no series %s", name)
	}
	return d.Series[i]
}

func TestSeriesAddUp(t *testing.T) {
	p, marks := severalPlan()
	d, _, _ := drawn(t, p, marks, several)
	r := readerOf(t, &d.Planes)
	total := func(name string) (sum float64) {
		s := find(t, d, name)
		at, v := r.column(s.Column.T), r.column(*s.Column.V)
		for i := range v {
			sum += v[i] * (at[i+1] - at[i])
		}
		return sum
	}
	var tokens, busy float64
	several(func(rec *record.Record) {
		if rec.Failure == nil {
			tokens += float64(rec.Out.N)
		}
		busy += (rec.End - rec.Sent).Seconds()
	})
	for name, want := range map[string]float64{
		"requested_rate": 200, "requests_sent": 600, "requests_ok": 600 - 29, "errors": 29, "output_tokens": tokens, "in_flight": busy,
	} {
		if got := total(name); math.Abs(got-want) > 1e-3*want {
			t.Errorf("%s adds up to %v, want %v", name, got, want)
		}
	}
	ttft := find(t, d, "ttft")
	for i, v := range r.column(*ttft.Column.Lo) {
		if mid, hi := r.column(*ttft.Column.Mid)[i], r.column(*ttft.Column.Hi)[i]; v > mid || mid > hi || v < 19.4 && v > 0 {
			t.Errorf("bin %d: time to first token %v, %v, %v ms", i, v, mid, hi)
		}
	}
}

func TestBinsWiden(t *testing.T) {
	b := newBins(0)
	var times []time.Duration
	for i := range 5000 {
		at := time.Duration(i) * 37 * ms
		times = append(times, at)
		x, after := b.bin(at)
		x.sent.add(after)
		x, after = b.bin(at + 100*ms)
		x.over.add(after)
	}
	b.close()
	if len(b.list) > mostBins || len(b.list) < mostBins/4 {
		t.Errorf("%d bins of %v", len(b.list), b.width)
	}
	for i, got := range b.between(func(x *bin) tally { return x.sent }, func(x *bin) tally { return x.over }) {
		from, to := time.Duration(i)*b.width, time.Duration(i+1)*b.width
		if i == len(b.list)-1 {
			to = b.end
		}
		var held time.Duration
		for _, at := range times {
			held += max(0, min(to, at+100*ms)-max(from, at))
		}
		if want := held.Seconds() / (to - from).Seconds(); math.Abs(got-want) > 1e-6 {
			t.Fatalf("bin %d: %v in flight, want %v", i, got, want)
		}
	}
}

func TestSpreadIsClose(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var s, o spread
	var all []float64
	for i := range 20_000 {
		v := math.Exp(r.NormFloat64()*2 + 15)
		all = append(all, v/1e6)
		[]*spread{&s, &o}[i%2].add(int64(v), 1)
	}
	s.merge(&o)
	slices.Sort(all)
	for _, q := range []float64{0.01, 0.5, 0.9, 0.99} {
		if got, want := s.quantile(q), all[int(q*float64(len(all)-1))]; math.Abs(got-want) > 0.04*want {
			t.Errorf("quantile %v is %v, want about %v", q, got, want)
		}
	}
}

// many are so many requests, every eleventh of which failed, with a few that are slow.
func many(n int) func(add func(*record.Record)) {
	return func(add func(*record.Record)) {
		r := rand.New(rand.NewPCG(7, 8))
		for i := range int64(n) {
			due := time.Duration(i) * 200 * us
			rec := answered(i, due, due+time.Duration(r.Int64N(int64(ms))), time.Duration(10e6+r.ExpFloat64()*5e6),
				time.Duration(r.Int64N(int64(ms))), 8)
			switch {
			case i%11 == 5:
				rec = failed(i, due, time.Duration(r.Int64N(int64(ms))), record.Reset)
			case i%9973 == 7:
				rec = answered(i, due, due, time.Second+time.Duration(i)*us, 30*us, 8)
			}
			add(rec)
		}
	}
}

func TestManyRequestsAreReduced(t *testing.T) {
	const n = 16_000
	p := planOf(plan.Stage{Rate: 5000, Requests: n})
	d, _, sketch := drawn(t, p, nil, many(n))
	size, err := d.size()
	if err != nil || size > mostBytes {
		t.Errorf("%d bytes, at most %d (%v)", size, mostBytes, err)
	}
	q := d.Requests
	if q.Count != n || q.Kept < mostSampled || q.Kept > mostSampled+mostFailed+8*mostSlow {
		t.Errorf("kept %d of %d", q.Kept, q.Count)
	}
	if sketch.keeper.traced.held > mostHeld {
		t.Errorf("%d events are held", sketch.keeper.traced.held)
	}
	r := readerOf(t, &d.Planes)
	index, first, due := r.column(q.Columns["index"]), r.column(q.Columns["first"]), r.column(q.Columns["due"])
	slow := 0
	for _, v := range first {
		if v > 900_000 {
			slow++
		}
	}
	if want := 2; slow < want {
		t.Errorf("%d of the slowest are kept, want %d", slow, want)
	}
	if !slices.IsSorted(due) {
		t.Error("rows are not in the order in which they were due")
	}
	// The sample is even: each tenth of the run has about a tenth of it.
	tenths := make([]int, 10)
	for _, v := range index {
		tenths[int(v)*10/n]++
	}
	for i, k := range tenths {
		if k < len(index)/13 || k > len(index)/8 {
			t.Errorf("tenth %d has %d of %d rows", i, k, len(index))
		}
	}
	of, from := r.column(d.Traces.Of), r.column(d.Traces.From)
	if len(from) != len(of)+1 || int(from[len(of)]) != d.Traces.Events.At.Count || len(of) < 1000 {
		t.Errorf("%d traces begin at %d places, the last ends at %v of %d", len(of), len(from), from[len(from)-1], d.Traces.Events.At.Count)
	}
}

func TestLongTracesAreHeldBack(t *testing.T) {
	p := planOf(plan.Stage{Concurrency: 8, Requests: 80})
	d, _, sketch := drawn(t, p, nil, func(add func(*record.Record)) {
		for i := range int64(80) {
			add(answered(i, time.Duration(i)*ms, time.Duration(i)*ms, 10*ms, 700*us+time.Duration(i), 4200))
		}
	})
	if sketch.keeper.traced.held > mostHeld {
		t.Errorf("%d events are held", sketch.keeper.traced.held)
	}
	if n := d.Traces.Events.At.Count; n > mostEvents || n < mostEvents/10 {
		t.Errorf("%d events are shown", n)
	}
	if size, err := d.size(); err != nil || size > mostBytes {
		t.Errorf("%d bytes (%v)", size, err)
	}
	if d.Requests.Why != "all" || d.Requests.Kept != 80 {
		t.Errorf("kept %d: %s", d.Requests.Kept, d.Requests.Why)
	}
}

func TestDocumentOfNothing(t *testing.T) {
	d, _, _ := drawn(t, planOf(plan.Stage{Concurrency: 1, Requests: 1}), nil, func(func(*record.Record)) {})
	if d.Requests != nil || d.Traces != nil || len(d.Series) != 0 || len(d.Stages) != 1 {
		t.Errorf("%+v", d)
	}
	// Nothing succeeded, and one was never sent.
	d, _, _ = drawn(t, planOf(plan.Stage{Concurrency: 1, Requests: 2}), nil, func(add func(*record.Record)) {
		add(failed(0, ms, ms, record.Reset))
		add(&record.Record{Seq: 1, Due: ms, Ready: ms, Sent: record.Never, End: 2 * ms,
			Failure: &record.Failure{Class: record.ConnectFailed, At: 2 * ms}})
	})
	r := readerOf(t, &d.Planes)
	if got := r.column(d.Requests.Columns["sent"]); got[0] != 0 || got[1] != -1 {
		t.Errorf("sent %v", got)
	}
	if d.Traces != nil || len(d.Failures) != 3 {
		t.Errorf("failures %v", d.Failures)
	}
}

// TestFailures gives requests their statuses and messages, and all that are different in more than
// a page has room for no message.
func TestFailures(t *testing.T) {
	p, _ := severalPlan()
	const n = 2 * mostFailures
	d, _, _ := drawn(t, p, nil, func(add func(*record.Record)) {
		var used record.Failure // as readers of records do
		for i := range int64(n) {
			rec := failed(i, time.Duration(i)*ms, ms, record.HTTPStatus)
			used = record.Failure{Class: record.HTTPStatus, Status: 500, Message: fmt.Sprint("request ", i), At: rec.End}
			if i%2 == 0 {
				used.Status, used.Message = 429, "slow down"
			}
			rec.Failure = &used
			add(rec)
		}
	})
	at := readerOf(t, &d.Planes).column(d.Requests.Columns["failure"])
	for i, want := range map[int]Failure{0: {record.HTTPStatus, 429, "slow down"}, 1: {record.HTTPStatus, 500, "request 1"}, n - 2: {record.HTTPStatus, 429, "slow down"}, n - 1: {record.HTTPStatus, 500, ""}} {
		if got := d.Failures[int(at[i])]; got != want {
			t.Errorf("request %d failed with %v, want %v", i, got, want)
		}
	}
	if len(d.Failures) > mostFailures+1 {
		t.Errorf("%d different failures", len(d.Failures))
	}
}

// TestGolden holds the document of a small run against its file, columns as numbers.
func TestGolden(t *testing.T) {
	p, marks := severalPlan()
	d, _, _ := drawn(t, p, marks, func(add func(*record.Record)) {
		for i := range int64(4) {
			add(answered(i, time.Duration(i)*100*ms, time.Duration(i)*100*ms+ms, time.Duration(20+i)*ms, 10*ms, 3))
		}
		rec := failed(4, 5*time.Second, 30*ms, record.TimedOut)
		rec.Stage = 1
		add(rec)
	})
	d.Result, d.Plan = nil, "" // which have golden files of their own
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	out.WriteString(strings.NewReplacer(`"curves"`, "\n\"curves\"", `"histograms"`, "\n\"histograms\"", `{"name"`, "\n{\"name\"", `"requests":`, "\n\"requests\":", `"traces"`, "\n\"traces\"").Replace(string(text)))
	r := readerOf(t, &d.Planes)
	for _, s := range d.Series {
		fmt.Fprintf(&out, "\n%s t %.4g", s.Name, r.column(s.Column.T))
		for _, c := range []*Column{s.Column.V, s.Column.Lo, s.Column.Mid, s.Column.Hi} {
			if c != nil {
				fmt.Fprintf(&out, "\n%s   %.4g", s.Name, r.column(*c))
			}
		}
	}
	for _, name := range []string{"index", "stage", "due", "ready", "sent", "first", "end", "stall", "stall_at", "in", "out", "failure"} {
		fmt.Fprintf(&out, "\n%s %v", name, r.column(d.Requests.Columns[name]))
	}
	fmt.Fprintf(&out, "\ntraces %v %v %v\n", r.column(d.Traces.Of), r.column(d.Traces.From), r.column(d.Traces.Events.At))
	const name = "testdata/document.txt"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("the document differs from %s: look at go test -update and git diff", name)
	}
}
