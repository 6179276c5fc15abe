package run

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/abort"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/run/saved"
)

// faults are the ways in which the mock can fail a request, and what they must be
// called.
var faults = []struct {
	fault  config.Fault
	class  record.Class
	status int
	words  string // in the example
	change func(c *config.Server, p *plan.Plan)
}{
	{config.Fault{Kind: config.FaultStatus, Code: 503}, record.HTTPStatus, 503, "", nil},
	{config.Fault{Kind: config.FaultStatus, Code: 429}, record.HTTPStatus, 429, "", nil},
	{config.Fault{Kind: config.FaultStatus, Code: 400}, record.HTTPStatus, 400, "", nil},
	{config.Fault{Kind: config.FaultClose}, record.Dropped, 0, "without a response", nil},
	{config.Fault{Kind: config.FaultReset}, record.Reset, 200, "", nil},
	{config.Fault{Kind: config.FaultStall}, record.Stalled, 200, "no further byte in time", func(_ *config.Server, p *plan.Plan) {
		p.Target.Timeouts.Stall = plan.Duration(50 * time.Millisecond)
	}},
	{config.Fault{Kind: config.FaultTruncate}, record.Truncated, 200, "inside a chunked response", nil},
	{config.Fault{Kind: config.FaultError}, record.StreamError, 200, "", nil},
	{config.Fault{Kind: config.FaultErrorEvent}, record.StreamError, 200, "", nil},
	{config.Fault{Kind: config.FaultGarbage}, record.BadBody, 200, "", nil},
	{config.Fault{Kind: config.FaultHTML}, record.BadBody, 200, "HTML", nil},
	{config.Fault{Kind: config.FaultSlowAccept}, record.NoFirstByte, 0, "no first byte in time", func(c *config.Server, p *plan.Plan) {
		c.SlowFor = time.Second
		p.Target.Timeouts.FirstByte = plan.Duration(200 * time.Millisecond)
	}},
}

// Each fault strikes half of the requests. Those have the class that it must have,
// the others succeed, all are counted, and the run goes on to its end.
func TestFailuresAreDataOfTheirClass(t *testing.T) {
	t.Parallel()
	for _, tt := range faults {
		t.Run(string(tt.fault.Kind)+strconv.Itoa(tt.status), func(t *testing.T) {
			const requests = 40
			tt.fault.Share = 0.5
			var p *plan.Plan
			s := reachable(t, func(c *config.Server) {
				c.Faults = []config.Fault{tt.fault}
				p = closedPlan(t, "", 4, requests)
				if tt.fault.Code > 400 {
					p.Stages[0].Concurrency = 20 // who is told to wait a second does
				}
				if tt.change != nil {
					tt.change(c, p)
				}
			})
			p.Target.URLs, p.Target.Model = []string{s.url}, "mock"
			p.Goodput = []plan.SLO{{Metric: "time_to_first_token", Max: plan.Duration(time.Hour)}}
			res := mustRun(t, p)
			k := readKept(t, p.Output.Dir)
			truths := s.truths(t)
			failed := int64(0)
			for n, rec := range k.recs {
				if rec.Failure != nil {
					failed++
					checkFailure(t, &rec, tt.class, tt.status, tt.words)
				}
				// The truth of a request does not tell what befell its connection.
				if truth, ok := truths[n]; ok && tt.fault.Kind != config.FaultSlowAccept && (truth.Fault != "") != (rec.Failure != nil) && !wasQuiet(&rec, p) {
					t.Errorf("request %d: the server's fault is %q, our failure %+v", n, truth.Fault, rec.Failure)
				}
				if tt.fault.Code == 503 && rec.Failure != nil && rec.RetryAfter != "1" {
					t.Errorf("Retry-After is recorded as %q", rec.RetryAfter)
				}
			}
			st := res.Stages[0]
			if c := st.Counts; len(k.recs) != requests || c.Sent != requests || c.OK+c.Failed != requests || c.Failed != failed || failed == 0 ||
				c.OK == 0 {
				t.Errorf("%d records, %d of them failed, counted as %+v", len(k.recs), failed, c)
			}
			if len(st.Failures) != 1 || st.Failures[0].Count != failed || st.Failures[0].Class != tt.class || st.Failures[0].Example == "" {
				t.Errorf("failures %+v, want %d of class %s with an example", st.Failures, failed, tt.class)
			}
			if g := st.Goodput[0]; g.Of != requests || g.Met != requests-failed {
				t.Errorf("goodput %+v, want %d met of %d", g, requests-failed, requests)
			}
			if st.Ended != "requests" || res.Interrupted || res.Incomplete {
				t.Errorf("ended by %q, interrupted %v, incomplete %v", st.Ended, res.Interrupted, res.Incomplete)
			}
		})
	}
}

