package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// users yields turns of a few conversations, one after the other.
type users struct {
	talks []*shared
	think time.Duration // of each after a response
	fault error
}

func newUsers(n int) *users {
	u := &users{}
	for i := range n {
		u.talks = append(u.talks, &shared{users: u, name: fmt.Sprint("u", i), free: make(chan struct{}, 1)})
	}
	return u
}

func (u *users) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	t := u.talks[int(at.I)%len(u.talks)]
	return prompt.Prompt{Late: t, Session: t.name}, nil
}

type shared struct {
	users *users
	name  string
	free  chan struct{}
	turn  int
	// thought is for how long before the turn.
	thought time.Duration
	heard   []prompt.Response
}

func (s *shared) Await(ctx context.Context) error {
	select {
	case s.free <- struct{}{}:
		if s.thought = 0; s.turn > 0 {
			s.thought = s.users.think
			time.Sleep(s.thought)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *shared) Prompt() (prompt.Prompt, error) {
	p := prompt.Prompt{Text: "turn", Session: s.name, Turn: s.turn, Tokens: 1, Think: s.thought}
	s.turn++
	return p, s.users.fault
}

func (s *shared) End(a prompt.Response) {
	s.heard = append(s.heard, a)
	<-s.free
}

func latecomers(t *testing.T, u *users, s load.Profile) ([]*record.Exchange, record.StageSummary, error) {
	t.Helper()
	b := newBench(100*time.Millisecond, 0)
	b.cfg.Source, b.cfg.Decoder = u, endpoint.Decoder{Decode: parrot}
	b.Engine = New(b.cfg)
	mark, err := b.Run(t.Context(), s, nil)
	b.Close()
	return b.keeper.recs, mark, err
}

// Time in which a user thinks is no part of what a request waits for: it is due later.
func TestThinkTimeIsNoWait(t *testing.T) {
	for name, s := range map[string]load.Profile{
		"open":   {Arrivals: &every{gap: 10 * time.Millisecond}, InFlight: slots(0), Requests: 6, Drain: time.Minute},
		"closed": {InFlight: slots(1), MaxSlots: 1, Requests: 6, Drain: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := newUsers(1)
				u.think = 300 * time.Millisecond
				recs, _, err := latecomers(t, u, s)
				if err != nil || len(recs) != 6 {
					t.Fatalf("%d requests went: %v", len(recs), err)
				}
				for i, r := range recs {
					thought, held := u.think, time.Duration(0)
					if i == 0 {
						thought = 0
					}
					if name == "open" { // it is asked for every 10 ms, and each response takes 100
						held = r.Ready - r.Scheduled() - thought
					}
					if r.Think != thought || r.Due-r.Scheduled() != thought || r.Held != held || r.Ready-r.Due != held {
						t.Errorf("turn %d was scheduled at %v, due at %v, held for %v and ready at %v; it was thought for %v", r.Turn, r.Scheduled(), r.Due, r.Held, r.Ready, r.Think)
					}
				}
				if last := recs[5]; name == "open" && last.Held < 1500*time.Millisecond {
					t.Errorf("the last turn was held for %v", last.Held)
				}
			})
		})
	}
}

// Turns of one conversation go one after the other, however many arrive; those that were
// asked for by number all go, and the wait is on the record.
func TestTurnsWaitForAnswers(t *testing.T) {
	for name, s := range map[string]load.Profile{
		"open":   {Arrivals: &every{gap: 10 * time.Millisecond}, InFlight: slots(0), Requests: 20, Drain: time.Minute},
		"closed": {InFlight: slots(8), MaxSlots: 8, Requests: 20, Drain: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := newUsers(2)
				recs, mark, err := latecomers(t, u, s)
				if err != nil || len(recs) != 20 || mark.Unsent != 0 {
					t.Fatalf("%d requests went, %d did not: %v", len(recs), mark.Unsent, err)
				}
				ends, seen := map[string]time.Duration{}, map[int64]bool{}
				var held time.Duration
				for _, r := range recs {
					if r.Sent < ends[r.Session] {
						t.Errorf("turn %d of %s went at %v, before the answer at %v", r.Turn, r.Session, r.Sent, ends[r.Session])
					}
					ends[r.Session] = r.End
					held = max(held, r.Held)
					if r.Ready-r.Due-r.Held > time.Millisecond || seen[r.Seq] || !r.Decoded {
						t.Errorf("%+v", r)
					}
					seen[r.Seq] = true
				}
				if held < 500*time.Millisecond && name == "open" {
					t.Errorf("the last turns waited for %v", held)
				}
				for _, s := range u.talks {
					if s.turn != 10 || len(s.heard) != 10 || s.heard[0].Text != "yes" {
						t.Errorf("%s had %d turns and heard %+v", s.name, s.turn, s.heard)
					}
				}
			})
		})
	}
}

// What waits when the time is over does not go, and is counted.
func TestTurnsThatNeverGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := load.Profile{Arrivals: &every{gap: 10 * time.Millisecond}, InFlight: slots(0), Duration: 450 * time.Millisecond, Drain: time.Minute}
		recs, mark, err := latecomers(t, newUsers(1), s)
		if err != nil || len(recs) != 5 || mark.Scheduled != 45 || mark.Unsent != 40 {
			t.Errorf("%d went, %d were due, %d never went: %v", len(recs), mark.Scheduled, mark.Unsent, err)
		}
	})
}

func TestTurnThatCannotBeMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUsers(1)
		u.fault = errors.New("no words")
		_, _, err := latecomers(t, u, load.Profile{InFlight: slots(4), MaxSlots: 4, Requests: 10, Drain: time.Second})
		if err == nil || !strings.Contains(err.Error(), `conversation "u0": no words`) {
			t.Errorf("%v", err)
		}
	})
}
