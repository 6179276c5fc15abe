// Package wekatrace plays recorded sessions again, out of traces that have no texts but a hash for
// each block of tokens, as the KV cache tester of Weka writes them. The texts are made up: the same
// hash is the same tokens, so that a server's cache of prefixes finds what the recorded one found,
// and every prompt has as many tokens as the recorded one. Responses in later prompts are made up
// too, as long as the recorded ones: real ones would shift the blocks.
package wekatrace

import (
	"context"
	"fmt"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/blocktext"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
	"github.com/inferometer/inferometer/internal/prompt/replay"
	"github.com/inferometer/inferometer/internal/prompt/sessionfilter"
)

const (
	defaultOutput = 1000
	defaultBlock  = 64
)

// Source gives the sessions in an order that the seed fixes, again and again.
type Source struct {
	replay.Cycle
	replay plan.Replay
	limits plan.Data // whose limits files are read by
	speak  blocktext.Speaker
	seed   uint64
	env    func(string) string
	tell   func(string)
	filter *sessionfilter.Filter
	places map[string]string // of each trace, by its id
	empty  int               // traces without calls
	long   int               // those that are longer than a context
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
		replay: d.Replay, limits: plan.Data{Limits: d.Limits}, speak: blocktext.Speaker{Lex: lex, TagUser: d.Replay.CacheBust},
		seed: prompt.Mix(seed ^ 'w'), env: env,
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
	place := replay.Files{Replay: s.replay, Usual: usual, Env: s.env, Tell: s.tell, Downloads: prompt.Downloads(s.limits)}
	files, err := place.Files(ctx)
	if err != nil {
		return err
	}
	if err := s.readFiles(ctx, files); err != nil {
		return err
	}
	if s.long > 0 {
		s.tell(fmt.Sprintf("Left out: %d sessions with a call of more than %d tokens.", s.long, s.replay.MaxContext))
	}
	if s.empty > 0 {
		s.tell(fmt.Sprintf("Left out: %d traces without requests.", s.empty))
	}
	if len(s.All) == 0 {
		return plan.Faults{{Path: "data.replay", Text: fmt.Sprintf("no session is left of %d files", len(files)), Hint: "look at the files, at filter and at max_context"}}
	}
	s.Arrange(&s.replay, s.seed, "")
	return nil
}

// full reports whether no more sessions are wanted. Only what the hub has is bounded.
func (s *Source) full() bool {
	return s.replay.Hub != plan.Hub{} && s.replay.Entries > 0 && len(s.All) >= s.replay.Entries
}

// Prompt implements prompt.Source: a session, as a whole.
func (s *Source) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	one := s.Session(at.I)
	return prompt.Prompt{Session: one.Name, Tokens: -1, Play: &prompt.Play{Graph: one.Graph, Name: one.Name, Tag: one.Tag}}, nil
}
