// Package adapters splits the traffic of a run among models, such as the LoRA
// adapters that a server has loaded: each prompt of another source is given the name
// of one of them.
package adapters

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// Source gives the prompts of another source a model each. The order is random and
// fixed by the seed; the shares are exact after every block of prompts. All turns of a
// conversation ask for the same model. A prompt that names its own keeps it.
type Source struct {
	prompt.Around
	names  []string
	shares []float64
	block  int
	turns  bool // in turn, not at random
	seed   uint64

	rng      *rand.Rand
	given    []int // by adapter, in the blocks so far
	dealt    int   // prompts in the blocks so far
	left     []int // what is left of the block, the next one last
	sessions map[string]string
}

// New splits the prompts of a source among adapters. There is at least one. order is how
// a prompt gets its own, as a plan has it.
func New(s prompt.Source, list []plan.Adapter, order string, seed uint64) *Source {
	out := &Source{Around: prompt.Around{Source: s}, turns: order == plan.OrderRoundRobin, seed: prompt.Mix(seed ^ 'l'), sessions: map[string]string{}}
	for _, a := range list {
		out.names = append(out.names, a.Name)
		out.shares = append(out.shares, a.Share)
	}
	out.block = block(out.shares)
	out.begin(0)
	return out
}

// The length of a block: long enough that a server cannot tell what comes next, short
// enough that a short stage has its shares.
const (
	shortest = 20
	longest  = 100
)

// block is how many prompts have a whole number of each share.
func block(shares []float64) int {
	for n := 1; n <= longest; n++ {
		whole := true
		for _, s := range shares {
			_, rest := math.Modf(s*float64(n) + 1e-6)
			whole = whole && rest < 2e-6
		}
		if whole {
			return (shortest + n - 1) / n * n
		}
	}
	return longest
}

// begin starts over for a stage.
func (s *Source) begin(stage int) {
	s.rng = rand.New(rand.NewPCG(s.seed, uint64(stage)))
	s.given, s.dealt, s.left = make([]int, len(s.names)), 0, nil
	clear(s.sessions)
}

// draw gives the model of the next prompt.
func (s *Source) draw() string {
	if len(s.left) == 0 {
		s.shuffle()
	}
	i := s.left[len(s.left)-1]
	s.left = s.left[:len(s.left)-1]
	return s.names[i]
}

// shuffle makes the next block. What a share lacks of a whole number is kept for the
// blocks that follow: no adapter is ever a whole prompt off at the end of a block.
func (s *Source) shuffle() {
	if s.turns {
		for i := range s.names {
			s.left = append(s.left, len(s.names)-1-i)
		}
		return
	}
	s.dealt += s.block
	for range s.block {
		most, lack := 0, math.Inf(-1)
		for i, share := range s.shares {
			if l := share*float64(s.dealt) - float64(s.given[i]); l > lack {
				most, lack = i, l
			}
		}
		s.given[most]++
		s.left = append(s.left, most)
	}
	s.rng.Shuffle(len(s.left), func(i, j int) { s.left[i], s.left[j] = s.left[j], s.left[i] })
}

// Next implements prompt.Source.
func (s *Source) Next(ctx context.Context) (prompt.Prompt, error) {
	p, err := s.Source.Next(ctx)
	if err != nil || p.Model != "" {
		return p, err
	}
	model, known := s.sessions[p.Session]
	if !known || p.Session == "" {
		model = s.draw()
	}
	if p.Session != "" && p.Rest == nil { // others of its turns come from here too
		s.sessions[p.Session] = model
	}
	return of(p, model), nil
}

// of gives a prompt and those that follow it a model.
func of(p prompt.Prompt, model string) prompt.Prompt {
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
func (c conversation) Next(a prompt.Answer) (prompt.Prompt, time.Duration, error) {
	p, think, err := c.Conversation.Next(a)
	if err != nil {
		return p, think, err
	}
	return of(p, c.model), think, nil
}

// SetStage implements prompt.Stager.
func (s *Source) SetStage(i int) bool {
	if !s.Around.SetStage(i) {
		return false
	}
	s.begin(i)
	return true
}
