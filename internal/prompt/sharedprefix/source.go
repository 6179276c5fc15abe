// Package sharedprefix makes groups of prompts that begin alike, each with a question of
// its own, to measure caches of prefixes. The requests of a user may be turns of one
// conversation.
package sharedprefix

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/inferometer/inferometer/internal/lib/numpy"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
	"github.com/inferometer/inferometer/internal/prompt/multimodal"
)

// Defaults of a plan, and the most prompts that are kept in order.
const (
	defaultGroups  = 10
	defaultPrompts = 10
	mostPrompts    = 1 << 26
)

// Source gives all groups' prompts in an order that the seed fixes, again and again, anew in each
// stage.
type Source struct {
	lex      *lexicon.Lexicon
	data     plan.Data
	seed     uint64
	prefixes []prefix              // of each group
	each     uint64                // prompts of a group
	order    []uint32              // of the prompts of all groups
	question []prompt.DrawnLengths // of each group: lengths of the prompts' own parts
	output   []prompt.DrawnLengths // and of their responses
	shared   *multimodal.Drawer    // media of the prefixes, or nil
	own      *multimodal.Drawer    // media of each request, or nil
	added    int                   // special tokens that the length of either part counts
	salt     prompt.Salt
	chat     bool

	mu       sync.Mutex
	sessions map[uint32]*session // of the stage; nil means every request is for itself
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
	s := &Source{lex: lex, data: d, seed: prompt.Mix(seed ^ 'g'), each: uint64(each), salt: prompt.NewSalt(d.Salt, seed)}
	if d.Counted == plan.CountPrompt {
		s.added = prompt.Specials(lex.Tokenizer())
	}
	if !sp.Media.None() {
		s.shared = multimodal.NewDrawer(sp.Media, prompt.Mix(seed^'s'))
	}
	if !d.Media.None() {
		s.own = multimodal.NewDrawer(d.Media, prompt.Mix(seed^'m'))
	}
	g := numpy.New(seed)
	lengths := s.drawLengths(g, groups)
	if err := s.makePrefixes(lengths, groups); err != nil {
		return nil, err
	}
	s.order = s.shuffle(seed, g, func(group int) int { return lengths.At(uint64(group)) }, groups)
	if d.Prompts > 0 && d.Prompts < len(s.order) {
		s.order = s.order[:d.Prompts]
	}
	if sp.MultiTurn {
		s.sessions = map[uint32]*session{}
	}
	return s, nil
}

// drawLengths draws all lengths, group by group, in the order in which programs with numpy do that
// have such groups: a seed gives the same ones there. It returns those of the prefixes.
func (s *Source) drawLengths(g *numpy.Generator, groups int) prompt.DrawnLengths {
	sp, each := &s.data.SharedPrefix, int(s.each)
	prefixes := prompt.DrawLengths(sp.Prefix, groups, 1, g)
	for range groups {
		s.question = append(s.question, prompt.DrawLengths(sp.Question, each, 1, g))
		s.output = append(s.output, prompt.DrawLengths(s.data.Output, each, 1, g))
	}
	return prefixes
}

// questionOf is the length of the own part of a prompt by its number.
func (s *Source) questionOf(id uint64) int {
	return max(s.question[id/s.each].At(id%s.each)-s.added, 1)
}

// outputOf is how many tokens are asked for after a prompt by its number; 0: the server decides.
func (s *Source) outputOf(id uint64) int {
	if s.data.Output == (plan.Length{}) {
		return 0
	}
	return max(s.output[id/s.each].At(id%s.each), 1)
}

func (s *Source) makePrefixes(lengths prompt.DrawnLengths, groups int) error {
	for g := range uint64(groups) {
		n := lengths.At(g)
		if n > 0 {
			n = max(n-s.added, 1)
		}
		text, err := s.lex.Text(rand.New(rand.NewPCG(s.seed^1, prompt.Mix(g))), n)
		if err != nil {
			return fmt.Errorf("making the shared prefix of group %d: %w", g+1, err)
		}
		s.prefixes = append(s.prefixes, prefix{text, n})
	}
	return nil
}

// Open implements prompt.Opener.
func (s *Source) Open(_ context.Context, u prompt.Use) error {
	s.chat = u.Chat
	return nil
}

// SetStage implements prompt.StageStarter. Conversations begin anew.
func (s *Source) SetStage(int) bool {
	clear(s.sessions)
	return true
}

// Lanes implements prompt.LaneSource: each user is one.
func (s *Source) Lanes() int {
	if s.sessions == nil {
		return 0
	}
	return len(s.order)
}

// Session implements prompt.LaneSource.
func (s *Source) Session(at prompt.Position) uint64 {
	if s.sessions == nil {
		return at.I
	}
	return at.I % uint64(len(s.order))
}

func (s *Source) session(id uint32, stage uint64) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[id] == nil {
		s.sessions[id] = s.newSession(id, stage)
	}
	return s.sessions[id]
}

// Prompt implements prompt.Source. It never ends.
func (s *Source) Prompt(_ context.Context, place prompt.Position) (prompt.Prompt, error) {
	id := s.order[place.I%uint64(len(s.order))]
	if s.sessions != nil {
		t := &request{s.session(id, place.Stage), place.I / uint64(len(s.order))}
		return prompt.Prompt{Late: t, Session: t.name, Tokens: -1}, nil
	}
	b, err := s.begin(uint64(id), s.questionOf(uint64(id)), place)
	if err != nil {
		return prompt.Prompt{}, fmt.Errorf("prompt %d of stage %d: %w", place.I+1, place.Stage+1, err)
	}
	p := prompt.Prompt{Text: b.text, Tokens: b.tokens, Output: s.outputOf(uint64(id)), Hash: prompt.HashText(b.text)}
	if p.Parts = s.illustrate(b, uint64(id)/s.each, place.Number()); p.Parts != nil && s.own != nil {
		p.Hash = prompt.Mix(p.Hash ^ place.Number()) // no other request shows the same
	}
	return p, nil
}

type beginning struct {
	text   string
	begins bool // with the part that the group shares
	shared int  // bytes of that
	tokens int
}

// begin makes a number's prompt: its group's prefix and n tokens of its own, safely concurrent.
func (s *Source) begin(id uint64, n int, place prompt.Position) (beginning, error) {
	head := s.prefixes[id/s.each]
	if !s.salt.None() {
		var buf [16]byte
		head.text = string(s.salt.Append(buf[:0], place)) + head.text
		head.tokens = s.lex.Tokenizer().Count(head.text)
	}
	text, err := s.lex.Extend(s.rng(id), head.text, head.tokens, n)
	return beginning{text, true, len(head.text), head.tokens + n}, err
}

func (s *Source) rng(number uint64) *rand.Rand {
	return rand.New(rand.NewPCG(s.seed^3, prompt.Mix(number)))
}
