package run

import (
	"encoding/json"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// longResponses has responses take 430 ms and more, of which half are there when users leave.
func longResponses(c *config.Server) {
	c.Truth, c.TruthBody, c.HTTP2 = "in memory", true, true
	c.Output.Tokens = 29
	c.Latency.TTFT, c.Latency.ITL = 10*time.Millisecond, 15*time.Millisecond
}

// Users who go away are chosen by seed and number; the server sees them leave, and reports know them.
func TestUsersCancel(t *testing.T) {
	for name, change := range map[string]func(p *plan.Plan){
		"streamed": func(*plan.Plan) {},
		"whole":    func(p *plan.Plan) { p.Target.Streaming = false },
		"http2":    func(p *plan.Plan) { p.Target.HTTP2 = true },
		"triton": func(p *plan.Plan) {
			p.Target.Protocol, p.Target.Transport, p.Target.Endpoint, p.Target.Model = plan.ProtocolTriton, plan.TransportGRPC, plan.EndpointStream, "mock"
		},
		"open loop": func(p *plan.Plan) { p.Stages[0].Concurrency, p.Stages[0].Rate = 0, 200 },
		"warm-up":   func(p *plan.Plan) { p.Stages[0].Warmup.Requests, p.Stages[0].Requests = 20, 20 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, longResponses)
			p := closedPlan(t, s.url, 8, 40)
			if name == "triton" {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				go func() { _ = s.mock.ServeGRPC(l) }()
				p.Target.URLs[0] = "grpc://" + l.Addr().String()
			}
			p.Cancel = plan.Cancel{Share: 0.25, After: plan.Length{Dist: plan.DistFixed, Mean: 250}}
			change(p)
			res := mustRun(t, p)
			chosen, left := map[int64]bool{}, map[int64]bool{}
			who, warm := prompt.NewCancellation(p.Cancel, p.Seed), int64(0)
			for seq := range int64(40) {
				if who.After(seq) > 0 {
					chosen[seq] = true
					if seq < p.Stages[0].Warmup.Requests {
						warm++
					}
				}
			}
			begun := int64(0) // those whose users left after some tokens
			for seq, truth := range s.truths(t) {
				if truth.Finish != "abort" {
					continue
				}
				left[seq] = true
				if truth.Tokens >= 29 {
					t.Errorf("request %d was cancelled after %d tokens", seq, truth.Tokens)
				}
				if truth.Tokens > 1 && seq >= p.Stages[0].Warmup.Requests {
					begun++
				}
			}
			if diff := cmp.Diff(chosen, left); diff != "" || len(left) < 5 {
				t.Errorf("the server saw %d users leave (-chosen +left):\n%s", len(left), diff)
			}
			st := &res.Stages[0]
			n, c := int64(len(chosen))-warm, st.Counts
			if c.UserCancelled != n || c.OK != c.Sent-n || c.Failed != 0 || len(st.Failures) != 0 {
				t.Errorf("counts %+v, failures %+v, want %d cancelled", c, st.Failures, n)
			}
			if rate := st.Metrics["error_rate"].Avg; rate != 0 {
				t.Errorf("error rate %v", rate)
			}
			latency, first := st.Metrics["request_latency"], st.Metrics["time_to_first_token"]
			if latency.Avg < 420 || latency.Min < 420 {
				t.Errorf("latency %v ms on average, at least %v ms: the truth is 430 ms and more", latency.Avg, latency.Min)
			}
			if p.Target.Streaming && (first.Count < st.Counts.OK+begun || begun == 0) {
				t.Errorf("%d first tokens of %d requests and %d that were cancelled with some", first.Count, st.Counts.OK, begun)
			}
		})
	}
}

// A conversation goes on from what its user had read.
func TestConversationsGoOnAfterACancel(t *testing.T) {
	s := serve(t, longResponses)
	p := closedPlan(t, s.url, 2, 0)
	p.Data.Source, p.Data.Input.Mean = plan.SourceSessions, 4
	p.Data.Sessions = plan.Sessions{Count: 4, Turns: plan.Length{Dist: plan.DistFixed, Mean: 3}}
	p.Stages = []plan.Stage{{Arrival: plan.ArrivalSessions, Sessions: plan.SessionLoad{Concurrent: 2}}}
	p.Cancel = plan.Cancel{Share: 1, After: plan.Length{Dist: plan.DistFixed, Mean: 250}}
	res := mustRun(t, p)
	if c := res.Stages[0].Counts; c.UserCancelled != 12 || c.OK != 0 || c.Failed != 0 {
		t.Errorf("counts %+v", c)
	}
	if len(res.Verdict.Reasons) == 0 || !strings.Contains(res.Verdict.Reasons[0], "user went away") {
		t.Errorf("reasons %q", res.Verdict.Reasons)
	}
	var lengths []int
	truths := s.truths(t)
	for _, seq := range slices.Sorted(maps.Keys(truths)) {
		truth := truths[seq]
		var body struct{ Messages []prompt.Message }
		if err := json.Unmarshal(truth.Body, &body); err != nil || truth.Finish != "abort" {
			t.Fatalf("%v, %+v", err, truth)
		}
		lengths = append(lengths, len(body.Messages))
		for i, m := range body.Messages {
			if said := len(strings.Fields(m.Content)); m.Role != [...]string{"user", "assistant"}[i%2] || i%2 == 1 && (said == 0 || said >= 29) {
				t.Errorf("message %d of %d: %s, %d words", i, len(body.Messages), m.Role, said)
			}
		}
	}
	if want := []int{1, 1, 1, 1, 3, 3, 3, 3, 5, 5, 5, 5}; !slices.Equal(lengths, want) {
		t.Errorf("messages %v, want %v", lengths, want)
	}
}
