// Package sharedprefix makes groups of prompts that begin alike, each with a question of
// its own, to measure caches of prefixes. The requests of a user may be turns of one
// conversation.
package sharedprefix

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
)

// Defaults of a plan, and the most prompts that are kept in order.
const (
	defaultGroups  = 10
	defaultPrompts = 10
	mostPrompts    = 1 << 26
)

// Source gives the prompts of all groups in an order that the seed fixes, again and
// again. Every stage begins with the first.
type Source struct {
	lex      *lexicon.Lexicon
	data     plan.Data
	seed     uint64
	prefixes []prefix // of each group
	each     uint64   // prompts of a group
	order    []uint32 // of the prompts of all groups
	question *prompt.Lengths
	output   *prompt.Lengths
	salt     prompt.Salt
	chat     bool

	mu       sync.Mutex
	sessions map[uint32]*session // of the stage; nil: every request is for itself
}

// prefix is how the prompts of a group begin.
type prefix struct {
	text   string
	tokens int
}

// New makes the prefixes of the groups that d asks for.
func New(d plan.Data, tok prompt.Tokenizer, seed uint64) (*Source, error) {
	lex, err := lexicon.New(tok)
	if err != nil {
		return nil, err
	}
	return newSource(d, lex, seed)
}

func newSource(d plan.Data, lex *lexicon.Lexicon, seed uint64) (*Source, error) {
	sp := &d.SharedPrefix
	if sp.Seed != 0 {
		seed = sp.Seed
	}
	groups, each := defaultGroups, defaultPrompts
	if sp.Groups > 0 {
		groups = sp.Groups
	}
	if sp.Prompts > 0 {
		each = sp.Prompts
	}
	if groups > mostPrompts/each {
		return nil, plan.Faults{{Path: "data.shared_prefix", Text: fmt.Sprintf("%d groups of %d prompts are more than %d prompts", groups, each, mostPrompts), Hint: "ask for fewer"}}
	}
	s := &Source{
		lex: lex, data: d, seed: prompt.Mix(seed ^ 'g'), each: uint64(each),
		question: prompt.NewLengths(sp.Question, prompt.Mix(seed^'q')),
		output:   prompt.NewLengths(d.Output, prompt.Mix(seed^'o')),
		salt:     prompt.NewSalt(d.Salt, seed),
	}
	if err := s.makePrefixes(prompt.NewLengths(sp.Prefix, prompt.Mix(seed^'p')), groups); err != nil {
		return nil, err
	}
	s.shuffle(groups * each)
	if d.Prompts > 0 && d.Prompts < len(s.order) {
		s.order = s.order[:d.Prompts]
	}
	if sp.MultiTurn {
		s.sessions = map[uint32]*session{}
	}
	return s, nil
}

func (s *Source) makePrefixes(lengths *prompt.Lengths, groups int) error {
	for g := range uint64(groups) {
		n := lengths.At(g)
		text, err := s.lex.Text(rand.New(rand.NewPCG(s.seed^1, prompt.Mix(g))), n)
		if err != nil {
			return fmt.Errorf("making the shared prefix of group %d: %w", g+1, err)
		}
		s.prefixes = append(s.prefixes, prefix{text, n})
	}
	return nil
}

func (s *Source) shuffle(n int) {
	s.order = make([]uint32, n)
	for i := range s.order {
		s.order[i] = uint32(i)
	}
	rand.New(rand.NewPCG(s.seed^2, 0)).Shuffle(n, func(i, j int) { s.order[i], s.order[j] = s.order[j], s.order[i] })
}

// Open implements prompt.Opener.
func (s *Source) Open(_ context.Context, u prompt.Use) error {
	s.chat = u.Chat
	return nil
}

// SetStage implements prompt.Stager. Conversations begin anew.
func (s *Source) SetStage(int) bool {
	clear(s.sessions)
	return true
}

// Lanes implements prompt.Laned: each user is one.
func (s *Source) Lanes() int {
	if s.sessions == nil {
		return 0
	}
	return len(s.order)
}

// Session implements prompt.Laned.
func (s *Source) Session(at prompt.Place) uint64 {
	if s.sessions == nil {
		return at.I
	}
	return at.I % uint64(len(s.order))
}

// session is the conversation of a user.
func (s *Source) session(id uint32, stage uint64) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[id] == nil {
		s.sessions[id] = s.newSession(id, stage)
	}
	return s.sessions[id]
}

// At implements prompt.Source. It never ends.
func (s *Source) At(_ context.Context, place prompt.Place) (prompt.Prompt, error) {
	id := s.order[place.I%uint64(len(s.order))]
	if s.sessions != nil {
		t := &request{s.session(id, place.Stage), place.I / uint64(len(s.order))}
		return prompt.Prompt{Late: t, Session: t.name, Tokens: -1}, nil
	}
	text, tokens, err := s.begin(uint64(id), s.question.At(uint64(id)), place)
	if err != nil {
		return prompt.Prompt{}, fmt.Errorf("prompt %d of stage %d: %w", place.I+1, place.Stage+1, err)
	}
	return prompt.Prompt{Text: text, Tokens: tokens, Output: s.output.At(place.Number()), Hash: prompt.HashText(text)}, nil
}

// begin makes the prompt of a number: its group's prefix and n tokens of its own. It is
// safe for use from many goroutines.
func (s *Source) begin(id uint64, n int, place prompt.Place) (string, int, error) {
	head := s.prefixes[id/s.each]
	if !s.salt.None() {
		var buf [16]byte
		head.text = string(s.salt.Append(buf[:0], place)) + head.text
		head.tokens = s.lex.Tokenizer().Count(head.text)
	}
	text, err := s.lex.Extend(s.rng(id), head.text, head.tokens, n)
	return text, head.tokens + n, err
}

func (s *Source) rng(number uint64) *rand.Rand {
	return rand.New(rand.NewPCG(s.seed^3, prompt.Mix(number)))
}
