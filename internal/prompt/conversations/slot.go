package conversations

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
)

// slot is where one conversation after the other is held. One turn is in flight at a time.
type slot struct {
	lex    *lexicon.Lexicon
	data   *plan.Data
	chat   bool
	shared string
	index  uint64
	first  string // the name of the first conversation
	turns  uint64 // of each conversation
	lens   func(turn uint64) (input, output int)
	own    int // tokens of the part of the system prompt that is its own
	seed   uint64
	line   prompt.FIFO

	mu     sync.Mutex
	latest uint64 // conversation that was asked for

	// What follows is that of the current turn.
	ready   time.Time     // it does not go before
	thought time.Duration // in which it waited for that
	system  string
	sysLen  int    // of system, in tokens
	begun   uint64 // conversations whose system prompt was made
	history []exchange
	asked   exchange
}

// exchange is a question and its response, with their lengths in tokens.
type exchange struct {
	question, answer string
	asked, replied   int
}

// order is which turn of which conversation a request is.
type order struct {
	number, turn uint64
}

// request is a turn in a slot, with so many ahead of it. It implements prompt.DeferredPrompt.
type request struct {
	*slot
	order
	round uint64
}

func newSlot(s *Source, i uint64) *slot {
	return &slot{
		lex: s.lex, data: &s.data, chat: s.chat, shared: s.shared,
		index: i, first: s.names[i], seed: mix(s.seed, s.stage, i),
		turns: s.lengths.turnsOf(i), own: s.lengths.own.At(i),
		lens: func(turn uint64) (input, output int) { return s.lengths.turnLengths(i, turn) },
	}
}

func (s *slot) order(round uint64) order {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := order{round / s.turns, round % s.turns}
	s.latest = max(s.latest, o.number)
	return o
}

// name is a conversation's within its stage, whose first one has the name of the last before.
func (s *slot) name(number uint64) string {
	if number == 0 {
		return cmp.Or(s.first, fmt.Sprintf("conv_%d", s.index))
	}
	return fmt.Sprintf("slot_%d_convo_%d", s.index, number)
}

func (s *slot) rng(what, number, turn uint64) *rand.Rand {
	return rand.New(rand.NewPCG(mix(s.seed, what), mix(number, turn)))
}

// Await implements prompt.DeferredPrompt: a turn waits for the response before it and the tool that
// this called.
func (t *request) Await(ctx context.Context) error {
	if err := t.line.Await(ctx, t.round); err != nil {
		return err
	}
	t.thought = 0
	wait := time.Until(t.ready)
	if t.turn == 0 || wait <= 0 {
		return nil
	}
	begun := time.Now()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		t.thought = time.Since(begun)
		return nil
	case <-ctx.Done():
		t.line.Leave(t.round)
		return ctx.Err()
	}
}

// Prompt implements prompt.DeferredPrompt.
func (t *request) Prompt() (prompt.Prompt, error) {
	if t.number >= t.begun {
		if err := t.begin(t.number); err != nil {
			return prompt.Prompt{}, err
		}
	}
	n, output := t.lens(t.turn)
	p := prompt.Prompt{Session: t.name(t.number), Turn: int(t.turn), Output: output, Think: t.thought}
	question, err := t.lex.Text(t.rng('q', t.number, t.turn), n)
	if err != nil {
		return p, err
	}
	t.asked = exchange{question: question, asked: n}
	return p, t.compose(&p)
}

func (s *slot) begin(number uint64) error {
	s.history, s.begun = nil, number+1
	s.sysLen = s.data.Conversations.SharedPrompt + s.own
	var err error
	s.system, err = s.lex.Extend(s.rng('s', number, 0), s.shared, s.data.Conversations.SharedPrompt, s.own)
	return err
}

// compose writes the prompt of the current turn. The oldest turns are left out where
// the whole would be longer than the context, and then what is too much of the system
// prompt's end, so that what conversations share stays the same.
func (s *slot) compose(p *prompt.Prompt) error {
	bound := s.data.Conversations.MaxContext
	if bound > 0 {
		p.Output = min(p.Output, bound/2)
	}
	for {
		over := s.write(p) + p.Output - bound
		if bound == 0 || over <= 0 {
			return nil
		}
		switch {
		case len(s.history) > 0:
			s.history = s.history[1:]
		case s.sysLen > 0:
			s.system, s.sysLen = s.cut(s.system, s.sysLen-over)
		case s.asked.asked > 1:
			s.asked.question, s.asked.asked = s.cut(s.asked.question, max(s.asked.asked-over, 1))
		default:
			return fmt.Errorf("a response of %d tokens leaves no room in a context of %d", p.Output, bound)
		}
	}
}

// cut shortens a text to at most n tokens.
func (s *slot) cut(text string, n int) (string, int) {
	for ; n > 0; n-- {
		if end, ok := s.lex.Tokenizer().Cut(text, n); ok {
			return text[:end], n
		}
	}
	return "", 0
}

// write puts the parts together and gives what they take of the context.
func (s *slot) write(p *prompt.Prompt) int {
	if s.chat {
		return s.writeChat(p)
	}
	var b strings.Builder
	b.WriteString(s.system)
	say := func(text string) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(text)
	}
	for _, e := range s.history {
		say(e.question)
		b.WriteString(strings.TrimRight(e.answer, " "))
	}
	say(s.asked.question)
	p.Text = b.String()
	p.Tokens = s.lex.Tokenizer().Count(p.Text)
	p.Hash = prompt.HashText(p.Text)
	return p.Tokens
}

func (s *slot) writeChat(p *prompt.Prompt) int {
	p.Messages, p.Tokens = nil, s.sysLen+s.asked.asked
	if s.system != "" {
		p.Messages = append(p.Messages, prompt.Message{Role: "system", Content: s.system})
	}
	for _, e := range s.history {
		p.Messages = append(p.Messages, prompt.Message{Role: "user", Content: e.question}, prompt.Message{Role: "assistant", Content: e.answer})
		p.Tokens += e.asked + e.replied
	}
	p.Messages = append(p.Messages, prompt.Message{Role: "user", Content: s.asked.question})
	p.Hash = prompt.HashMessages(p.Messages)
	return p.Tokens + perChat + perMessage*len(p.Messages)
}

// End implements prompt.DeferredPrompt. A turn without a response counts as none, and calls no
// tool.
func (t *request) End(a prompt.Response) {
	t.ready = time.Time{}
	if !a.Failed {
		tool := prompt.NewCounts(t.data.Conversations.ToolLatency, mix(t.seed, 'w', t.number)).At(t.turn)
		t.ready = time.Now().Add(time.Duration(tool) * time.Millisecond)
		t.asked.answer, t.asked.replied = a.Text, t.lex.Tokenizer().Count(a.Text)
		t.history = append(t.history, t.asked)
	}
	t.asked = exchange{}
	t.line.Leave(t.round)
}
