// Package random makes prompts of random words, of an exact length in tokens.
package random

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/azure"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
)

// Source makes prompts of random words, of the lengths of a distribution or of a trace.
type Source struct {
	prompt.RestartPerStage
	lex      *lexicon.Lexicon
	sizes    prompt.Sizes
	trace    []azure.Invocation // lengths in place of sizes, or nil
	once     bool               // a stage ends with the last of them
	template bool
	wrap     func(string) (string, error) // the chat template that lengths cover, or nil
	around   int                          // tokens that it takes
	sent     bool                         // prompts are sent with it, not put into it by the server
	added    int                          // special tokens around a prompt that its length counts
	salt     prompt.Salt
	seed     uint64
	pool     uint64 // distinct prompts; 0: no bound
	kept     prompt.Cache
}

// tries is how often a text within a template is looked for.
const tries = 16

// New makes a source of prompts of the lengths that d asks for, counted by tok. A trace
// is read with read; what is wrong with it is returned as plan.Faults.
func New(d plan.Data, tok prompt.Tokenizer, seed uint64, read func(name string) ([]byte, error)) (*Source, error) {
	lex, err := lexicon.New(tok)
	if err != nil {
		return nil, err
	}
	return newSource(d, lex, seed, read)
}

func newSource(d plan.Data, lex *lexicon.Lexicon, seed uint64, read func(name string) ([]byte, error)) (s *Source, err error) {
	s = &Source{
		lex:      lex,
		sizes:    prompt.NewSizes(d, seed),
		once:     d.Trace.Once,
		salt:     prompt.NewSalt(d.Salt, seed),
		seed:     prompt.Mix(seed ^ 'r'),
		pool:     uint64(max(d.Prompts, 0)),
		template: d.Template,
	}
	if d.Counted == plan.CountPrompt && !d.Template {
		s.added = prompt.Specials(lex.Tokenizer())
	}
	s.kept = prompt.NewKept(s.pool, s.salt)
	if d.Trace.Lengths == "" {
		return s, nil
	}
	const path = "data.trace.lengths"
	data, err := read(d.Trace.Lengths)
	if err != nil {
		return nil, plan.Faults{{Path: path, Text: err.Error(), Hint: "it must be a readable trace"}}
	}
	if s.trace, err = azure.Parse(d.Trace.Lengths, path, data); err != nil {
		return nil, err
	}
	return s, nil
}

// Open implements prompt.Opener: it takes the chat template where the plan wants one.
func (s *Source) Open(_ context.Context, u prompt.Use) error {
	if !s.template {
		return nil
	}
	if u.Wrap == nil {
		return plan.Faults{{Path: "data.template", Text: "the tokenizer " + s.lex.Tokenizer().Name() + " comes without a chat template", Hint: "name the tokenizer of a chat model or leave it out"}}
	}
	text, err := u.Wrap("a")
	if err != nil {
		return fmt.Errorf("putting the chat template around a prompt: %w", err)
	}
	s.wrap, s.sent = u.Wrap, !u.Chat
	s.around = s.lex.Tokenizer().Count(text) - s.lex.Tokenizer().Count("a")
	return nil
}

// Prompt implements prompt.Source. It ends with a trace that is gone through once, and else never.
func (s *Source) Prompt(_ context.Context, place prompt.Position) (prompt.Prompt, error) {
	if s.once && place.I >= uint64(len(s.trace)) {
		return prompt.Prompt{}, io.EOF
	}
	number := place.Number()
	if s.pool > 0 {
		number = place.I % s.pool
	}
	p, err := s.make(number, place)
	if err != nil {
		return p, fmt.Errorf("random prompt %d of stage %d: %w", place.I+1, place.Stage+1, err)
	}
	if s.trace != nil {
		p.Output = s.row(number).Output
	} else {
		p.Output = s.sizes.Output(place)
	}
	return p, nil
}

// row is the line of the trace that a prompt is like. Every stage begins with the first.
func (s *Source) row(number uint64) azure.Invocation {
	return s.trace[number&(1<<40-1)%uint64(len(s.trace))]
}

// make makes the prompt of a number, or takes it from those that are kept.
func (s *Source) make(number uint64, place prompt.Position) (prompt.Prompt, error) {
	if p := s.kept.Get(number); p != nil {
		return *p, nil
	}
	var n int
	if s.trace != nil {
		n = s.row(number).Input
	} else {
		n = s.sizes.Input(number, place)
	}
	n = max(n-s.added, 1)
	rng := rand.New(rand.NewPCG(s.seed, prompt.Mix(number)))
	text, err := s.text(rng, n, place)
	if err != nil {
		return prompt.Prompt{}, err
	}
	p := prompt.Prompt{Text: text, Tokens: n, Hash: prompt.HashText(text)}
	s.kept.Put(number, p)
	return p, nil
}

// text draws a text of n tokens, the template included where there is one.
func (s *Source) text(rng *rand.Rand, n int, place prompt.Position) (string, error) {
	if s.wrap == nil {
		return s.salted(rng, n, place)
	}
	within := n - s.around
	for range tries {
		if within < 1 {
			return "", fmt.Errorf("a length of %d tokens leaves no room for a prompt within the chat template, which takes %d: ask for more", n, s.around)
		}
		text, err := s.salted(rng, within, place)
		if err != nil {
			return "", err
		}
		whole, err := s.wrap(text)
		if err != nil {
			return "", fmt.Errorf("putting the chat template around it: %w", err)
		}
		count := s.lex.Tokenizer().Count(whole)
		if count == n && s.sent {
			return whole, nil
		}
		if count == n {
			return text, nil
		}
		within += n - count
	}
	return "", fmt.Errorf("the tokenizer %q finds no text of exactly %d tokens within the chat template", s.lex.Tokenizer().Name(), n)
}

// salted draws a text of n tokens, its salt included where there is any.
func (s *Source) salted(rng *rand.Rand, n int, place prompt.Position) (string, error) {
	if s.salt.None() {
		return s.lex.Text(rng, n)
	}
	var buf [16]byte
	word := s.salt.Append(buf[:0], place)
	grain := string(word[:len(word)-1])
	count := s.lex.Tokenizer().Count(grain)
	if count < n {
		return s.lex.Extend(rng, grain, count, n-count)
	}
	end, ok := s.lex.Tokenizer().Cut(grain, n)
	if !ok {
		return "", fmt.Errorf("the tokenizer %q finds no salt of %d tokens", s.lex.Tokenizer().Name(), n)
	}
	return grain[:end], nil
}
