package adapters

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/token"
)

// plain yields prompts without end.
type plain struct {
	make  func(i int) prompt.Prompt
	stage int
}

func (s *plain) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	if s.make == nil {
		return prompt.Prompt{Text: "a", Tokens: 1, Hash: prompt.HashText("a")}, nil
	}
	return s.make(int(at.I)), nil
}

// byStage is plain with stages.
type byStage struct{ plain }

func (s *byStage) SetStage(i int) bool {
	s.stage = i
	return true
}

// shared is byStage whose prompts are turns of 20 sessions.
type shared struct{ byStage }

func (*shared) Lanes() int                        { return 20 }
func (*shared) Session(at prompt.Position) uint64 { return at.I % 20 }

// take gives the models of n prompts from a place on.
func take(t *testing.T, s prompt.Source, from prompt.Position, n int) []string {
	t.Helper()
	var out []string
	for _, p := range prompttest.TakeAt(t, s, from, n) {
		out = append(out, p.Model)
	}
	return out
}

func count(names []string) map[string]int {
	m := map[string]int{}
	for _, n := range names {
		m[n]++
	}
	return m
}

// differs: ip-adapter-shares
func TestSharesAreExact(t *testing.T) {
	tenth := make([]plan.Adapter, 10)
	for i := range tenth {
		tenth[i] = plan.Adapter{Name: string(rune('a' + i)), Share: 0.1}
	}
	for _, c := range []struct {
		name  string
		list  []plan.Adapter
		block int
	}{
		{"halves", []plan.Adapter{{Name: "a", Share: 0.5}, {Name: "b", Share: 0.5}}, 20},
		{"one", []plan.Adapter{{Name: "a", Share: 1}}, 20},
		{"thirds", []plan.Adapter{{Name: "a", Share: 1. / 3}, {Name: "b", Share: 1. / 3}, {Name: "c", Share: 1. / 3}}, 21},
		{"tenths", tenth, 20},
		{"five, three, two", []plan.Adapter{{Name: "a", Share: 0.5}, {Name: "b", Share: 0.3}, {Name: "c", Share: 0.2}}, 20},
		{"percent", []plan.Adapter{{Name: "a", Share: 0.97}, {Name: "b", Share: 0.03}}, 100},
		{"no whole number", []plan.Adapter{{Name: "a", Share: math.Pi / 10}, {Name: "b", Share: 1 - math.Pi/10}}, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New(&plain{}, c.list, "", 3)
			if got := s.deck.block; got != c.block {
				t.Errorf("blocks of %d, want %d", got, c.block)
			}
			var all []string
			for range 50 {
				all = append(all, take(t, s, prompt.Position{I: uint64(len(all))}, c.block)...)
				got := count(all)
				for _, a := range c.list {
					if off := math.Abs(float64(got[a.Name]) - a.Share*float64(len(all))); off >= 1 {
						t.Fatalf("%s has %d of %d", a.Name, got[a.Name], len(all))
					}
				}
			}
			// A block that is asked for first is what it is after all others.
			s = New(&plain{}, c.list, "", 3)
			for i := len(all) - c.block; i >= 0; i -= c.block {
				if got := take(t, s, prompt.Position{I: uint64(i)}, c.block); !slices.Equal(got, all[i:i+c.block]) {
					t.Fatalf("from %d on: %q backwards, %q forwards", i, got, all[i:i+c.block])
				}
			}
		})
	}
}

func TestSeedFixesTheOrder(t *testing.T) {
	list := []plan.Adapter{{Name: "a", Share: 0.5}, {Name: "b", Share: 0.5}}
	s := New(&byStage{}, list, "", 3)
	first := take(t, s, prompt.Position{}, 200)
	again := take(t, New(&byStage{}, list, "", 3), prompt.Position{}, 200)
	other := take(t, New(&byStage{}, list, "", 4), prompt.Position{}, 200)
	same, differ, turns := true, false, 0
	for i := range first {
		same = same && first[i] == again[i]
		differ = differ || first[i] != other[i]
		if i > 0 && first[i] != first[i-1] {
			turns++
		}
	}
	if !same || !differ {
		t.Errorf("the same seed gives the same order: %v; another seed another: %v", same, differ)
	}
	if turns < 60 || turns > 140 {
		t.Errorf("%d changes of model in 200 prompts: the order is no random one", turns)
	}
	s.SetStage(1)
	if slices.Equal(take(t, s, prompt.Position{Stage: 1}, 200), first) {
		t.Error("another stage has the same order")
	}
	s.SetStage(0)
	for i, name := range take(t, s, prompt.Position{}, 200) {
		if name != first[i] {
			t.Fatalf("prompt %d of the stage differs the second time", i)
		}
	}
}

