package dialect

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

const ms = time.Millisecond

// streamed is a request of stage 0 whose tokens come at the given moments.
func streamed(due, sent time.Duration, at ...time.Duration) *record.Record {
	rec := &record.Record{Due: due, Ready: due, Sent: sent, Streamed: true, Cached: -1, Size: 100}
	rec.In = record.Tokens{N: 10, Source: record.FromServer, Local: -1}
	rec.Out = record.Tokens{N: len(at), Source: record.FromServer, Local: -1}
	for i, t := range at {
		rec.Marks = append(rec.Marks, record.Read{Kernel: record.Never, User: t})
		rec.Events = append(rec.Events, record.Event{Mark: i, Label: record.Content, Text: 2, Tokens: 1})
		rec.End = t
	}
	return rec
}

func failed(sent, end time.Duration, class record.Class, status int, text string) *record.Record {
	return &record.Record{
		Due: sent, Ready: sent, Sent: sent, End: end, Streamed: true, Cached: -1,
		In: record.Tokens{N: 7, Source: record.FromTokenizer, Local: -1}, Out: record.Tokens{Local: -1},
		Failure: &record.Failure{Class: class, Status: status, Message: text},
	}
}

func options(t *testing.T) Options {
	pool := stat.NewPool(t.TempDir(), 1<<20)
	t.Cleanup(func() { pool.Close() })
	return Options{Percentiles: []float64{50, 99}, MaxMessages: 100, Pool: pool}
}

func summary(t *testing.T, o Options, recs ...*record.Record) *Summary {
	t.Helper()
	f := NewFold(o)
	for _, r := range recs {
		f.Add(r)
	}
	s, err := f.Summary(All())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mean(d *Dist) float64 {
	if d == nil {
		return math.NaN()
	}
	return d.Mean
}

// differs: ip-end
func TestWorkedValues(t *testing.T) {
	s := summary(t, options(t),
		streamed(0, 10*ms, 110*ms, 130*ms, 150*ms),       // latency 140, ttft 100, tpot 20
		streamed(1000*ms, 1000*ms, 1200*ms, 1230*ms),     // latency 230, ttft 200, tpot 30
		failed(500*ms, 2010*ms, record.TimedOut, 0, "x"), // the last end
	)
	for name, c := range map[string]struct{ got, want float64 }{
		"time":     {s.Seconds, 2.0},
		"send":     {s.SendDuration, 0.99},
		"delay":    {mean(s.Delay), 0.01 / 3},
		"latency":  {mean(s.Latency), 0.185},
		"ntpot":    {mean(s.NTPOT), (0.140/3 + 0.230/2) / 2},
		"ttft":     {mean(s.TTFT), 0.150},
		"tpot":     {mean(s.TPOT), 0.025},
		"itl":      {mean(s.ITL), (0.020 + 0.020 + 0.030) / 3},
		"failures": {mean(s.FailedLatency), 1.51},
		"size":     {mean(s.Size), 100},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, c.got, c.want)
		}
	}
	if s.Count != 3 || s.OK != 2 || s.Failed != 1 || s.Prompt.Total != 20 || s.Out != 5 || s.FailedPrompt.Total != 7 {
		t.Errorf("%+v", s)
	}
	want := &Dist{N: 2, Mean: 0.185, Min: 0.140, Max: 0.230, Std: 0.045, Ranks: []float64{50, 99}, Percentiles: []float64{0.185, 0.2291}}
	if diff := cmp.Diff(want, s.Latency, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}
}

// What a request lost to attempts that no server answered is told beside its latency,
// which has it too.
func TestRetries(t *testing.T) {
	saved := streamed(0, 10*ms, 510*ms, 530*ms)
	saved.Retries, saved.LastTry, saved.Session = 2, 410*ms, "s"
	lost := failed(100*ms, 900*ms, record.ConnectFailed, 0, "refused")
	lost.Sent, lost.Retries, lost.LastTry, lost.Session = record.Never, 1, 800*ms, "s"
	f := NewFold(options(t))
	for _, rec := range []*record.Record{saved, lost, streamed(0, 0, 100*ms)} {
		f.Add(rec)
	}
	s, err := f.Summary(All())
	if err != nil {
		t.Fatal(err)
	}
	want := Retries{Requests: 2, Attempts: 3, Recovered: 1, Wasted: 1.2,
		Each: &Dist{N: 2, Mean: 0.6, Min: 0.4, Max: 0.8, Std: 0.2, Ranks: []float64{50, 99}, Percentiles: []float64{0.6, 0.796}}}
	if diff := cmp.Diff(want, s.Retries, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}
	if got := s.TTFT.Max; math.Abs(got-0.5) > 1e-9 {
		t.Errorf("time to first token %v, want it from the first attempt", got)
	}
	sum, err := f.SummarizeSessions(f.Sessions())
	if err != nil || sum.Retried != 1 || sum.Retries != 3 || sum.Recovered != 1 {
		t.Errorf("%v, sessions %+v", err, sum)
	}
}

