// Package wekatrace plays recorded sessions again, out of traces that have no texts but a
// hash for each block of tokens, as the KV cache tester of Weka writes them. The texts are
// made up: the same hash is the same tokens, so that a server's cache of prefixes finds
// what the recorded one found, and every prompt has as many tokens as the recorded one.
// Answers in later prompts are made up, too, as long as the recorded ones; what the server
// says in their place would shift the blocks.
package wekatrace

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"inferometer/internal/lexicon"
	"inferometer/internal/plan"
	"inferometer/internal/prompt"
	"inferometer/internal/sessionfilter"
)

const (
	defaultOutput = 1000
	defaultBlock  = 64
)

// Source gives the sessions in an order that the seed fixes, again and again.
type Source struct {
	replay   plan.Replay
	speak    speaker
	seed     uint64
	env      func(string) string
	tell     func(string)
	filter   *sessionfilter.Filter
	places   map[string]string // of each trace, by its id
	empty    int               // traces without calls
	sessions []*session
	next     int
}

// New prepares to play what d asks for. Open reads it. env has the hub's settings.
func New(d plan.Data, tok prompt.Tokenizer, seed uint64, env func(string) string) (*Source, error) {
	lex, err := lexicon.New(tok)
	if err != nil {
		return nil, err
	}
	return newSource(d, lex, seed, env), nil
}

func newSource(d plan.Data, lex *lexicon.Lexicon, seed uint64, env func(string) string) *Source {
	return &Source{
		replay: d.Replay, speak: speaker{lex}, seed: prompt.Mix(seed ^ 'w'), env: env,
		tell: func(string) {}, places: map[string]string{},
	}
}

// Open implements prompt.Opener.
func (s *Source) Open(ctx context.Context, u prompt.Use) error {
	if !u.Chat {
		return plan.Faults{{Path: "target.endpoint", Text: "recorded sessions are chats", Hint: "use a chat endpoint"}}
	}
	if u.Tell != nil {
		s.tell = u.Tell
	}
	if s.replay.Filter != "" {
		var err error
		if s.filter, err = sessionfilter.Parse(s.replay.Filter); err != nil {
			return plan.Faults{{Path: "data.replay.filter", Text: err.Error(), Hint: "such as x['max_tokens'] < 100000"}}
		}
	}
	files, err := s.files(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range files {
		if s.full() {
			break
		}
		if err := s.readFile(ctx, f); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if s.empty > 0 {
		s.tell(fmt.Sprintf("Left out: %d traces without requests.", s.empty))
	}
	if len(s.sessions) == 0 {
		return plan.Faults{{Path: "data.replay", Text: fmt.Sprintf("no session is left of %d files", len(files)), Hint: "look at the files and at filter"}}
	}
	s.arrange()
	return nil
}

// full reports whether no more sessions are wanted. Only what the hub has is bounded.
func (s *Source) full() bool {
	return s.replay.Hub != plan.Hub{} && s.replay.Entries > 0 && len(s.sessions) >= s.replay.Entries
}

// arrange puts the sessions in order, repeats them where more are wanted, and tags those
// that no cache shall know.
func (s *Source) arrange() {
	rng := rand.New(rand.NewPCG(s.seed, 0))
	rng.Shuffle(len(s.sessions), func(i, j int) { s.sessions[i], s.sessions[j] = s.sessions[j], s.sessions[i] })
	tag := func() string { return fmt.Sprintf("[SESS:%016x]", rng.Uint64()) }
	if s.replay.RandomID {
		for _, one := range s.sessions {
			one.tag = tag()
		}
	}
	for n := len(s.sessions); len(s.sessions) < s.replay.Sessions; {
		again := len(s.sessions) - n
		from := s.sessions[again%n]
		s.sessions = append(s.sessions, &session{name: fmt.Sprintf("%s_dup%d", from.name, again+1), tag: tag(), graph: from.graph})
	}
}

// Sessions implements prompt.Finite.
func (s *Source) Sessions() int { return len(s.sessions) }

// Next implements prompt.Source: the next session, as a whole.
func (s *Source) Next(context.Context) (prompt.Prompt, error) {
	one := s.sessions[s.next%len(s.sessions)]
	name := one.name
	if round := s.next / len(s.sessions); round > 0 {
		name += fmt.Sprintf("#%d", round+1)
	}
	s.next++
	return prompt.Prompt{Session: name, Tokens: -1, Play: &prompt.Play{Graph: one.graph, Name: name, Tag: one.tag}}, nil
}
