package engine

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// chats yields conversations.
type chats struct {
	most, turns int
	think       time.Duration
	heard       chan string // answers, as the conversations got them
}

func (c *chats) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	if at.I >= uint64(c.most) {
		return prompt.Prompt{}, io.EOF
	}
	s := &talk{chats: c, name: fmt.Sprint("s", c.most-1-int(at.I))}
	return prompt.Prompt{Text: "first", Session: s.name, Rest: s, Tokens: 1}, nil
}

type talk struct {
	chats *chats
	name  string
	turn  int
}

func (s *talk) Next(a prompt.Response) (prompt.Prompt, time.Duration, error) {
	s.chats.heard <- a.Text
	s.turn++
	if s.turn == s.chats.turns {
		return prompt.Prompt{}, 0, io.EOF
	}
	return prompt.Prompt{Text: "next", Session: s.name, Turn: s.turn, Rest: s, Tokens: 1}, s.chats.think, nil
}

// parrot decodes every response to the same words.
func parrot(rec *record.Exchange) {
	rec.Text = []byte("hmmyes")
	rec.Events = []record.Event{{Label: record.Reasoning, Text: 3}, {Label: record.Content, Text: 3}}
}

func converse(t *testing.T, c *chats, s load.Profile) ([]*record.Exchange, record.StageSummary) {
	t.Helper()
	b := newBench(100*time.Millisecond, 0)
	b.cfg.Source, b.cfg.Decoder = c, endpoint.Decoder{Decode: parrot}
	b.Engine = New(b.cfg)
	c.heard = make(chan string, 1000)
	mark := b.run(t, s)
	slices.SortFunc(b.keeper.recs, func(x, y *record.Exchange) int { return int(x.Due - y.Due) })
	return b.keeper.recs, mark
}

// Every turn is sent once, due when its user has thought after the response before, and
// the stage ends with the last one though the source was dry long before.
func TestConversations(t *testing.T) {
	for name, s := range map[string]load.Profile{
		"closed":      {InFlight: slots(2), MaxSlots: 2, Drain: time.Second},
		"one slot":    {InFlight: slots(1), MaxSlots: 1, Drain: time.Second},
		"open":        {Arrivals: &every{gap: 10 * time.Millisecond}, InFlight: slots(0), Drain: time.Second},
		"open capped": {Arrivals: &every{gap: 10 * time.Millisecond}, InFlight: slots(2), MaxSlots: 2, Drain: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const think = 50 * time.Millisecond
				c := &chats{most: 3, turns: 4, think: think}
				recs, mark := converse(t, c, s)
				if len(recs) != 12 || mark.Reason != "data" {
					t.Fatalf("%d requests, ended by %q", len(recs), mark.Reason)
				}
				ends := map[string]time.Duration{}
				turns := map[string]int{}
				for _, r := range recs {
					if r.Turn != turns[r.Session] {
						t.Errorf("turn %d of %s where %d should come", r.Turn, r.Session, turns[r.Session])
					}
					if end, ok := ends[r.Session]; ok && r.Due != end+think {
						t.Errorf("turn %d of %s is due at %v, %v after the answer", r.Turn, r.Session, r.Due, r.Due-end)
					}
					turns[r.Session]++
					ends[r.Session] = r.End
				}
				if mark.SendEnd < recs[11].Sent {
					t.Errorf("sending ended at %v, before the last turn at %v", mark.SendEnd, recs[11].Sent)
				}
				for range recs {
					if got := <-c.heard; got != "yes" {
						t.Errorf("a conversation was told %q, not what a user would read", got)
					}
				}
			})
		})
	}
}

