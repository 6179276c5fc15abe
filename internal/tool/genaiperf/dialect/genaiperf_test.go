package dialect

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/inferometer/inferometer/internal/record"
)

// ns makes a record out of moments and texts: a response that is "" has no text.
func ns(sent int, at []int, texts ...string) *record.Record {
	rec := &record.Record{Sent: time.Duration(sent), Streamed: true}
	for i, t := range at {
		rec.Marks = append(rec.Marks, record.Read{Kernel: record.Never, User: time.Duration(t)})
		label := record.Content
		if texts[i] == "" {
			label = record.Empty
		}
		rec.Events = append(rec.Events, record.Event{Mark: i, Label: label, Text: len(texts[i])})
		rec.Text = append(rec.Text, texts[i]...)
		rec.End = time.Duration(t)
	}
	return rec
}

// words counts words, and a leading mark as one.
func words(text string) int {
	return len(strings.Fields(strings.ReplaceAll(text, "!", "! ")))
}

func options(protocol string) Options {
	return Options{
		Release: Latest, Protocol: protocol, Count: words,
		Input: func(*record.Record) (int, bool) { return 3, true },
	}
}

func add(o Options, recs ...*record.Record) *Fold {
	f := NewFold(o)
	for _, r := range recs {
		f.Add(r)
	}
	return f
}

