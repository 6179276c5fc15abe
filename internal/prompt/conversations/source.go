// Package conversations makes up conversations of many turns, such as those of agents: a
// system prompt that all share, a part of it that is each one's own, and turns that go on
// from the server's own responses after the time that a tool takes.
package conversations

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/inferometer/inferometer/internal/lib/numpy"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
)

const (
	defaultCount = 200
	// What a chat's template adds to its messages, for the bound of the context.
	perChat    = 32
	perMessage = 8
)

// Source deals requests out to its slots in turn. A slot holds one conversation after the other;
// stages begin anew. All but the name of a slot's first follows from a request's place.
type Source struct {
	lex   *lexicon.Lexicon
	data  plan.Data
	seed  uint64
	chat  bool
	stage uint64
	// lengths are those of every conversation of a slot.
	lengths lengths
	// shared is the system prompt that all conversations of the stage begin with.
	shared string
	names  map[uint64]string // of the latest conversations of slots in the stage before
	err    error             // the stage's conversations cannot be made

	mu    sync.Mutex
	slots []*slot // made as they are needed
	used  bool    // requests of the stage were made
}

// New prepares to make the conversations that d asks for.
func New(d plan.Data, tok prompt.Tokenizer, seed uint64) (*Source, error) {
	lex, err := lexicon.New(tok)
	if err != nil {
		return nil, err
	}
	return newSource(d, lex, seed)
}

func newSource(d plan.Data, lex *lexicon.Lexicon, seed uint64) (*Source, error) {
	c := &d.Conversations
	if c.Count == 0 {
		c.Count = defaultCount
	}
	if c.Seed != 0 {
		seed = c.Seed
	}
	// A bound that responses alone can fill leaves no room to ask.
	if most := longest(d.Output); c.MaxContext > 0 && most+perChat+2*perMessage >= c.MaxContext {
		return nil, plan.Faults{{
			Path: "data.conversations.max_context",
			Text: fmt.Sprintf("is %d, which responses of up to %d tokens fill", c.MaxContext, most),
			Hint: "raise it, or give %v a smaller max", Args: []any{message.Output},
		}}
	}
	s := &Source{lex: lex, data: d, seed: prompt.Mix(seed ^ 'c'), lengths: drawLengths(&d, lex.Tokenizer(), seed)}
	return s, s.begin(0)
}

// longest is the most that a distribution draws, where it is bounded; else its mean.
func longest(l plan.Length) int {
	if l.Dist != plan.DistFixed && l.Max > 0 {
		return l.Max
	}
	return int(math.Ceil(l.Mean))
}

func (s *Source) begin(stage uint64) error {
	s.stage, s.used, s.names = stage, false, map[uint64]string{}
	for i, at := range s.slots {
		if at != nil {
			s.names[uint64(i)] = at.name(at.latest)
		}
	}
	s.slots = make([]*slot, s.data.Conversations.Count)
	var err error
	s.shared, err = s.lex.Text(s.rng('s'), s.data.Conversations.SharedPrompt)
	if err != nil {
		err = fmt.Errorf("making the system prompt that conversations share: %w", err)
	}
	return err
}

// rng gives the random numbers of one text of the stage.
func (s *Source) rng(numbers ...uint64) *rand.Rand {
	return rand.New(rand.NewPCG(s.seed, mix(s.stage, numbers...)))
}

func mix(x uint64, numbers ...uint64) uint64 {
	for _, n := range numbers {
		x = prompt.Mix(x) ^ n
	}
	return prompt.Mix(x)
}

// Open implements prompt.Opener.
func (s *Source) Open(_ context.Context, u prompt.Use) error {
	s.chat = u.Chat
	return nil
}

// SetStage implements prompt.StageStarter.
func (s *Source) SetStage(i int) bool {
	if uint64(i) != s.stage || s.used {
		s.err = s.begin(uint64(i))
	}
	return true
}

// Lanes implements prompt.LaneSource.
func (s *Source) Lanes() int { return s.data.Conversations.Count }

// Session implements prompt.LaneSource: all slots' first conversations, then the second ones …
func (s *Source) Session(place prompt.Position) uint64 {
	at, round := s.slot(place)
	return at.order(round).number*uint64(s.Lanes()) + at.index
}

// slot is where the request of a place belongs, and how many go ahead of it there.
func (s *Source) slot(place prompt.Position) (at *slot, round uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = true
	n := uint64(len(s.slots))
	i := place.I % n
	if s.slots[i] == nil {
		s.slots[i] = newSlot(s, i)
	}
	return s.slots[i], place.I / n
}

// Prompt implements prompt.Source. It never ends.
func (s *Source) Prompt(_ context.Context, place prompt.Position) (prompt.Prompt, error) {
	if s.err != nil {
		return prompt.Prompt{}, s.err
	}
	at, round := s.slot(place)
	t := &request{slot: at, round: round, order: at.order(round)}
	return prompt.Prompt{Late: t, Session: at.name(t.number), Tokens: -1}, nil
}

const (
	mostTurns  = 1 << 22 // whose lengths are drawn; more of them begin with the first again
	someTokens = 50257   // of a vocabulary whose size is not known
)

// lengths are those of all slots: a seed gives those that programs with numpy draw for such
// conversations.
type lengths struct {
	turns, own    prompt.DrawnLengths // of each slot
	input, output prompt.DrawnLengths // of each turn
	from          []uint64            // the first turn of each slot
}

// sized is a tokenizer that knows how many tokens its model has.
type sized interface{ BaseSize() int }

func drawLengths(d *plan.Data, tok prompt.Tokenizer, seed uint64) lengths {
	c, g := &d.Conversations, numpy.New(seed)
	draw := func(dist plan.Length, n int) prompt.DrawnLengths {
		if dist == (plan.Length{}) { // none
			dist.Dist = plan.DistFixed
		}
		return prompt.DrawLengths(dist, n, 1, g)
	}
	l := lengths{turns: draw(c.Turns, c.Count), own: draw(c.DynamicPrompt, c.Count), from: make([]uint64, c.Count)}
	all := uint64(0)
	for i := range l.from {
		l.from[i] = all
		all += l.turnsOf(uint64(i))
	}
	tokens := someTokens
	if s, ok := tok.(sized); ok {
		tokens = s.BaseSize()
	}
	for range min(c.SharedPrompt, mostTurns) { // where the words of the shared prompt are drawn
		g.Below(tokens)
	}
	n := int(min(all, mostTurns))
	l.input, l.output = draw(c.Input, n), draw(d.Output, n)
	return l
}

// turnsOf is how many turns each conversation of a slot has.
func (l *lengths) turnsOf(slot uint64) uint64 { return uint64(max(l.turns.At(slot), 1)) }

// turnLengths returns the lengths of a turn. An output of 0 is none asked for.
func (l *lengths) turnLengths(slot, turn uint64) (input, output int) {
	at := l.from[slot] + turn
	return max(l.input.At(at), 1), l.output.At(at)
}