// Where the original is wrong, faithful is too.
func TestFaithful(t *testing.T) {
	one := streamed(0, 0, 50*ms)
	empty := streamed(0, 0)
	empty.End = 80 * ms
	thinking := streamed(0, 0, 100*ms, 200*ms, 300*ms)
	thinking.Events[0].Label = record.Reasoning
	fresh := streamed(0, 20*ms, 100*ms, 110*ms)
	fresh.Conn.Connect = 15 * ms
	broken := failed(0, ms, record.Cancelled, 0, "")
	for _, c := range []struct {
		name        string
		rec         *record.Record
		value       func(*Summary) float64
		want, faith float64
	}{
		{"a single token has a time", one, func(s *Summary) float64 { return mean(s.TTFT) }, 0.05, math.NaN()},
		// differs: ip-empty-answer
		{"no token, no time per token", empty, func(s *Summary) float64 { return mean(s.NTPOT) }, math.NaN(), 0},
		{"no token, no time per token in partial reports", empty, func(s *Summary) float64 { return mean(s.NTPOTOfTokens) }, math.NaN(), math.NaN()},
		{"a time per token in partial reports", one, func(s *Summary) float64 { return mean(s.NTPOTOfTokens) }, 0.05, 0.05},
		{"reasoning is output", thinking, func(s *Summary) float64 { return mean(s.TTFT) }, 0.1, 0.2},
		// differs: ip-start
		{"connecting is not the server's", fresh, func(s *Summary) float64 { return mean(s.TTFT) }, 0.08, 0.095},
		{"what was broken off has failed", broken, func(s *Summary) float64 { return float64(s.Failed) }, 1, 0},
	} {
		o := options(t)
		got := c.value(summary(t, o, c.rec))
		o.Faithful = true
		faith := c.value(summary(t, o, c.rec))
		same := func(a, b float64) bool { return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-9 }
		if !same(got, c.want) || !same(faith, c.faith) {
			t.Errorf("%s: %v, want %v; faithful %v, want %v", c.name, got, c.want, faith, c.faith)
		}
	}
}

// An event of several tokens gives all of them its moment. To the original it is one token
// where no tokenizer is named.
// differs: ip-event-tokens
func TestEventsOfSeveralTokens(t *testing.T) {
	rec := streamed(0, 0, 100*ms, 130*ms)
	rec.Events[1].Tokens, rec.Out.N = 3, 4
	for _, c := range []struct {
		faithful, tokenizer bool
		gaps                int64
	}{{false, false, 3}, {false, true, 3}, {true, true, 3}, {true, false, 1}} {
		o := options(t)
		o.Faithful, o.Tokenizer = c.faithful, c.tokenizer
		s := summary(t, o, rec)
		if s.ITL.N != c.gaps || s.ITL.Max != 0.03 || (s.ITL.Min == 0) != (c.gaps > 1) || math.Abs(mean(s.TPOT)-0.01) > 1e-12 {
			t.Errorf("%+v: itl %+v, tpot %v", c, s.ITL, mean(s.TPOT))
		}
	}
}

func TestGoodput(t *testing.T) {
	recs := []*record.Record{
		streamed(0, 0, 100*ms, 120*ms),
		streamed(0, 0, 400*ms, 420*ms),                      // late
		streamed(0, 0, 100*ms),                              // no second token
		failed(0, 1000*ms, record.HTTPStatus, 500, "sorry"), // a failure
	}
	o := options(t)
	o.Goodput = map[string]float64{TTFT: 0.2, TPOT: 0.03}
	g := summary(t, o, recs...).Goodput
	want := &Goodput{Good: 2, Total: 4, Tokens: 23, Seconds: 1, Attainment: []Attainment{{TTFT, 3, 2}, {TPOT, 2, 2}}}
	if diff := cmp.Diff(want, g); diff != "" {
		t.Error(diff)
	}
	o.Faithful = true
	g = summary(t, o, recs...).Goodput
	want = &Goodput{Good: 1, Total: 3, Tokens: 12, Seconds: 0.42, Attainment: []Attainment{{TTFT, 3, 1}, {TPOT, 3, 2}}}
	if diff := cmp.Diff(want, g); diff != "" {
		t.Error("faithful: ", diff)
	}
	// Objectives of which none is known keep nothing out.
	o.Goodput = map[string]float64{}
	want = &Goodput{Good: 3, Total: 3, Tokens: 35, Seconds: 0.42}
	if diff := cmp.Diff(want, summary(t, o, recs...).Goodput); diff != "" {
		t.Error(diff)
	}
	if g := summary(t, options(t), recs...).Goodput; g != nil {
		t.Errorf("goodput without objectives: %+v", g)
	}
}