// wasQuiet reports whether a request was rightly given up for a stall that nobody has made: on
// a busy machine the server itself may be quiet for so long.
func wasQuiet(rec *record.Record, p *plan.Plan) bool {
	n := len(rec.Marks)
	return rec.Failure != nil && rec.Failure.Class == record.Stalled && n > 0 &&
		rec.Failure.At-rec.Marks[n-1].User >= time.Duration(p.Target.Timeouts.Stall)
}

// A connection that is reset as soon as it is there can be noticed while it is being
// opened or when it is used.
func TestRefusedConnections(t *testing.T) {
	const requests = 40
	s := reachable(t, func(c *config.Server) { c.Faults = []config.Fault{{Kind: config.FaultRefuse, Share: 0.5}} })
	p := closedPlan(t, s.url, 4, requests)
	p.Target.Headers = map[string]string{"Connection": "close"} // a connection for each request
	res := mustRun(t, p)
	if c := res.Stages[0].Counts; c.Sent != requests || c.OK == 0 || c.Failed == 0 {
		t.Errorf("counts %+v", c)
	}
	for n, rec := range readKept(t, p.Output.Dir).recs {
		switch f := rec.Failure; {
		case f == nil:
		case f.Class == record.Dropped && rec.Sent != record.Never:
		case f.Class == record.ConnectFailed && rec.Sent == record.Never:
		default:
			t.Errorf("request %d, sent at %v, failed with %+v", n, rec.Sent, *f)
		}
	}
}

func checkFailure(t *testing.T, rec *record.Record, class record.Class, status int, words string) {
	t.Helper()
	f := rec.Failure
	if f.Class != class || f.Message == "" || !strings.Contains(f.Message, words) || f.At <= 0 {
		t.Errorf("request %d failed with %+v, want class %s and a message with %q", rec.Seq, *f, class, words)
	}
	// A reset may overtake the head of the response.
	if f.Status != status && !(class == record.Reset && f.Status == 0) || f.Status != rec.Status {
		t.Errorf("request %d: status %d, and %d in its failure; want %d", rec.Seq, rec.Status, f.Status, status)
	}
	if rec.End < rec.Sent || rec.Sent == record.Never {
		t.Errorf("request %d was sent at %v and ended at %v", rec.Seq, rec.Sent, rec.End)
	}
}

// reachable starts mocks until it has one whose faults of connections spare the
// first, which the look at the target takes.
func reachable(t *testing.T, change func(c *config.Server)) *server {
	t.Helper()
	for seed := range uint64(100) {
		with := func(c *config.Server) {
			change(c)
			c.Seed = seed
		}
		s := serve(t, with)
		begin := time.Now()
		resp, err := http.Get(s.url + "/v1/models")
		if err == nil {
			resp.Body.Close()
		}
		s.close()
		if err == nil && time.Since(begin) < 200*time.Millisecond {
			return serve(t, with)
		}
	}
	t.Fatal("every first connection is struck")
	return nil
}

