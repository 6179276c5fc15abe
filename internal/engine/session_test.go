package engine

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// recording has a recorded session so many times.
type recording struct {
	graph *prompt.Graph
	most  int
}

func (r *recording) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	if at.I >= uint64(r.most) {
		return prompt.Prompt{}, io.EOF
	}
	name := fmt.Sprint("s", r.most-1-int(at.I))
	return prompt.Prompt{Session: name, Play: &prompt.Play{Graph: r.graph, Name: name}}, nil
}

// agents answers each call of a session after a time of its own.
type agents struct {
	start   time.Time
	latency []time.Duration // by turn
	fail    map[int]bool

	mu   sync.Mutex
	said map[int]string // last message of each turn
}

func (a *agents) Prepare(p *prompt.Prompt) (endpoint.Call, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var text string
	for _, m := range p.Messages {
		text += m.Role + ":" + m.Content + ";"
	}
	a.said[p.Turn] = text
	return agentCall{a, p.Turn}, nil
}

type agentCall struct {
	a    *agents
	turn int
}

func (c agentCall) Do(ctx context.Context, rec *record.Exchange) {
	rec.Sent = time.Since(c.a.start)
	t := time.NewTimer(c.a.latency[c.turn])
	defer t.Stop()
	select {
	case <-t.C:
		if c.a.fail[c.turn] {
			rec.Failure = &record.Failure{Class: record.HTTPStatus, Message: "500"}
		}
	case <-ctx.Done():
		rec.Failure = &record.Failure{Class: record.CutOff}
	}
	rec.End = time.Since(c.a.start)
}

// Decode and Reply answer every turn with its number, as a response that is not streamed.
func (a *agents) Decode(rec *record.Exchange) { rec.Events = []record.Event{{Label: record.Whole}} }

func (a *agents) Reply(rec *record.Record) prompt.Response {
	return prompt.Response{Text: fmt.Sprint("live", rec.Turn)}
}

// sessionKeeper keeps the marks of sessions too.
type sessionKeeper struct {
	keeper
	marks []record.SessionSummary
}

func (k *sessionKeeper) Session(m record.SessionSummary) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.marks = append(k.marks, m)
}

const ms = time.Millisecond

// diamond is 0, then 1 and 2 side by side, then 3, which quotes 1 and 2; 4 stands alone.
func diamond() *prompt.Graph {
	user := func(text string) prompt.Message { return prompt.Message{Role: "user", Content: text} }
	old := func(text string) prompt.Message { return prompt.Message{Role: "assistant", Content: text} }
	call := func(after []int, wait time.Duration, segments []prompt.Segment, m ...prompt.Message) prompt.GraphCall {
		return prompt.GraphCall{ID: m[0].Content, After: after, Wait: wait, Segments: segments, Prompt: prompt.Prompt{Messages: m}}
	}
	return &prompt.Graph{Origin: "file", Calls: []prompt.GraphCall{
		call(nil, 0, nil, user("a")),
		call([]int{0}, 50*ms, []prompt.Segment{{Kind: prompt.Shared, Messages: 1, From: 0}}, user("a"), user("b")),
		call([]int{0}, 0, nil, user("c")),
		call([]int{1, 2}, 10*ms, []prompt.Segment{
			{Kind: prompt.Shared, Messages: 2, From: 1}, {Kind: prompt.Output, Messages: 1, From: 1}, {Messages: 1},
			{Kind: prompt.Output, Messages: 1, From: 2},
		}, user("a"), user("b"), old("rec1"), user("d"), old("rec2")),
		call(nil, 20*ms, nil, user("e")),
	}}
}