// What a conversation is told of an unstreamed response is what the model said, where the protocol can tell
// that from what it thought.
func TestUnstreamedThoughts(t *testing.T) {
	whole := func(rec *record.Exchange) {
		rec.Text = []byte("hmmyes")
		rec.Events = []record.Event{{Label: record.Whole, Text: 6}}
	}
	for name, c := range map[string]struct {
		reply func(*record.Record) prompt.Response
		heard string
	}{
		"thought and said":   {func(*record.Record) prompt.Response { return prompt.Response{Text: "yes", Reasoning: "hmm"} }, "yes"},
		"thought alone":      {func(*record.Record) prompt.Response { return prompt.Response{Reasoning: "hmmyes"} }, ""},
		"a call":             {func(*record.Record) prompt.Response { return prompt.Response{ToolCalls: make([]prompt.ToolCall, 1)} }, ""},
		"neither, a refusal": {func(*record.Record) prompt.Response { return prompt.Response{} }, "hmmyes"},
		"a protocol of text": {nil, "hmmyes"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(100*time.Millisecond, 0)
				chat := &chats{most: 1, turns: 2, heard: make(chan string, 10)}
				b.cfg.Source, b.cfg.Decoder = chat, endpoint.Decoder{Decode: whole, Reply: c.reply}
				b.Engine = New(b.cfg)
				b.run(t, load.Profile{InFlight: slots(1), MaxSlots: 1, Drain: time.Second})
				if got := <-chat.heard; got != c.heard {
					t.Errorf("the conversation was told %q in place of %q", got, c.heard)
				}
			})
		})
	}
}

func TestConversationEndsWithTheStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recs, mark := converse(t, &chats{most: 1, turns: 1000, think: time.Hour},
			load.Profile{InFlight: slots(1), MaxSlots: 1, Duration: 10 * time.Second, Drain: time.Second})
		if len(recs) != 1 || mark.Reason != "duration" || mark.SendEnd != 10*time.Second {
			t.Errorf("%d requests, ended by %q at %v", len(recs), mark.Reason, mark.SendEnd)
		}
	})
}

func TestRequestsCountTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recs, mark := converse(t, &chats{most: 10, turns: 3},
			load.Profile{InFlight: slots(1), MaxSlots: 1, Requests: 5, Drain: time.Second})
		if len(recs) != 5 || mark.Reason != "requests" {
			t.Errorf("%d requests, ended by %q", len(recs), mark.Reason)
		}
	})
}

// A load of sessions takes so many of them and ends with the last turn of the last one,
// though the source has more. The next stage goes on with those that follow.
func TestSessions(t *testing.T) {
	for name, s := range map[string]load.Profile{
		"slots":       {InFlight: slots(2), MaxSlots: 2},
		"many slots":  {InFlight: slots(50), MaxSlots: 50},
		"rate":        {Arrivals: &every{gap: 10 * time.Millisecond}, InFlight: slots(0)},
		"rate capped": {Arrivals: &every{gap: 10 * time.Millisecond}, InFlight: slots(2), MaxSlots: 2},
		"at once":     {Arrivals: load.Intervals([]time.Duration{0}), InFlight: slots(0)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s.Sessions, s.Drain = 5, time.Second
				c := &chats{most: 100, turns: 4, think: 50 * time.Millisecond, heard: make(chan string, 1000)}
				b := newBench(100*time.Millisecond, 0)
				b.cfg.Source, b.cfg.Decoder = c, endpoint.Decoder{Decode: parrot}
				b.cfg.Feeders = 3
				b.Engine = New(b.cfg)
				for stage := range 2 {
					s.Index = stage
					mark := b.run(t, s)
					turns := map[string]int{}
					for _, r := range b.keeper.recs {
						turns[r.Session]++
					}
					if len(turns) != 5*(stage+1) || mark.Reason != "data" {
						t.Errorf("stage %d: %d sessions so far, ended by %q", stage, len(turns), mark.Reason)
					}
					for session, n := range turns {
						if n != 4 {
							t.Errorf("stage %d: %s had %d turns in place of 4", stage, session, n)
						}
					}
				}
			})
		})
	}
}
