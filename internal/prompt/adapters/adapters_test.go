package adapters

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// plain yields prompts without end.
type plain struct {
	make  func(i int) prompt.Prompt
	i     int
	stage int
}

func (s *plain) Next(context.Context) (prompt.Prompt, error) {
	s.i++
	if s.make == nil {
		return prompt.Prompt{}, nil
	}
	return s.make(s.i - 1), nil
}

// byStage is plain with stages.
type byStage struct{ plain }

func (s *byStage) SetStage(i int) bool {
	s.stage, s.i = i, 0
	return true
}

func take(t *testing.T, s prompt.Source, n int) []string {
	t.Helper()
	var out []string
	for range n {
		p, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
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
			if got := s.block; got != c.block {
				t.Errorf("blocks of %d, want %d", got, c.block)
			}
			var all []string
			for range 50 {
				all = append(all, take(t, s, c.block)...)
				got := count(all)
				for _, a := range c.list {
					if off := math.Abs(float64(got[a.Name]) - a.Share*float64(len(all))); off >= 1 {
						t.Fatalf("%s has %d of %d", a.Name, got[a.Name], len(all))
					}
				}
			}
		})
	}
}

func TestSeedFixesTheOrder(t *testing.T) {
	list := []plan.Adapter{{Name: "a", Share: 0.5}, {Name: "b", Share: 0.5}}
	s := New(&byStage{}, list, "", 3)
	first := take(t, s, 200)
	again := take(t, New(&byStage{}, list, "", 3), 200)
	other := take(t, New(&byStage{}, list, "", 4), 200)
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
	s.SetStage(0)
	for i, name := range take(t, s, 200) {
		if name != first[i] {
			t.Fatalf("prompt %d of the stage differs the second time", i)
		}
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

func (c *talk) Next(prompt.Answer) (prompt.Prompt, time.Duration, error) {
	if c.left--; c.left < 0 {
		return prompt.Prompt{}, 0, io.EOF
	}
	return prompt.Prompt{Rest: c}, time.Second, nil
}

func TestTurnsKeepTheirModel(t *testing.T) {
	list := []plan.Adapter{{Name: "a", Share: 0.5}, {Name: "b", Share: 0.5}}
	s := New(&plain{make: func(int) prompt.Prompt { return prompt.Prompt{Session: "s", Rest: &talk{left: 3}} }}, list, "", 1)
	seen := map[string]int{}
	for range 20 {
		p, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		seen[p.Model]++
		turns, rest := 0, p.Rest
		for {
			next, think, err := rest.Next(prompt.Answer{})
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
	s := New(&plain{make: func(i int) prompt.Prompt { return prompt.Prompt{Session: string(rune('A' + i%20))} }}, list, "", 1)
	first := take(t, s, 20)
	if got := count(first); got["a"] != 10 {
		t.Errorf("sessions %v", got)
	}
	for i, name := range take(t, s, 20) {
		if name != first[i] {
			t.Fatalf("session %d changed from %s to %s", i, first[i], name)
		}
	}
}

func TestPromptKeepsItsOwnModel(t *testing.T) {
	s := New(&plain{make: func(int) prompt.Prompt { return prompt.Prompt{Model: "own"} }}, []plan.Adapter{{Name: "a", Share: 1}}, "", 1)
	if got := take(t, s, 1)[0]; got != "own" {
		t.Errorf("model %q", got)
	}
}

func TestRoundRobin(t *testing.T) {
	list := []plan.Adapter{{Name: "a", Share: 1. / 3}, {Name: "b", Share: 1. / 3}, {Name: "c", Share: 1. / 3}}
	if got := strings.Join(take(t, New(&plain{}, list, plan.OrderRoundRobin, 3), 7), ""); got != "abcabca" {
		t.Errorf("in turn: %s", got)
	}
}
