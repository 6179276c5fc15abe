// Package agents makes up sessions of agents: a user asks, an agent calls tools, starts other
// agents, hears from them and answers. Each session is a graph of calls of a model that
// follows from the plan, the seed and its number alone: how many requests, how long and in
// which order is drawn as NumPy draws.
package agents

import (
	"context"
	"fmt"
	"time"

	"github.com/inferometer/inferometer/internal/lib/numpy"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// Source gives the sessions in order, again and again.
type Source struct {
	agents plan.Agents
	replay plan.Replay
	tok    prompt.Tokenizer
	themes map[string]*theme
	heads  heads
}

// usualEvents is how many calls a session has at most where the plan does not say.
const usualEvents = 64

// New prepares to make what d asks for.
func New(d plan.Data, tok prompt.Tokenizer) (*Source, error) {
	s := &Source{agents: d.Agents, replay: d.Replay, tok: tok}
	a := &s.agents
	if a.Events == 0 {
		a.Events = usualEvents
	}
	if len(a.Themes) == 0 {
		for _, name := range plan.ThemeNames() {
			a.Themes = append(a.Themes, plan.Theme{Name: name, Weight: 1})
		}
	}
	var err error
	s.themes, s.heads, err = readThemes()
	return s, err
}

// Open implements prompt.Opener.
func (s *Source) Open(_ context.Context, u prompt.Use) error {
	if !u.Chat {
		return plan.Faults{{Path: "target.endpoint", Text: "sessions of agents are chats", Hint: "use a chat endpoint"}}
	}
	if s.tok == nil {
		return plan.Faults{{Path: "tokenizer", Text: "sessions of agents need one to know how long their texts are"}}
	}
	return nil
}

// Sessions implements prompt.Finite.
func (s *Source) Sessions() int { return s.agents.Sessions }

// Prompt implements prompt.Source: a session.
func (s *Source) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	n := uint64(s.agents.Sessions)
	i := int(at.I % n)
	name := fmt.Sprintf("synthN%d", i)
	if round := at.I / n; round > 0 {
		name += fmt.Sprintf("#%d", round+1)
	}
	g, err := s.graph(i)
	if err != nil {
		return prompt.Prompt{}, err
	}
	return prompt.Prompt{Session: name, Tokens: -1, Play: &prompt.Play{Graph: g, Name: name, Count: s.tok}}, nil
}

func (s *Source) graph(i int) (*prompt.Graph, error) {
	seed, err := sessionSeed(s.agents.Seed, i)
	if err != nil {
		return nil, err
	}
	b := newBuilder(s, seed, i, s.themes[s.theme(seed)])
	b.session()
	g := &prompt.Graph{Origin: b.id, Calls: b.calls, Patience: time.Duration(s.replay.PredecessorTimeout),
		Repair: s.replay.BadToolCalls == plan.ToolCallsRecorded}
	return g, nil
}

// theme draws what a session is about.
func (s *Source) theme(seed uint64) string {
	const place = 999
	total := 0.0
	for _, t := range s.agents.Themes {
		total += t.Weight
	}
	u, sum := numpy.New(seed, place).Float(), 0.0
	for _, t := range s.agents.Themes {
		if sum += t.Weight / total; u < sum {
			return t.Name
		}
	}
	return s.agents.Themes[len(s.agents.Themes)-1].Name
}
