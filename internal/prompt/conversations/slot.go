package conversations

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
)

// slot is a place at which one conversation after the other is held. One turn is under
// way at a time.
type slot struct {
	lex    *lexicon.Lexicon
	data   *plan.Data
	chat   bool
	shared string
	number uint64
	first  string // the name of the first conversation
	last   string // and of the latest
	seed   uint64
	dealt  order         // of requests, as the source deals them out
	free   chan struct{} // holds one while a turn is under way
	taken  order         // of requests, as they are sent

	ready   time.Time // the next turn does not go before
	system  string
	sysLen  int // of system, in tokens
	history []exchange
	asked   exchange // the turn under way
}

// exchange is a question and its answer, with their lengths in tokens.
type exchange struct {
	question, answer string
	asked, replied   int
	place            order
}

// order counts conversations and their turns.
type order struct {
	number, turn uint64
}

// step gives the present place and goes on to the next, of conversations with so many
// turns.
func (o *order) step(turns func(number uint64) int) order {
	now := *o
	if o.turn++; o.turn >= uint64(max(turns(o.number), 1)) {
		o.number, o.turn = o.number+1, 0
	}
	return now
}

func newSlot(s *Source, i uint64) *slot {
	return &slot{
		lex: s.lex, data: &s.data, chat: s.chat, shared: s.shared,
		number: i, first: s.names[i], seed: mix(s.seed, s.stage, i),
		free: make(chan struct{}, 1),
	}
}

// deal is the conversation that the next request belongs to.
func (s *slot) deal() string {
	s.last = s.session(s.dealt.step(s.turnsOf).number)
	return s.last
}

// session names a conversation within its stage, the first of which
// has the name of the last one of the stage before.
func (s *slot) session(number uint64) string {
	if number == 0 {
		return cmp.Or(s.first, fmt.Sprintf("conv_%d", s.number))
	}
	return fmt.Sprintf("slot_%d_convo_%d", s.number, number)
}

// at draws one length.
func (s *slot) at(l plan.Length, what, number, turn uint64) int {
	return prompt.NewLengths(l, mix(s.seed, what, number)).At(turn)
}

func (s *slot) turnsOf(number uint64) int { return s.at(s.data.Conversations.Turns, 't', number, 0) }

func (s *slot) rng(what, number, turn uint64) *rand.Rand {
	return rand.New(rand.NewPCG(mix(s.seed, what), mix(number, turn)))
}

// Await implements prompt.Late. A turn waits for the answer before it and then for the
// tool that the answer called.
func (s *slot) Await(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.free <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	wait := time.Until(s.ready)
	if s.taken.turn == 0 || wait <= 0 {
		return nil
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		<-s.free
		return ctx.Err()
	}
}

// Prompt implements prompt.Late.
func (s *slot) Prompt() (prompt.Prompt, error) {
	place := s.taken.step(s.turnsOf)
	if place.turn == 0 {
		if err := s.begin(place.number); err != nil {
			return prompt.Prompt{}, err
		}
	}
	p := prompt.Prompt{
		Session: s.session(place.number), Turn: int(place.turn),
		Output: s.at(s.data.Output, 'o', place.number, place.turn),
	}
	n := s.at(s.data.Conversations.Input, 'i', place.number, place.turn)
	question, err := s.lex.Text(s.rng('q', place.number, place.turn), n)
	if err != nil {
		return p, err
	}
	s.asked = exchange{question: question, asked: n, place: place}
	return p, s.compose(&p)
}

// begin makes the system prompt of a new conversation.
func (s *slot) begin(number uint64) error {
	s.history = nil
	own := s.at(s.data.Conversations.DynamicPrompt, 'd', number, 0)
	s.sysLen = s.data.Conversations.SharedPrompt + own
	var err error
	s.system, err = s.lex.Extend(s.rng('s', number, 0), s.shared, s.data.Conversations.SharedPrompt, own)
	return err
}

// compose writes the prompt of the turn under way. The oldest turns are left out where
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
			return fmt.Errorf("an answer of %d tokens leaves no room in a context of %d", p.Output, bound)
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

// End implements prompt.Late. A turn without an answer is as if it had not been, and
// calls no tool.
func (s *slot) End(a prompt.Answer) {
	s.ready = time.Time{}
	if !a.Failed {
		place := s.asked.place
		tool := prompt.NewCounts(s.data.Conversations.ToolLatency, mix(s.seed, 'w', place.number)).At(place.turn)
		s.ready = time.Now().Add(time.Duration(tool) * time.Millisecond)
		s.asked.answer, s.asked.replied = a.Text, s.lex.Tokenizer().Count(a.Text)
		s.history = append(s.history, s.asked)
	}
	s.asked = exchange{}
	<-s.free
}