// Objectives that requests carry in headers are about streams with tokens.
func TestHeaderGoodput(t *testing.T) {
	stream, empty, whole := streamed(0, 0, 100*ms, 120*ms), streamed(0, 0), streamed(0, 0, 100*ms)
	whole.Streamed = false
	o := options(t)
	o.Goodput = map[string]float64{TTFT: 0.05, RequestLatency: 1}
	o.Headers = map[string]float64{TTFT: 0.05}
	want := &Goodput{Good: 2, Total: 3, Tokens: 21, Seconds: 0.12, Attainment: []Attainment{{TTFT, 1, 0}, {RequestLatency, 3, 3}}}
	if diff := cmp.Diff(want, summary(t, o, stream, empty, whole).Goodput); diff != "" {
		t.Error(diff)
	}
	o.Goodput = o.Headers
	if g := summary(t, o, empty, whole).Goodput; g != nil {
		t.Errorf("goodput without a stream: %+v", g)
	}
	o.Constraints = map[string]float64{} // the config has some, though none that is known
	if g := summary(t, o, empty, whole).Goodput; g == nil || g.Good != 2 {
		t.Errorf("constraints that are not known: %+v", g)
	}
	o.Constraints = map[string]float64{TTFT: 1} // the config's are those of the others
	want = &Goodput{Total: 3, Seconds: 0.12, Attainment: []Attainment{{TTFT, 3, 0}}}
	if diff := cmp.Diff(want, summary(t, o, stream, empty, whole).Goodput); diff != "" {
		t.Error(diff)
	}
}

// differs: ip-bad-body
// differs: ip-failure-words
func TestLabels(t *testing.T) {
	for _, c := range []struct {
		f    record.Failure
		want string
	}{
		{record.Failure{Class: record.HTTPStatus, Status: 429, Message: "timeout"}, "429 - Rate Limit"},
		{record.Failure{Class: record.HTTPStatus, Status: 400, Message: "This model's maximum context length is 10"}, "400 - Context Window"},
		{record.Failure{Class: record.HTTPStatus, Status: 400, Message: "Expecting value: line 1"}, "400 - Invalid JSON"},
		{record.Failure{Class: record.HTTPStatus, Status: 404, Message: "no such model"}, "404 - Model Not Found"},
		{record.Failure{Class: record.HTTPStatus, Status: 418, Message: "teapot"}, "418 - other"},
		{record.Failure{Class: record.Stalled}, "Timeout"},
		{record.Failure{Class: record.ConnectFailed}, "Connection Error"},
		{record.Failure{Class: record.Stalled, Status: 200}, "timeouterror"},
		{record.Failure{Class: record.TimedOut, Status: 200}, "timeouterror"},
		{record.Failure{Class: record.TimedOut, Status: 503}, "Timeout"},
		{record.Failure{Class: record.Truncated, Status: 200}, "clientpayloaderror"},
		{record.Failure{Class: record.StreamError, Status: 200}, "stream_error"},
		{record.Failure{Class: record.BadBody, Status: 200}, "bad_body"},
	} {
		if got := Label(&c.f); got != c.want {
			t.Errorf("%+v: %q, want %q", c.f, got, c.want)
		}
	}
	for f, want := range map[record.Failure]string{
		{Class: record.TimedOut, Message: "late"}:              "Request timed out: late",
		{Class: record.TimedOut, Status: 200, Message: "late"}: "late",
		{Class: record.ConnectFailed, Message: "refused"}:      "refused",
	} {
		if got := Said(&f); got != want {
			t.Errorf("%+v: %q, want %q", f, got, want)
		}
	}
}

