package trace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
	"github.com/inferometer/inferometer/internal/prompt/replay"
)

// Sessions plays recorded sessions, each when it began in the record, and its calls after those that they come after.
type Sessions struct {
	prompt.RestartPerStage
	replay.Cycle
	data   plan.Data
	layout layout
	tok    prompt.Tokenizer
	seed   uint64
	inner  prompt.Source // of layouts that have a source of their own
	calls  int
	notes  []string
}

// reading is a file whose sessions are read.
type reading struct {
	*file
	tok    prompt.Tokenizer
	seed   uint64
	output *prompt.Lengths // of responses that were not recorded
	replay *plan.Replay
	note   func(text string) // for the user
	timed  bool              // sessions have times at which they began
}

// lexicon has the words of made-up texts.
func (r *reading) lexicon() (*lexicon.Lexicon, error) { return lexicon.New(r.tok) }

func newSessions(d plan.Data, tok prompt.Tokenizer, seed uint64, l layout, kit *Kit) (prompt.Source, error) {
	s := &Sessions{data: d, layout: l, tok: tok, seed: seed}
	if l.inner == nil {
		return s, nil
	}
	at := d
	if f, err := openFile(d); err == nil && f.dir {
		at.Replay.Dir = d.File
	} else {
		at.Replay.Files = []string{d.File}
	}
	var err error
	s.inner, err = l.inner(kit)(at, tok, seed)
	return s, err
}

// cycling is a source that has sessions.
type cycling interface{ Recorded() []*replay.Session }

// Open implements prompt.Opener.
func (s *Sessions) Open(ctx context.Context, u prompt.Use) error {
	if !u.Chat {
		return plan.Faults{{Path: "target.endpoint", Text: "recorded sessions are chats", Hint: "use a chat endpoint"}}
	}
	timed := s.layout.begun
	if s.inner != nil {
		if o, ok := s.inner.(prompt.Opener); ok {
			if err := o.Open(ctx, u); err != nil {
				return err
			}
		}
		s.All = s.inner.(cycling).Recorded()
	} else {
		f, err := openFile(s.data)
		if err != nil {
			return plan.Faults{{Path: "data.file", Text: err.Error()}}
		}
		r := &reading{
			file: f, tok: s.tok, seed: s.seed, output: prompt.NewLengths(s.data.Output, prompt.Mix(s.seed^'o')), replay: &s.data.Replay,
			note: func(text string) { s.notes = append(s.notes, text) }, timed: s.layout.begun,
		}
		if s.All, err = s.layout.read(r); err != nil {
			return err
		}
		timed = r.timed
	}
	s.layout.begun = timed
	return s.arrange()
}

// arrange puts the sessions of the window in their order, and their times at the speed of the plan.
func (s *Sessions) arrange() error {
	p := pace{Trace: s.data.Trace}
	slices.SortStableFunc(s.All, func(a, b *replay.Session) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Place, b.Place))
	})
	if !s.layout.begun && (p.From != 0 || p.To != 0) {
		return plan.Faults{{
			Path: "data.trace.from", Text: s.layout.article() + " trace does not say when its sessions began", Hint: "leave --window out",
		}}
	}
	var kept []*replay.Session
	seen := map[*prompt.Graph]bool{}
	for _, one := range s.All {
		if in, _ := p.within(one.Begin, s.All[0].Begin); !in {
			continue
		}
		one.Begin = p.play(one.Begin)
		if !seen[one.Graph] {
			seen[one.Graph] = true
			p.graph(one.Graph)
			s.calls += len(one.Graph.Calls)
		}
		kept = append(kept, one)
	}
	if s.All = kept; len(kept) == 0 {
		return plan.Faults{{Path: "data.trace", Text: s.data.File + " has no sessions there", Hint: "widen the window, or name another file"}}
	}
	return nil
}

// graph has the calls of a session go at the speed of the plan.
func (p *pace) graph(g *prompt.Graph) {
	cut := time.Duration(0) // of the recorded moments, by shorter pauses
	before := time.Duration(0)
	for i := range g.Calls {
		c := &g.Calls[i]
		c.Wait = p.scale(p.wait(c.Wait))
		if c.NotBefore > 0 {
			pause := c.NotBefore - before
			before = c.NotBefore
			cut += pause - p.wait(pause)
			c.NotBefore = p.scale(c.NotBefore - cut)
		}
	}
}

// Notes say what the file is taken for.
func (s *Sessions) Notes() []string {
	text := fmt.Sprintf("%s is %s trace: %d sessions with %d requests", s.data.File, s.layout.article(), len(s.All), s.calls)
	if s.layout.begun {
		text += fmt.Sprintf(", begun in %s", plan.Duration(s.All[len(s.All)-1].Begin.Round(time.Millisecond)))
	}
	return append([]string{text + "."}, s.notes...)
}

// Schedule implements prompt.Scheduler: when sessions begin.
func (s *Sessions) Schedule() prompt.Moments {
	if !s.layout.begun {
		return nil
	}
	list := make([]time.Duration, len(s.All))
	for i, one := range s.All {
		list[i] = one.Begin
	}
	return prompt.NewMoments(list)
}

// PlaysWhole implements prompt.Replayer.
func (s *Sessions) PlaysWhole() bool { return true }

// Prompt implements prompt.Source: a session, as a whole.
func (s *Sessions) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	one := s.Session(at.I)
	r := &s.data.Replay
	place := prompt.Mix(s.seed ^ prompt.Mix(at.Stage<<48^at.I))
	if at.I < uint64(r.Lanes) {
		one.Graph = underWay(one.Graph, r, place)
	}
	if r.CacheBust {
		one.Tag = fmt.Sprintf("[rid:%012x]\n\n", place>>16)
	}
	return prompt.Prompt{Session: one.Name, Tokens: -1, Play: &prompt.Play{Graph: one.Graph, Name: one.Name, Tag: one.Tag, Count: s.tok}}, nil
}
