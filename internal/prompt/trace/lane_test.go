package trace

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// forked is a session whose conversation 0 has calls at 0, 10, 20 and 30 s, and whose subagent has some at 12 and 18 s,
// which the call at 20 s waits for.
func forked() *prompt.Graph {
	call := func(id string, thread int, at float64, wait time.Duration, after ...int) prompt.GraphCall {
		return prompt.GraphCall{ID: id, Thread: thread, At: time.Duration(at * 1e9), Wait: wait, After: after, Prompt: prompt.Prompt{Output: 50}}
	}
	return &prompt.Graph{Calls: []prompt.GraphCall{
		call("a0", 0, 0, 0), call("a1", 0, 10, 7*time.Second, 0), call("b0", 1, 12, 2*time.Second, 0), call("b1", 1, 18, 3*time.Second, 2),
		call("a2", 0, 20, time.Second, 1, 3), call("a3", 0, 30, 5*time.Second, 4),
	}}
}

func TestUnderWay(t *testing.T) {
	for name, tc := range map[string]struct {
		replay plan.Replay
		want   string
	}{
		"before the subagent":  {plan.Replay{StartMin: 0.35, StartMax: 0.35}, "a1 warm; b0 @1.5s; b1 [1] +3s; a2 [0 2] +1s; a3 [3] +5s"},
		"within the subagent":  {plan.Replay{StartMin: 0.5, StartMax: 0.5}, "a1 warm; b0 warm; b1 [1] @3s; a2 [0 2] +1s; a3 [3] +5s"},
		"behind the subagent":  {plan.Replay{StartMin: 0.7, StartMax: 0.7}, "a2 warm; a3 [0] @9s"},
		"at the end":           {plan.Replay{StartMin: 1, StartMax: 1}, "a2 warm; a3 [0] @1ns"},
		"at the beginning":     {plan.Replay{StartMin: 1e-15, StartMax: 1e-15}, "a0 warm; a1 [0] @10s; b0 [0] @12s; b1 [2] +3s; a2 [1 3] +1s; a3 [4] +5s"},
		"with more of warm-up": {plan.Replay{StartMin: 0.35, StartMax: 0.35, LaneWarmup: 2}, "a1 warm; b0 warm 1; b1 [1] warm 1; a2 [0 2] @2s; a3 [3] +5s"},
		"with all of warm-up":  {plan.Replay{StartMin: 0.35, StartMax: 0.35, LaneWarmup: 20}, "a1 warm; b0 warm 1; b1 [1] warm 1; a2 [0 2] warm 1; a3 [3] @10s"},
	} {
		var got []string
		for _, c := range underWay(forked(), &tc.replay, 1).Calls {
			line := c.ID
			if len(c.After) > 0 {
				line += fmt.Sprint(" ", c.After)
			}
			if c.Warmup {
				line += " warm"
			}
			if c.Prompt.Output != 50 {
				line += fmt.Sprint(" ", c.Prompt.Output)
			}
			if c.Wait > 0 {
				line += " +" + c.Wait.String()
			}
			if c.NotBefore > 0 {
				line += " @" + c.NotBefore.String()
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(tc.want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	one := &prompt.Graph{Calls: forked().Calls[:1]}
	if underWay(one, &plan.Replay{StartMin: 0.5, StartMax: 0.5}, 1) != one {
		t.Error("a session of one call has no middle")
	}
}

// Each playing of a session has a tag of its own, the same for all of its calls, at the start of what the user says first.
func TestCacheBust(t *testing.T) {
	file := written(t, sessionFiles[plan.TraceTraceLab].text)
	s, err := New(plan.Data{File: file, Replay: plan.Replay{CacheBust: true, Lanes: 1}}, words{}, 1, Kit{Texts: made})
	if err != nil {
		t.Fatal(err)
	}
	o := s.(*Sessions)
	if err := o.Open(t.Context(), prompt.Use{Chat: true}); err != nil {
		t.Fatal(err)
	}
	tags := map[string]bool{}
	for i := range uint64(4) {
		p, err := s.Prompt(t.Context(), prompt.Position{I: i})
		if err != nil {
			t.Fatal(err)
		}
		own := map[string]bool{}
		for k, c := range p.Play.Graph.Calls {
			said, err := p.Play.Prompt(k)
			if err != nil {
				t.Fatal(err)
			}
			total, first := 0, ""
			for _, m := range said.Messages {
				total += len(strings.Fields(m.Content))
				if m.Role == roleUser && first == "" {
					first = m.Content
				}
			}
			tag, _, ok := strings.Cut(first, "\n\n")
			if !ok || !strings.HasPrefix(tag, "[rid:") || len(tag) != 18 || total != c.Prompt.Tokens {
				t.Errorf("session %d, call %d: %.30q, %d tokens of %d", i, k, first, total, c.Prompt.Tokens)
			}
			own[tag], tags[tag] = true, true
		}
		if len(own) != 1 {
			t.Errorf("session %d has the tags %v", i, own)
		}
	}
	if len(tags) != 4 {
		t.Errorf("%d tags of 4 playings", len(tags))
	}
}
