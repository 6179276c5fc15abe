// Package adapters splits the traffic of a run among models, such as the LoRA
// adapters that a server has loaded: each prompt of another source is given the name
// of one of them.
package adapters

import (
	"context"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// Source gives the prompts of another source a model each. The order is random and
// fixed by the seed; the shares are exact after every block of prompts. All turns of a
// conversation ask for the same model. A prompt that names its own keeps it.
type Source struct {
	prompt.Wrapper
	names []string
	turns bool // in turn, not at random
	deck  deck
}

// New splits a source's prompts among one adapter or more. order is a plan's.
func New(s prompt.Source, list []plan.Adapter, order string, seed uint64) *Source {
	out := &Source{Wrapper: prompt.Wrapper{Source: s}, turns: order == plan.OrderRoundRobin}
	var shares []float64
	for _, a := range list {
		out.names = append(out.names, a.Name)
		shares = append(shares, a.Share)
	}
	n, exact := block(shares)
	out.deck = deck{shares: shares, block: n, exact: exact, seed: prompt.Mix(seed ^ 'l'), given: make([]int, len(shares))}
	return out
}

func (s *Source) modelAt(place prompt.Position) string {
	place.I = s.Session(place)
	return s.model(place)
}

// model is the model of a session, by its number.
func (s *Source) model(place prompt.Position) string {
	if s.turns {
		return s.names[place.I%uint64(len(s.names))]
	}
	return s.names[s.deck.adapter(place)]
}

// Name gives requests that are known ahead, session by session, the models that they will be sent with.
func (s *Source) Name(turns []prompt.Scripted) {
	session := uint64(0)
	for i := range turns {
		if i > 0 && turns[i].Prompt.Session != turns[i-1].Prompt.Session {
			session++
		}
		turns[i].Prompt = withModel(turns[i].Prompt, s.model(prompt.Position{I: session}))
	}
}

// Prompt implements prompt.Source.
func (s *Source) Prompt(ctx context.Context, place prompt.Position) (prompt.Prompt, error) {
	p, err := s.Source.Prompt(ctx, place)
	if err != nil || p.Model != "" {
		return p, err
	}
	return withModel(p, s.modelAt(place)), nil
}

// withModel gives a prompt and those that follow it a model.
func withModel(p prompt.Prompt, model string) prompt.Prompt {
	if p.Model == "" {
		p.Model = model
	}
	if p.Rest != nil {
		p.Rest = conversation{p.Rest, model}
	}
	return p
}

// conversation gives the turns of another their model.
type conversation struct {
	prompt.Conversation
	model string
}

// Next implements prompt.Conversation.
func (c conversation) Next(a prompt.Response) (prompt.Prompt, time.Duration, error) {
	p, think, err := c.Conversation.Next(a)
	if err != nil {
		return p, think, err
	}
	return withModel(p, c.model), think, nil
}