func TestSession(t *testing.T) {
	const all = "user:a;user:b;assistant:live1;user:d;assistant:live2;"
	for _, tt := range []struct {
		name     string
		change   func(*prompt.Graph, *agents, *load.Profile)
		sent     map[int]time.Duration
		unsent   int
		cause    record.SessionCause
		end      time.Duration
		thirdSay string
	}{
		{name: "whole", sent: map[int]time.Duration{0: 0, 1: 150 * ms, 2: 100 * ms, 3: 360 * ms, 4: 20 * ms}, end: 370 * ms, thirdSay: all},
		{
			name:   "as recorded",
			change: func(g *prompt.Graph, _ *agents, _ *load.Profile) { g.Recorded = true },
			sent:   map[int]time.Duration{0: 0, 1: 150 * ms, 2: 100 * ms, 3: 360 * ms, 4: 20 * ms}, end: 370 * ms,
			thirdSay: "user:a;user:b;assistant:rec1;user:d;assistant:rec2;",
		},
		{
			name:   "one fails, and what comes after it does not go",
			change: func(_ *prompt.Graph, a *agents, _ *load.Profile) { a.fail[2] = true },
			sent:   map[int]time.Duration{0: 0, 1: 150 * ms, 2: 100 * ms, 4: 20 * ms}, unsent: 1, cause: record.RequestFailed, end: 350 * ms,
		},
		{
			name:   "patience is over while 1 is answered",
			change: func(g *prompt.Graph, _ *agents, _ *load.Profile) { g.Patience = 349 * ms },
			sent:   map[int]time.Duration{0: 0, 1: 150 * ms, 2: 100 * ms, 4: 20 * ms}, unsent: 1, cause: record.WaitFailed, end: 350 * ms,
		},
		{
			name:   "patience is over during the recorded wait",
			change: func(g *prompt.Graph, _ *agents, _ *load.Profile) { g.Patience = 355 * ms },
			sent:   map[int]time.Duration{0: 0, 1: 150 * ms, 2: 100 * ms, 3: 360 * ms, 4: 20 * ms}, end: 370 * ms, thirdSay: all,
		},
		{
			name:   "the stage ends",
			change: func(_ *prompt.Graph, _ *agents, s *load.Profile) { s.Duration = 120 * ms },
			sent:   map[int]time.Duration{0: 0, 2: 100 * ms, 4: 20 * ms}, unsent: 2, cause: record.SessionHalted, end: 110 * ms,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, s := diamond(), load.Profile{InFlight: slots(1), MaxSlots: 1, Drain: time.Second}
				a := &agents{start: time.Now(), latency: []time.Duration{100 * ms, 200 * ms, 10 * ms, 10 * ms, 10 * ms}, fail: map[int]bool{},
					said: map[int]string{}}
				if tt.change != nil {
					tt.change(g, a, &s)
				}
				keep := &sessionKeeper{}
				e := New(Config{
					Now: func() time.Duration { return time.Since(a.start) }, Source: &recording{g, 1}, Prepare: a.Prepare,
					Decoder: endpoint.Decoder{Decode: a.Decode, Reply: a.Reply}, Sink: keep, Session: keep.Session,
					NewSleeper: load.NewTimerSleeper, Live: NewLive(1), Feeders: 1,
				})
				defer e.Close()
				if _, err := e.Run(t.Context(), s, nil); err != nil {
					t.Fatal(err)
				}
				sent, seqs := map[int]time.Duration{}, map[int64]bool{}
				for _, r := range keep.recs {
					sent[r.Turn] = r.Sent
					seqs[r.Seq] = true
					if r.Session != "s0" || r.Due != r.Sent {
						t.Errorf("turn %d of %q is due at %v and sent at %v", r.Turn, r.Session, r.Due, r.Sent)
					}
				}
				if !reflect.DeepEqual(sent, tt.sent) {
					t.Errorf("sent %v\nwant %v", sent, tt.sent)
				}
				if len(seqs) != len(keep.recs) {
					t.Errorf("%d numbers for %d requests", len(seqs), len(keep.recs))
				}
				if len(keep.marks) != 1 {
					t.Fatalf("%d marks", len(keep.marks))
				}
				m := keep.marks[0]
				if m.Unsent != tt.unsent || m.Cause != tt.cause || m.End != tt.end || m.Calls != 5 || m.Origin != "file" || m.Session != "s0" {
					t.Errorf("mark %+v, want %d unsent, cause %q, end %v", m, tt.unsent, tt.cause, tt.end)
				}
				if a.said[3] != tt.thirdSay {
					t.Errorf("call 3 said %q\nwant %q", a.said[3], tt.thirdSay)
				}
			})
		})
	}
}

// A slot has one session at a time, and a load of sessions ends with the last call of the
// last one.
func TestSessionsHoldTheirSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &agents{start: time.Now(), latency: []time.Duration{100 * ms, 200 * ms, 10 * ms, 10 * ms, 10 * ms}, said: map[int]string{}}
		keep := &sessionKeeper{}
		e := New(Config{
			Now: func() time.Duration { return time.Since(a.start) }, Source: &recording{diamond(), 100}, Prepare: a.Prepare,
			Decoder: endpoint.Decoder{Decode: a.Decode, Reply: a.Reply}, Sink: keep, Session: keep.Session,
			NewSleeper: load.NewTimerSleeper, Live: NewLive(1), Feeders: 1,
		})
		defer e.Close()
		mark, err := e.Run(t.Context(), load.Profile{InFlight: slots(2), MaxSlots: 2, Sessions: 5, Drain: time.Second}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(keep.recs) != 25 || len(keep.marks) != 5 || mark.Reason != "data" || mark.DrainEnd != 3*370*ms {
			t.Fatalf("%d requests of %d sessions, ended by %q at %v", len(keep.recs), len(keep.marks), mark.Reason, mark.DrainEnd)
		}
		var begins []time.Duration
		for _, m := range keep.marks {
			begins = append(begins, m.Begin)
			if m.End-m.Begin != 370*ms || m.Cause != "" {
				t.Errorf("mark %+v", m)
			}
		}
		slices.Sort(begins)
		if want := []time.Duration{0, 0, 370 * ms, 370 * ms, 740 * ms}; !slices.Equal(begins, want) {
			t.Errorf("sessions began at %v, want %v", begins, want)
		}
	})
}
