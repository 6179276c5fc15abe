package sharedprefix

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"inferometer/internal/prompt"
)

// session is the conversation of one user. Its first turn is the prompt of the user;
// each other goes on from all that was said, with a new question of its own.
type session struct {
	source *Source
	name   string
	id     uint32
	place  prompt.Place
	free   chan struct{} // holds one while a turn is under way

	question *prompt.Lengths
	output   *prompt.Lengths
	turn     int
	said     []prompt.Message // in a chat: all of it up to the last answer
	text     string           // otherwise: the same
	tokens   int              // of said
	asked    prompt.Prompt    // the turn under way
}

func (s *Source) newSession(id uint32, stage uint64) *session {
	seed := prompt.Mix(s.seed ^ stage<<32 ^ uint64(id))
	return &session{
		source: s, id: id, name: fmt.Sprintf("user_session_%d_%d", id, stage),
		place:    prompt.Place{Stage: stage, I: uint64(id)},
		free:     make(chan struct{}, 1),
		question: prompt.NewLengths(s.data.SharedPrefix.Question, prompt.Mix(seed^'q')),
		output:   prompt.NewLengths(s.data.Output, prompt.Mix(seed^'o')),
	}
}

// Await implements prompt.Late.
func (s *session) Await(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.free <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Prompt implements prompt.Late.
func (s *session) Prompt() (prompt.Prompt, error) {
	p := prompt.Prompt{Session: s.name, Turn: s.turn, Output: s.output.At(uint64(s.turn))}
	n := s.question.At(uint64(s.turn))
	var err error
	if s.tokens == 0 { // nothing was said and answered yet
		p.Text, p.Tokens, err = s.source.begin(uint64(s.id), n, s.place)
		if s.source.chat {
			p.Messages, p.Text = []prompt.Message{{Role: "user", Content: p.Text}}, ""
		}
	} else {
		err = s.goOn(&p, n)
	}
	if err != nil {
		return p, err
	}
	if p.Messages != nil {
		p.Hash = prompt.HashMessages(p.Messages)
	} else {
		p.Hash = prompt.HashText(p.Text)
	}
	s.turn++
	s.asked = p
	return p, nil
}

// goOn asks another question of n tokens after all that was said.
func (s *session) goOn(p *prompt.Prompt, n int) error {
	rng := s.source.rng(uint64(s.id) | uint64(s.turn+1)<<32)
	question, err := s.source.lex.Text(rng, n)
	if err != nil {
		return err
	}
	if s.source.chat {
		p.Messages = append(slices.Clone(s.said), prompt.Message{Role: "user", Content: question})
		p.Tokens = s.tokens + n
		return nil
	}
	p.Text = s.text + " " + question
	p.Tokens = s.source.lex.Tokenizer().Count(p.Text)
	return nil
}

// End implements prompt.Late. A turn without an answer is as if it had not been: the
// next goes on from what was said before.
func (s *session) End(a prompt.Answer) {
	if !a.Failed {
		s.tokens = s.asked.Tokens
		if s.source.chat {
			s.said = append(s.asked.Messages, prompt.Message{Role: "assistant", Content: a.Text})
			s.tokens += s.source.lex.Tokenizer().Count(a.Text)
		} else {
			s.text = s.asked.Text + strings.TrimRight(a.Text, " ")
		}
	}
	s.asked = prompt.Prompt{}
	<-s.free
}