func TestServerThatIsGoneMidway(t *testing.T) {
	// Answers slow enough for the server to go before the last request does. A slot that has failed
	// waits for a moment, so that there are many.
	s := serve(t, func(c *config.Server) { c.Latency.TTFT = 100 * time.Millisecond })
	p := closedPlan(t, s.url, 20, 300)
	o := options(t.Output())
	o.OnReady = func(progress func() Progress) {
		go func() {
			until(func() bool { return progress().Sent >= 40 })
			s.close()
		}()
	}
	res, err := Run(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	st := res.Stages[0]
	if st.Counts.Sent != 300 || st.Counts.OK < 10 || st.Counts.Failed == 0 {
		t.Errorf("counts %+v", st.Counts)
	}
	seen := map[record.Class]bool{}
	for _, f := range st.Failures {
		seen[f.Class] = true
	}
	if !seen[record.ConnectFailed] {
		t.Errorf("failures %+v, want refused connections among them", st.Failures)
	}
}

func TestMaxErrorsEndsTheRun(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fault  float64
		limit  plan.MaxErrors
		ended  record.StopReason
		fewest int64
	}{
		{"count", 1, plan.MaxErrors{Count: 5}, "errors", 5},
		{"share", 1, plan.MaxErrors{Share: 0.5}, "errors", 20},
		{"share not reached", 0.1, plan.MaxErrors{Share: 0.9}, "requests", 300},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(c *config.Server) {
				c.Faults = []config.Fault{{Kind: config.FaultStatus, Code: 500, Share: tt.fault}}
				c.Latency.TTFT = time.Millisecond
			})
			p := closedPlan(t, s.url, 2, 300)
			p.Target.Model = "mock"
			p.Target.Streaming = false
			p.Stages = append(p.Stages, plan.Stage{Concurrency: 1, Requests: 1})
			if tt.ended == "errors" {
				p.Stages[0].Requests = 1_000_000
			}
			p.MaxErrors = tt.limit
			res := mustRun(t, p)
			st := res.Stages[0]
			if st.Ended != tt.ended || st.Counts.Sent < tt.fewest || st.Counts.Sent > 100_000 {
				t.Errorf("ended by %q after %d requests, want %q after at least %d", st.Ended, st.Counts.Sent, tt.ended, tt.fewest)
			}
			if stopped := tt.ended == "errors"; res.Interrupted != stopped || (res.Stages[1].Counts.Sent == 0) != stopped {
				t.Errorf("interrupted %v, second stage %+v", res.Interrupted, res.Stages[1].Counts)
			}
			if tt.ended == "errors" && !strings.Contains(strings.Join(append(res.Notes, res.Verdict.Reasons...), "\n"), "max_errors") {
				t.Errorf("neither notes %q nor reasons %q say why it ended", res.Notes, res.Verdict.Reasons)
			}
		})
	}
}

// fewPrompts has some prompts, and cannot make the next.
type fewPrompts struct{ most uint64 }

func (f *fewPrompts) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	if at.I >= f.most {
		return prompt.Prompt{}, errors.New("no words left")
	}
	return prompt.Prompt{Text: "hello", Tokens: 1}, nil
}

// A prompt that cannot be made ends the run; what was measured is kept and says so, in
// the run's own result and in one made of its records.
func TestPromptFaultEndsTheRun(t *testing.T) {
	s := serve(t, nil)
	p := closedPlan(t, s.url, 2, 300)
	p.Stages = append(p.Stages, plan.Stage{Concurrency: 1, Requests: 1})
	o := options(io.Discard)
	o.Kit.Ready = &registry.Prompts{Source: &fewPrompts{20}}
	res, err := Run(t.Context(), p, o)
	var early *abort.Error
	if !errors.As(err, &early) || !strings.Contains(err.Error(), "no words left") {
		t.Fatalf("error %v", err)
	}
	again, err := saved.Report(p.Output.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*result.Result{"run": res, "report": again} {
		if !r.Interrupted || r.Stages[0].Ended != record.StopPrompts || r.Stages[0].Counts.Sent != 20 || r.Stages[1].Counts.Sent != 0 {
			t.Errorf("%s: interrupted %v, stages %+v and %+v", name, r.Interrupted, r.Stages[0].Counts, r.Stages[1].Counts)
		}
	}
}