// Of a failure the original counts no prompt, and in a stream it sees none of the server's
// errors.
//
// differs: ip-failed-prompt
// differs: ip-stream-error
func TestFaithfulFailures(t *testing.T) {
	recs := []*record.Record{
		{Sent: 0, End: 2, Status: 503, Cached: 4, In: record.Tokens{N: 9, Source: record.FromServer},
			Failure: &record.Failure{Class: record.HTTPStatus, Status: 503}},
		{Sent: 0, End: 3, Status: 200, Streamed: true, Cached: -1, In: record.Tokens{N: 5},
			Failure: &record.Failure{Class: record.StreamError, Status: 200}},
		{Sent: 0, End: 3, Status: 200, Cached: -1, In: record.Tokens{N: 5}, Failure: &record.Failure{Class: record.BadBody, Status: 200}},
	}
	o := options(t)
	s := summary(t, o, recs...)
	if s.OK != 0 || s.Failed != 3 || s.FailedPrompt.Total != 19 || s.FailedPrompt.Cached != 4 {
		t.Errorf("%d ok, %d failed with %+v", s.OK, s.Failed, s.FailedPrompt)
	}
	o.Faithful = true
	s = summary(t, o, recs...)
	if s.OK != 1 || s.Failed != 2 || s.FailedPrompt.Total != 0 || s.FailedPrompt.Cached != 0 || s.Prompt.Total != 5 {
		t.Errorf("faithful: %d ok, %d failed with %+v", s.OK, s.Failed, s.FailedPrompt)
	}
	if recs[1].Failure == nil {
		t.Error("the record has been changed")
	}
}

func TestFailuresByLabel(t *testing.T) {
	o := options(t)
	o.MaxMessages = 1
	a, b, c := failed(0, ms, record.HTTPStatus, 503, "full"), failed(0, ms, record.HTTPStatus, 503, "other"), failed(0, ms, record.Reset, 0, "peer")
	b.Stage, a.Session, c.Stage = 1, "s", 1
	again := *a
	again.Stage, again.Session = 1, "t"
	s := summary(t, o, a, b, c, &again)
	want := []Failure{
		{"503 - Service Unavailable", 3, []Message{{"full", []string{"s"}}}},
		{"Connection Error", 1, []Message{{"peer", nil}}},
	}
	if diff := cmp.Diff(want, s.Failures, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

// Reports are about stages and adapters; searches and warm-ups are no part of any.
func TestScopes(t *testing.T) {
	f := NewFold(options(t))
	for i, c := range []struct {
		stage   int
		adapter string
	}{{0, ""}, {0, "red"}, {1, "red"}, {1, "blue"}, {-1, ""}} {
		rec := streamed(0, 0, time.Duration(i+1)*ms, time.Duration(i+2)*ms)
		rec.Stage, rec.Model = c.stage, c.adapter
		f.Add(rec)
		warm := *rec
		warm.Phase = record.Warmup
		f.Add(&warm)
	}
	whole, staged := f.Adapters()
	if diff := cmp.Diff([]Scope{{-1, "blue"}, {-1, "red"}}, whole); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Scope{{1, "blue"}, {0, "red"}, {1, "red"}}, staged); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{0, 1}, f.Stages()); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct {
		scope Scope
		want  int64
	}{{All(), 4}, {Scope{Stage: 0}, 2}, {Scope{Stage: -1, Adapter: "red"}, 2}, {Scope{Stage: 1, Adapter: "red"}, 1}} {
		if s, err := f.Summary(c.scope); err != nil || s.Count != c.want {
			t.Errorf("%+v: %d requests, want %d (%v)", c.scope, s.Count, c.want, err)
		}
	}
}

func TestSessions(t *testing.T) {
	f := NewFold(options(t))
	first, second := streamed(0, 0, 100*ms, 200*ms), streamed(0, 300*ms, 400*ms, 500*ms)
	first.Session, second.Session, second.Turn = "a", "a", 1
	first.Cached, second.Cached = 0, 5
	bad := failed(0, 100*ms, record.Reset, 0, "peer")
	bad.Session = "b"
	for _, r := range []*record.Record{second, first, bad} {
		f.Add(r)
	}
	s, err := f.SummarizeSessions(f.Sessions())
	if err != nil {
		t.Fatal(err)
	}
	if s.Sessions != 2 || s.OK != 1 || s.Failed != 1 || s.Events != 3 || s.Completed != 2 || s.PerSecond != 4 || s.Told != 1 {
		t.Errorf("%+v", s)
	}
	if s.HitPercent == nil || *s.HitPercent != 25 || mean(s.Duration) != 0.3 || mean(s.First) != 0.1 || len(s.Failures) != 1 {
		t.Errorf("hits %v, duration %v, first %v, failures %v", s.HitPercent, mean(s.Duration), mean(s.First), s.Failures)
	}
}