// The figures are those that the original's own tests work out by hand.
func TestWorkedValues(t *testing.T) {
	for _, tt := range []struct {
		name     string
		protocol string
		recs     []*record.Record
		want     map[string][]float64
		totals   map[string]float64 // per second
	}{
		{
			"triton, concurrency", "triton",
			[]*record.Record{ns(1, []int{3, 5, 8}, "I", " like", " dogs"), ns(2, []int{4, 7, 11}, "I like", " cats and", " birds so")},
			map[string][]float64{
				RequestLatency: {7, 9}, TimeToFirstToken: {2, 2}, TimeToSecondToken: {2, 3},
				InterTokenLatency: {2, 1}, OutputSequenceLength: {3, 6}, OutputThroughputUser: {1 / 2e-9, 1 / 1e-9},
			},
			map[string]float64{RequestThroughput: 2 / 10e-9, OutputThroughput: 9 / 10e-9},
		},
		{
			"triton, request rate", "triton",
			[]*record.Record{ns(5, []int{7, 8, 13, 18}, "a", " b", " c", " d"), ns(3, []int{6, 8, 11}, "a b", " c d", " e f")},
			map[string][]float64{
				RequestLatency: {13, 8}, TimeToFirstToken: {2, 3}, TimeToSecondToken: {1, 2}, InterTokenLatency: {4, 1},
			},
			map[string]float64{RequestThroughput: 2 / 15e-9, OutputThroughput: 10 / 15e-9},
		},
		{
			"engine", "triton",
			[]*record.Record{ns(1, []int{3, 5, 8}, "a", " b", " c"), ns(2, []int{4, 7, 11}, "a", " b", " c")},
			map[string][]float64{InterTokenLatency: {2, 4}},
			map[string]float64{OutputThroughput: 6 / 10e-9},
		},
		{
			"chat: chunks without text do not count", "openai",
			[]*record.Record{
				ns(1, []int{3, 5, 8, 12, 13, 14}, "", "I", " like", " dogs", "", ""),
				ns(2, []int{4, 7, 11, 15, 18, 19}, "", "I don't", " cook", " food so much", "", ""),
			},
			map[string][]float64{
				TimeToFirstToken: {4, 5}, TimeToSecondToken: {3, 4}, RequestLatency: {11, 13}, InterTokenLatency: {4, 2},
			},
			map[string]float64{OutputThroughput: 9 / 14e-9},
		},
		{
			"one response has no inter-token latency", "openai",
			[]*record.Record{ns(1, []int{5}, "all at once")},
			map[string][]float64{TimeToFirstToken: {4}, RequestLatency: {4}, TimeToSecondToken: nil, InterTokenLatency: nil,
				OutputThroughputUser: nil},
			map[string]float64{OutputThroughput: 3 / 4e-9},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := add(options(tt.protocol), tt.recs...)
			for name, want := range tt.want {
				if diff := cmp.Diff(want, f.series[name], cmpopts.EquateApprox(1e-12, 0)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			s := f.Summary()
			for name, want := range tt.totals {
				st, ok := s.Stat(name)
				if !ok || math.Abs(st.Avg-want) > want*1e-12 {
					t.Errorf("%s is %v, want %v", name, st, want)
				}
			}
		})
	}
}

// In the early releases there is one inter-token latency for each response but the
// first, divided by its own tokens.
func TestEarlyInterTokenLatency(t *testing.T) {
	o := options("openai")
	o.Release = Release2403
	rec := ns(0, []int{10, 15, 40, 45}, "a", " b", " c d e", "")
	f := add(o, rec)
	if diff := cmp.Diff([]float64{5, 8}, f.series[InterTokenLatency]); diff != "" {
		t.Error(diff)
	}
	// Tokens of the whole text, shared out, where the tokenizer can do that.
	o.Pieces = func(_ string, cuts []int) []int {
		if !slices.Equal(cuts, []int{1, 3, 9}) {
			t.Errorf("pieces end at %v", cuts)
		}
		return []int{1, 2, 5}
	}
	if diff := cmp.Diff([]float64{2, 5}, add(o, rec).series[InterTokenLatency]); diff != "" { // 2.5 rounds to the even 2
		t.Error(diff)
	}
	// Of Triton, the closing message without text counts as one token.
	o.Protocol, o.Pieces = "triton", nil
	if diff := cmp.Diff([]float64{5, 8, 5}, add(o, rec).series[InterTokenLatency]); diff != "" {
		t.Error(diff)
	}
}

// Events of one read are one response of OpenAI's protocol.
func TestEventsOfOneRead(t *testing.T) {
	rec := ns(0, []int{10, 10, 30}, "a", " b", " c")
	rec.Events[1].Mark = 0
	f := add(options("openai"), rec)
	if diff := cmp.Diff([]float64{20}, f.series[TimeToSecondToken]); diff != "" {
		t.Error(diff)
	}
	f = add(options("triton"), rec)
	if diff := cmp.Diff([]float64{0}, f.series[TimeToSecondToken]); diff != "" {
		t.Error(diff)
	}
}

// Where the original is wrong, faithful is too.
// differs: genai-2403-first-token
func TestFaithful(t *testing.T) {
	empty := ns(0, []int{5}, "")
	thinking := ns(0, []int{10, 20, 30}, "hm", " well", " yes")
	thinking.Events[0].Label, thinking.Events[1].Label = record.Reasoning, record.Reasoning
	one := ns(0, []int{10, 12}, "yes", "")
	for _, tt := range []struct {
		name      string
		protocol  string
		release   Release
		recs      []*record.Record
		metric    string
		want      []float64
		wantFaith []float64
	}{
		{"reasoning is output", "openai", Latest, []*record.Record{thinking}, TimeToFirstToken, []float64{10}, []float64{30}},
		{"reasoning is counted", "openai", Latest, []*record.Record{thinking}, OutputSequenceLength, []float64{3}, []float64{1}},
		{"a closing message is no second token", "triton", Latest, []*record.Record{one}, TimeToSecondToken, nil, []float64{2}},
		{"the role is not a token", "openai", Release2403, []*record.Record{ns(0, []int{3, 10}, "", "a")}, TimeToFirstToken, []float64{10}, []float64{3}},
	} {
		o := options(tt.protocol)
		o.Release = tt.release
		if diff := cmp.Diff(tt.want, add(o, tt.recs...).series[tt.metric]); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
		o.Faithful = true
		if diff := cmp.Diff(tt.wantFaith, add(o, tt.recs...).series[tt.metric]); diff != "" {
			t.Errorf("%s, faithful:\n%s", tt.name, diff)
		}
	}
	// Throughput counts answers without text, the number of requests does not.
	full := ns(0, []int{10, 1_000_000_000}, "a", " b")
	for _, faithful := range []bool{false, true} {
		o := options("openai")
		o.Faithful = faithful
		s := add(o, full, empty).Summary()
		rate, _ := s.Stat(RequestThroughput)
		count, _ := s.Stat(RequestCount)
		want := 1.0
		if faithful {
			want = 2
		}
		if rate.Avg != want || count.Avg != 1 || s.Empty != 1 || s.Requests != 2 {
			t.Errorf("faithful %v: rate %v, count %v, %d empty of %d", faithful, rate.Avg, count.Avg, s.Empty, s.Requests)
		}
	}
}

// A whole answer without text counts with no tokens, where the endpoint's type is such.
func TestEmptyAnswersThatCount(t *testing.T) {
	whole := func(text string) *record.Record {
		rec := ns(0, []int{5}, text)
		rec.Streamed, rec.Events[0].Label = false, record.Whole
		return rec
	}
	for _, tt := range []struct {
		empty bool
		want  []float64
	}{{false, []float64{2}}, {true, []float64{2, 0}}} {
		o := options("openai")
		o.Empty = tt.empty
		if diff := cmp.Diff(tt.want, add(o, whole("a b"), whole("")).series[OutputSequenceLength]); diff != "" {
			t.Errorf("empty ones count: %v:\n%s", tt.empty, diff)
		}
	}
}

// An objective that requests of a kind cannot meet or miss makes no goodput.
func TestGoodputOfAnotherKind(t *testing.T) {
	for _, tt := range []struct {
		kind   Task
		metric string
		want   float64
	}{
		{LLM, TimeToFirstToken, 1}, {Plain, RequestLatency, 1}, {Images, ImageLatency, 1},
		{LLM, ImageLatency, -1}, {Plain, TimeToFirstToken, -1}, {Images, InterTokenLatency, -1},
	} {
		for _, faithful := range []bool{false, true} {
			o := options("openai")
			o.Kind, o.Faithful, o.Pictures = tt.kind, faithful, func(*record.Record) int { return 1 }
			o.Goodput = []Bound{{tt.metric, 5000}}
			got, _ := add(o, ns(0, []int{1_000_000_000}, "a")).Summary().Stat(RequestGoodput)
			if got == nil || got.Avg != tt.want {
				t.Errorf("kind %v, %s, faithful %v: %v, want %v", tt.kind, tt.metric, faithful, got, tt.want)
			}
		}
	}
}

func TestGoodput(t *testing.T) {
	const ms = 1_000_000
	recs := []*record.Record{
		ns(0, []int{1 * ms, 5 * ms, 1000 * ms}, "a", " b", " c"), // ttft 1, itl 499.5
		ns(0, []int{1 * ms}, "a"),                                // ttft 1, no itl
		ns(0, []int{1 * ms, 3 * ms, 5 * ms}, "a", " b", " c"),    // ttft 1, itl 2
		ns(0, []int{9 * ms, 10 * ms, 11 * ms}, "a", " b", " c"),  // ttft 9, itl 1
	}
	for _, tt := range []struct {
		goodput    []Bound
		want       float64
		inOriginal float64
	}{
		{[]Bound{{TimeToFirstToken, 1}}, 3, 3},
		{[]Bound{{TimeToFirstToken, 1}, {InterTokenLatency, 2}}, 2, 2},
		{[]Bound{{TimeToFirstToken, 10}, {InterTokenLatency, 3}}, 3, 2},
		{[]Bound{{OutputThroughputUser, 600}}, 2, 1},
		{[]Bound{{OutputThroughputRequest, 500}}, 2, 2}, // 3, 1000, 600 and 273 tokens a second
		{[]Bound{{RequestLatency, 0}}, 0, 0},
	} {
		o := options("openai")
		o.Goodput = tt.goodput
		s := add(o, recs...).Summary()
		got, _ := s.Stat(RequestGoodput)
		o.Faithful = true
		faithful, _ := add(o, recs...).Summary().Stat(RequestGoodput)
		if got.Avg != tt.want || faithful.Avg != tt.inOriginal {
			t.Errorf("%v: %v good a second, want %v; faithful %v, want %v", tt.goodput, got.Avg, tt.want, faithful.Avg, tt.inOriginal)
		}
	}
}

func TestFailuresAreCountedAndNotMeasured(t *testing.T) {
	bad := func(c record.Class, text string) *record.Record {
		r := ns(0, []int{5}, "half")
		r.Failure = &record.Failure{Class: c, Message: text}
		return r
	}
	s := add(options("openai"), ns(0, []int{10, 20}, "a", " b"), bad(record.Reset, "peer"), bad(record.HTTPStatus, "busy"), bad(record.HTTPStatus, "x"), bad(record.CutOff, "")).Summary()
	want := []record.FailureCount{{Class: record.HTTPStatus, Count: 2, Example: "busy"}, {Class: record.Reset, Count: 1, Example: "peer"}}
	if diff := cmp.Diff(want, s.Failures); diff != "" || s.Failed != 3 || s.Requests != 1 {
		t.Errorf("%d failed of %d:\n%s", s.Failed, s.Requests, diff)
	}
	if st, _ := s.Stat(RequestLatency); st.N != 1 || st.Avg != 20 {
		t.Errorf("latency %+v", st)
	}
	if empty := NewFold(options("openai")).Summary(); len(empty.Stats) != 0 {
		t.Errorf("nothing at all has statistics: %v", empty.Stats)
	}
}

func TestPlainAnswers(t *testing.T) {
	o := options("openai")
	o.Kind, o.Goodput = Plain, []Bound{{RequestLatency, 2e-6}}
	s := add(o, ns(1, []int{3}, ""), ns(2, []int{4, 8}, "", "")).Summary()
	var names []string
	for _, st := range s.Stats {
		names = append(names, st.Name)
	}
	if diff := cmp.Diff([]string{RequestThroughput, RequestLatency, RequestGoodput, RequestCount}, names); diff != "" {
		t.Error(diff)
	}
	if st, _ := s.Stat(RequestLatency); st.Min != 2 || st.Max != 6 {
		t.Errorf("latency %+v", st)
	}
}

// Percentiles, deviation and averages as numpy has them.
func TestStatistics(t *testing.T) {
	f := NewFold(options("openai"))
	f.series[RequestLatency] = []float64{8, 7, 9}
	s := new(Summary)
	s.series(f, RequestLatency)
	st := s.Stats[0]
	want := Stat{
		Name: RequestLatency, N: 3, Avg: 8, Min: 7, Max: 9, Std: math.Sqrt(2.0 / 3),
		PercentileList: []float64{7.02, 7.1, 7.2, 7.5, 8, 8.5, 8.8, 8.9, 8.98},
	}
	if diff := cmp.Diff(want, st, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
	if !math.IsNaN(st.Percentile(42)) {
		t.Error("a percentile that is not kept has a value")
	}
}

// Sums are rounded as numpy rounds them; the values were worked out with it.
func TestSumsAsNumpy(t *testing.T) {
	x := make([]float64, 20000)
	for i := range x {
		x[i] = 1 / float64(i+3)
	}
	for _, tt := range []struct {
		n    int
		want float64
	}{{5, 0x1.17c57c57c57c5p+0}, {100, 0x1.da81ad52b9b72p+1}, {1000, 0x1.7f32ac6b16780p+2}, {20000, 0x1.1f62f1d77919ap+3}} {
		if got := sum(x[:tt.n]); got != tt.want {
			t.Errorf("the sum of %d is %x, want %x", tt.n, got, tt.want)
		}
	}
}

// Objectives of an early release, which had none, are about requests as later.
func TestEarlyGoodput(t *testing.T) {
	slow, fast := ns(0, []int{1, 41}, "a", " b"), ns(0, []int{1, 11}, "a", " b")
	for _, release := range []Release{Release2403, Release2404, Latest} {
		o := options("openai")
		o.Release, o.Goodput = release, []Bound{{InterTokenLatency, 20e-6}, {OutputThroughputUser, 1 / 20e-9}}
		s := add(o, slow, fast).Summary()
		if good, ok := s.Stat(RequestGoodput); !ok || math.Round(good.Avg*s.Duration) != 1 {
			t.Errorf("%s: goodput %+v, want one request", release, good)
		}
	}
}
