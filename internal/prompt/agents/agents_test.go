package agents

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/token"
)

// gpt2 counts tokens as original.py does.
func gpt2(t *testing.T) prompt.Tokenizer {
	t.Helper()
	tok, err := token.GPT2()
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func fixed(n float64) plan.Length { return plan.Length{Dist: plan.DistFixed, Mean: n} }
func uniform(least, most int) plan.Length {
	return plan.Length{Dist: plan.DistUniform, Min: least, Max: most}
}

// base is what the front end makes of a config with the needed keys alone.
func base(change func(a *plan.Agents)) plan.Agents {
	a := plan.Agents{
		Sessions: 4, Input: fixed(300), Output: fixed(50), Turns: fixed(1), Head: 1000, Loop: fixed(2), Catalog: fixed(8), Calls: fixed(1),
		Children: uniform(2, 4),
		Depth:    2, Events: 64, ToolLatency: fixed(1), Think: fixed(10), Seed: 42,
	}
	change(&a)
	return a
}

func cases() map[string]plan.Agents {
	return map[string]plan.Agents{
		"defaults": base(func(*plan.Agents) {}),
		"bare":     base(func(a *plan.Agents) { a.Input, a.Catalog, a.Turns, a.Head = fixed(350), plan.Length{}, fixed(3), 0 }),
		"fan-out":  base(func(a *plan.Agents) { a.Fanout, a.Loop, a.Turns, a.Depth = 0.5, uniform(0, 3), uniform(1, 3), 3 }),
		"always":   base(func(a *plan.Agents) { a.Fanout, a.Children, a.Events, a.Calls = 1, fixed(2), 30, uniform(1, 3) }),
		"little room": base(func(a *plan.Agents) {
			a.Fanout, a.Events, a.Loop, a.Turns = 1, 5, fixed(4), fixed(2)
		}),
		"spread": base(func(a *plan.Agents) {
			a.Seed, a.Output, a.Catalog = 7, plan.Length{Dist: plan.DistLognormal, Mean: 80, Stddev: 40, Min: 1, Max: 500}, uniform(1, 20)
			a.Turns, a.Think = plan.Length{Dist: plan.DistPoisson, Mean: 3, Min: 1, Max: 9},
				plan.Length{Dist: plan.DistNormal, Mean: 6, Stddev: 3, Max: 30}
			a.ToolLatency = plan.Length{Dist: plan.DistSkew, Mean: 2, Stddev: 2, Skew: 4, Max: 20}
			a.Themes = []plan.Theme{{Name: plan.ThemeCode, Weight: 3}, {Name: plan.ThemeGeneric, Weight: 1}}
		}),
		"deep": base(func(a *plan.Agents) {
			a.Sessions, a.Loop, a.Calls, a.Catalog, a.Head, a.Input, a.Turns = 12, uniform(6, 12), uniform(1, 4), uniform(4, 14), 100, fixed(60),
				fixed(2)
		}),
		"long": base(func(a *plan.Agents) {
			a.Seed, a.Sessions, a.Input, a.Head, a.Fanout, a.Turns, a.CompactAt, a.CompactTo = 3, 8, fixed(900), 700, 0.4, fixed(4),
				uniform(3000, 6000), fixed(400)
		}),
		"compacted": base(func(a *plan.Agents) { a.Turns, a.CompactAt, a.CompactTo = fixed(5), fixed(100), fixed(200) }),
	}
}

// TestOriginal holds sessions against those of inference-perf 0.7.0: calls and what they
// come after, waits, roles of messages, tools that are called, lengths of responses, and
// within some percent the lengths of texts, which are other ones.
func TestOriginal(t *testing.T) {
	raw, err := os.ReadFile("testdata/original.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]struct {
		Theme  string
		Events [][]any
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	for name, agents := range cases() {
		s, err := New(plan.Data{Agents: agents}, gpt2(t))
		if err != nil {
			t.Fatal(err)
		}
		if len(want[name]) != agents.Sessions {
			t.Fatalf("%s: %d sessions", name, len(want[name]))
		}
		for i, session := range want[name] {
			seed, err := sessionSeed(agents.Seed, i)
			if err != nil {
				t.Fatal(err)
			}
			g, err := s.graph(i)
			if err != nil {
				t.Fatal(err)
			}
			var theirs, ours []string
			for _, e := range session.Events {
				theirs = append(theirs, fmt.Sprint(e[:8]...))
			}
			for k, c := range g.Calls {
				ours = append(ours, described(&c))
				if k >= len(session.Events) {
					continue
				}
				for m, n := range sizes(&c, gpt2(t)) {
					if want := session.Events[k][8+m].(float64); math.Abs(n-want) > []float64{0.04, 0.04, 0.08}[m]*want+8 {
						t.Errorf("%s: %s of %s has %g, not %g", name, []string{"the text", "the list of tools", "the answer"}[m], c.ID, n, want)
					}
				}
			}
			if got := s.theme(seed); got != session.Theme {
				t.Errorf("%s: session %d is about %s, not %s", name, i, got, session.Theme)
			}
			if diff := cmp.Diff(theirs, ours); diff != "" {
				t.Errorf("%s, session %d:\n%s", name, i, diff)
			}
		}
	}
}

// sizes are the tokens of a call's messages, of its tools, as Python's json module writes
// these, and of its response.
func sizes(c *prompt.GraphCall, tok prompt.Tokenizer) []float64 {
	text, tools, answer := 0, 0, c.Prompt.Output
	for _, m := range c.Prompt.Messages {
		text += tok.Count(m.Content)
	}
	if c.Prompt.Tools != nil {
		for _, t := range c.Prompt.Tools.List {
			tools += tok.Count(fmt.Sprintf(`{"name": %q, "description": %q, "type": "function", "function": {"name": %[1]q, "description": %[2]q, "parameters": %s}}`, t.Name, t.Description, t.Parameters))
		}
	}
	if answer == noOutput {
		answer = 0
	}
	return []float64{float64(text), float64(tools), float64(answer)}
}

// described is a call as the original's file has it.
func described(c *prompt.GraphCall) string {
	after, roles, calls, segments := []any{}, "", "", []string{}
	for _, a := range c.After {
		after = append(after, float64(a))
	}
	for _, m := range c.Prompt.Messages {
		roles += m.Role[:1]
	}
	output, tools := c.Prompt.Output, 0
	if t := c.Prompt.Tools; t != nil {
		tools = len(t.List)
		if t.Choice == prompt.ChoiceNamed {
			calls, output = t.Name, 0
		}
		if t.Choice == prompt.ChoiceAny {
			calls, output = "several", 0
		}
	}
	if output == noOutput {
		output = 0
	}
	for _, s := range c.Segments {
		kind := map[prompt.SegmentKind]string{prompt.Own: "u", prompt.Shared: "s", prompt.Output: "o", prompt.Report: "a"}[s.Kind]
		text := fmt.Sprintf("%s%d", kind, s.Messages)
		if s.Kind != prompt.Own {
			text += fmt.Sprintf("<%d", s.From)
		}
		segments = append(segments, text)
	}
	return fmt.Sprint(c.ID, after, float64(c.Wait/time.Millisecond), roles, calls, float64(output), float64(tools), strings.Join(segments, " "))
}

// TestLengths: texts are about as long as they should be.
func TestLengths(t *testing.T) {
	s, err := New(plan.Data{Agents: base(func(a *plan.Agents) { a.Input, a.Head, a.Sessions = fixed(5000), 3000, 9 })}, gpt2(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range prompttest.TakeShared(t, s, 9) {
		for i, want := range []int{3000, 5000} {
			if n := gpt2(t).Count(p.Play.Graph.Calls[0].Prompt.Messages[i].Content); n < want-want/50 || n > want+want/50 {
				t.Errorf("%s: message %d has %d tokens, not %d", p.Session, i, n, want)
			}
		}
		for _, c := range p.Play.Graph.Calls {
			for _, m := range c.Prompt.Messages {
				if slot().MatchString(m.Content) {
					t.Errorf("%s: a slot is left: %s", c.ID, m.Content)
				}
				for _, call := range m.ToolCalls {
					if !json.Valid([]byte(call.Arguments)) {
						t.Errorf("%s calls with %s", c.ID, call.Arguments)
					}
				}
			}
			for _, tool := range c.Prompt.Tools.List {
				if !json.Valid(tool.Parameters) {
					t.Errorf("%s: %s", tool.Name, tool.Parameters)
				}
			}
		}
	}
}

// TestSmallHead: a system prompt that is too long is cut.
func TestSmallHead(t *testing.T) {
	s, err := New(plan.Data{Agents: base(func(a *plan.Agents) { a.Head = 20 })}, gpt2(t))
	if err != nil {
		t.Fatal(err)
	}
	g, err := s.graph(0)
	if err != nil {
		t.Fatal(err)
	}
	if n := gpt2(t).Count(g.Calls[0].Prompt.Messages[0].Content); n < 15 || n > 20 {
		t.Errorf("%d tokens, not 20", n)
	}
}