func TestMedia(t *testing.T) {
	o := options(t)
	o.Media = func(prompt uint64) []Medium {
		if prompt == 1 {
			return []Medium{{Kind: Image, Bytes: 10, Width: 4, Height: 2}, {Kind: Audio, Bytes: 5, Length: time.Second}}
		}
		return nil
	}
	shown, plain := streamed(0, 0, ms, 2*ms), streamed(0, 0, ms, 2*ms)
	shown.Prompt = 1
	s := summary(t, o, shown, plain)
	if s.Images != 1 || mean(s.Image.Count) != 0.5 || mean(s.Image.Pixels) != 8 || mean(s.Image.Aspect) != 2 || mean(s.Audio.Seconds) != 1 ||
		s.Video.Pixels != nil {
		t.Errorf("%+v %+v %+v", s.Image, s.Video, s.Audio)
	}
}

// A recorded session has as many events as its record, and the first token that counts is
// one for the user.
// differs: ip-never-went
func TestRecordedSessions(t *testing.T) {
	turn := func(session string, n int, r *record.Record) *record.Record {
		r.Session, r.Turn, r.Streamed = session, n, true
		return r
	}
	mark := func(session string, m record.SessionSummary) *record.SessionSummary {
		m.Session = session
		return &m
	}
	f := NewFold(options(t))
	f.AddSession(mark("whole", record.SessionSummary{Begin: 0, End: 700 * ms, Calls: 2, User: []int{1}, UserIDs: []string{"b"}, Program: 1}))
	f.AddSession(mark("broken", record.SessionSummary{Begin: 0, End: 300 * ms, Calls: 5, Unsent: 3, Cause: record.RequestFailed, Message: "gone", User: []int{4}}))
	f.AddSession(mark("cut", record.SessionSummary{Begin: 0, End: 200 * ms, Calls: 3, Unsent: 2, Cause: record.SessionHalted, Repaired: []string{"x", "y"}}))
	f.AddSession(mark("refused", record.SessionSummary{Begin: 0, End: 100 * ms, Calls: 1, Cause: record.RequestFailed, User: []int{0}}))
	for _, r := range []*record.Record{
		turn("whole", 0, streamed(0, 100*ms, 150*ms, 200*ms)), turn("whole", 1, streamed(0, 300*ms, 400*ms, 500*ms)),
		turn("broken", 0, streamed(0, 0, 100*ms, 200*ms)), turn("broken", 1, failed(0, 300*ms, record.Reset, 0, "gone")),
		turn("cut", 0, streamed(0, 0, 100*ms, 200*ms)), turn("refused", 0, failed(0, 100*ms, record.HTTPStatus, 429, "busy")),
	} {
		f.Add(r)
	}
	all := f.Sessions()
	s, err := f.SummarizeSessions(all)
	if err != nil {
		t.Fatal(err)
	}
	if s.Sessions != 4 || s.OK != 1 || s.Failed != 3 || s.Events != 11 || s.Completed != 4 || s.Cancelled != 5 || s.Repaired != 1 ||
		s.Repairs != 2 {
		t.Errorf("%+v", s)
	}
	if s.NoFirst["no_user_facing"] != 2 || mean(s.First) != 0.4 || s.First.N != 1 || s.NoFirst["non_streaming"] != 1 || mean(s.Programs) != 1./4 {
		t.Errorf("first %v, none %v, programs %v", mean(s.First), s.NoFirst, mean(s.Programs))
	}
	if len(s.Failures) != 2 || s.Failures[0].Label != "request_failed" || s.Failures[1].Label != "stage_ended" {
		t.Errorf("%+v", s.Failures)
	}
	if text := s.RepairMessages[0].Text; text != "substitutions=2 event_ids=['x', 'y']" {
		t.Error(text)
	}
	o := options(t)
	o.Faithful = true
	f = NewFold(o)
	f.AddSession(mark("cut", record.SessionSummary{Cause: record.SessionHalted}))
	f.Add(turn("cut", 0, streamed(0, 0, 100*ms, 200*ms)))
	if n := len(f.Sessions()); n != 0 {
		t.Errorf("%d sessions that their stage cut short", n)
	}
	f.AddSession(mark("short", record.SessionSummary{Calls: 2, User: []int{0, 1}}))
	f.Add(turn("short", 0, streamed(0, 100*ms, 150*ms))) // one token has no time to first token there, but is a session's first
	f.Add(turn("short", 1, streamed(0, 300*ms, 400*ms, 500*ms)))
	if all := f.Sessions(); len(all) != 1 || all[0].First != 150*ms {
		t.Errorf("the first token of a short response is not the session's: %+v", all)
	}
}
