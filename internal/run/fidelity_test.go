package run

import (
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
	"github.com/inferometer/inferometer/internal/record"
)

// kindOf is what the server calls an event that we label so.
func kindOf(l record.EventKind) string {
	switch l {
	case record.ToolCall:
		return "tool"
	default:
		return l.String()
	}
}

// What the records say is held against what the server says that it sent: nothing
// is lost or invented, nothing came before it was written, all is in order, and what
// came together is marked. How long anything took is not judged here.
// differs: genai-times
func TestRecordsAgreeWithTheServersTruth(t *testing.T) {
	for _, tt := range []struct {
		name        string
		concurrency int
		change      func(c *config.Server)
	}{
		{"paced", 8, func(c *config.Server) {
			c.Latency.TTFT, c.Latency.ITL = 3*time.Millisecond, time.Millisecond
		}},
		{"as fast as it goes", 16, func(c *config.Server) { c.Output.Tokens = 40 }},
		{"several events in a write", 4, func(c *config.Server) {
			c.Output.Tokens, c.Output.Coalesce = 30, 4
			c.Latency.TTFT, c.Latency.ITL = 2*time.Millisecond, 200*time.Microsecond
		}},
		{"several tokens in an event, reasoning first, comments, head ahead", 4, func(c *config.Server) {
			c.Output.Tokens, c.Output.TokensPerEvent, c.Output.ReasoningTokens = 21, 3, 6
			c.Output.FinishEvent, c.Output.EarlyHeaders = true, true
			c.Latency.TTFT, c.Output.KeepAlive = 8*time.Millisecond, 3*time.Millisecond
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const requests = 60
			s := serve(t, tt.change)
			p := closedPlan(t, s.url, tt.concurrency, requests)
			res := mustRun(t, p)
			k := readKept(t, p.Output.Dir)
			truths := s.truths(t)
			if c := res.Stages[0].Counts; c.OK != requests || c.Sent != requests || len(k.recs) != requests || len(truths) != requests {
				t.Fatalf("%+v; %d records; the server answered %d; want %d of each", c, len(k.recs), len(truths), requests)
			}
			for n, truth := range truths {
				rec, ok := k.recs[n]
				if !ok {
					t.Fatalf("request %d has no record", n)
				}
				agree(t, k.header.Start.UnixNano(), &rec, &truth)
				if t.Failed() {
					t.Fatalf("request %d:\nrecord %+v\ntruth %+v", n, rec, truth)
				}
			}
		})
	}
}

// agree holds one record against the truth; zero is the wall-clock moment of offset 0.
func agree(t *testing.T, zero int64, rec *record.Record, truth *truthfile.Request) {
	t.Helper()
	if rec.Failure != nil || rec.Status != truth.Status {
		t.Errorf("status %d, failure %+v; the server sent status %d", rec.Status, rec.Failure, truth.Status)
	}
	if rec.Out.N != truth.Tokens || rec.Out.Source != record.FromServer || rec.In.N != truth.Prompt || rec.Finish != truth.Finish {
		t.Errorf("%+v in, %+v out, finish %q; the server got %d, sent %d and finished with %q", rec.In, rec.Out, rec.Finish, truth.Prompt, truth.Tokens, truth.Finish)
	}
	if int64(rec.Sent)+zero > truth.Read {
		t.Errorf("sent %d ns after the server had read it", int64(rec.Sent)+zero-truth.Read)
	}
	if len(rec.Events) != len(truth.Events) {
		t.Errorf("%d events, the server sent %d", len(rec.Events), len(truth.Events))
		return
	}
	bytes := 0
	var last time.Duration
	for i, e := range rec.Events {
		sent := truth.Events[i]
		bytes += sent.Bytes
		at := rec.Marks[e.Mark].Time()
		if kindOf(e.Label) != sent.Kind {
			t.Errorf("event %d is labelled %s, the server sent %s", i, e.Label, sent.Kind)
		}
		if int64(at)+zero < sent.At {
			t.Errorf("event %d is stamped %d ns before it was written", i, sent.At-int64(at)-zero)
		}
		if at < last {
			t.Errorf("event %d is stamped %v before the one ahead of it", i, last-at)
		}
		last = at
		if e.Label.IsToken() && e.Tokens >= 0 && e.Tokens != sent.Tokens {
			t.Errorf("event %d has %d tokens, the server sent %d", i, e.Tokens, sent.Tokens)
		}
		shares := i+1 < len(rec.Events) && rec.Events[i+1].Mark == e.Mark
		if e.Merged != shares {
			t.Errorf("event %d: merged is %v, and a later one came with it: %v", i, e.Merged, shares)
		}
	}
	if off := rec.Marks[len(rec.Marks)-1].Off; off != bytes {
		t.Errorf("%d bytes of answer, the server sent %d", off, bytes)
	}
	ttft(t, rec, truth)
}

// ttft makes sure that the time to the first token, counted from Sent, holds all of
// the time that the server took.
func ttft(t *testing.T, rec *record.Record, truth *truthfile.Request) {
	t.Helper()
	for i, e := range rec.Events {
		if !e.Label.IsToken() {
			continue
		}
		ours, servers := rec.Marks[e.Mark].Time()-rec.Sent, time.Duration(truth.Events[i].At-truth.Read)
		if ours < servers {
			t.Errorf("first token after %v, and the server took %v from reading the request to writing it", ours, servers)
		}
		return
	}
	t.Error("no event carries a token")
}