func TestConformance(t *testing.T) {
	for name, share := range map[string]float64{"exact": 0.5, "no whole number": math.Pi / 10} {
		t.Run(name, func(t *testing.T) {
			list := []plan.Adapter{{Name: "a", Share: share}, {Name: "b", Share: 1 - share}}
			prompttest.Run(t, prompttest.Case{
				New:       func(_ *testing.T, seed uint64) prompt.Source { return New(&byStage{}, list, "", seed) },
				Tokenizer: token.Words{},
			})
		})
	}
}

// A source that goes on from stage to stage must not be taken for one that starts over.
func TestStagesAreForStagedSources(t *testing.T) {
	list := []plan.Adapter{{Name: "a", Share: 1}}
	if New(&plain{}, list, "", 1).SetStage(7) {
		t.Error("a source that goes on starts over")
	}
	inner := &byStage{}
	if !New(inner, list, "", 1).SetStage(7) || inner.stage != 7 {
		t.Error("the source was not told of the stage")
	}
}

// talk is a conversation of so many turns.
type talk struct{ left int }

func (c *talk) Next(prompt.Response) (prompt.Prompt, time.Duration, error) {
	if c.left--; c.left < 0 {
		return prompt.Prompt{}, 0, io.EOF
	}
	return prompt.Prompt{Rest: c}, time.Second, nil
}

func TestTurnsKeepTheirModel(t *testing.T) {
	list := []plan.Adapter{{Name: "a", Share: 0.5}, {Name: "b", Share: 0.5}}
	s := New(&plain{make: func(int) prompt.Prompt { return prompt.Prompt{Session: "s", Rest: &talk{left: 3}} }}, list, "", 1)
	seen := map[string]int{}
	for _, p := range prompttest.FirstPrompts(t, s, 20) {
		seen[p.Model]++
		turns, rest := 0, p.Rest
		for {
			next, think, err := rest.Next(prompt.Response{})
			if errors.Is(err, io.EOF) {
				break
			}
			rest = next.Rest
			if next.Model != p.Model || think != time.Second {
				t.Fatalf("turn of %q after %q, %v later", next.Model, p.Model, think)
			}
			turns++
		}
		if turns != 3 {
			t.Fatalf("%d turns", turns)
		}
	}
	if seen["a"] != 10 || seen["b"] != 10 {
		t.Errorf("conversations %v", seen)
	}
}

func TestTurnsOfASessionThatComeOneByOne(t *testing.T) {
	list := []plan.Adapter{{Name: "a", Share: 0.5}, {Name: "b", Share: 0.5}}
	s := New(&shared{byStage{plain{make: func(i int) prompt.Prompt { return prompt.Prompt{Session: string(rune('A' + i%20))} }}}}, list, "", 1)
	first := take(t, s, prompt.Position{}, 20)
	if got := count(first); got["a"] != 10 {
		t.Errorf("sessions %v", got)
	}
	for i, name := range take(t, s, prompt.Position{I: 20}, 20) {
		if name != first[i] {
			t.Fatalf("session %d changed from %s to %s", i, first[i], name)
		}
	}
	s.SetStage(1)
	if got := count(take(t, s, prompt.Position{Stage: 1}, 20)); got["a"] != 10 {
		t.Errorf("sessions of the next stage %v", got)
	}
	s.SetStage(0)
	if again := take(t, s, prompt.Position{}, 20); !slices.Equal(again, first) {
		t.Errorf("sessions of the stage: %q, the second time %q", first, again)
	}
}

func TestPromptKeepsItsOwnModel(t *testing.T) {
	s := New(&plain{make: func(int) prompt.Prompt { return prompt.Prompt{Model: "own"} }}, []plan.Adapter{{Name: "a", Share: 1}}, "", 1)
	if got := take(t, s, prompt.Position{}, 1)[0]; got != "own" {
		t.Errorf("model %q", got)
	}
}

func TestRoundRobin(t *testing.T) {
	list := []plan.Adapter{{Name: "a", Share: 1. / 3}, {Name: "b", Share: 1. / 3}, {Name: "c", Share: 1. / 3}}
	if got := strings.Join(take(t, New(&plain{}, list, plan.OrderRoundRobin, 3), prompt.Position{}, 7), ""); got != "abcabca" {
		t.Errorf("in turn: %s", got)
	}
}
