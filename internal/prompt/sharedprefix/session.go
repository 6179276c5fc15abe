package sharedprefix

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/multimodal"
)

// session is the conversation of one user. Its first turn is the user's prompt; each other goes on
// from all that was said, with a new question or, where the plan repeats, the same prompt.
type session struct {
	source *Source
	name   string
	id     uint32
	place  prompt.Position
	line   prompt.FIFO

	question *prompt.Lengths
	output   *prompt.Lengths
	said     []prompt.Message // in a chat: all of it up to the last response
	text     string           // otherwise: the same
	tokens   int              // of said
	asked    prompt.Prompt    // the current turn
}

// request is a turn of a session. It implements prompt.DeferredPrompt.
type request struct {
	*session
	number uint64
}

func (s *Source) newSession(id uint32, stage uint64) *session {
	seed := prompt.Mix(s.seed ^ stage<<32 ^ uint64(id))
	name := fmt.Sprintf("user_session_%d_%d", id, stage)
	if s.data.SharedPrefix.Repeat { // it is the same in every stage, and so is its name
		name, seed = fmt.Sprintf("user_session_%d", id), prompt.Mix(s.seed^uint64(id))
	}
	return &session{
		source: s, id: id, name: name,
		place:    prompt.Position{Stage: stage, I: uint64(id)},
		question: prompt.NewLengths(s.data.SharedPrefix.Question, prompt.Mix(seed^'q')),
		output:   prompt.NewLengths(s.data.Output, prompt.Mix(seed^'o')),
	}
}

// Await implements prompt.DeferredPrompt.
func (t *request) Await(ctx context.Context) error { return t.line.Await(ctx, t.number) }

// Prompt implements prompt.DeferredPrompt.
func (t *request) Prompt() (prompt.Prompt, error) {
	id := uint64(t.id)
	question, output := t.source.questionOf(id), t.source.outputOf(id)
	if t.number > 0 && !t.source.data.SharedPrefix.Repeat {
		question, output = max(t.question.At(t.number)-t.source.added, 1), t.output.At(t.number)
	}
	p := prompt.Prompt{Session: t.name, Turn: int(t.number), Output: output}
	if err := t.ask(&p, question); err != nil {
		return p, err
	}
	if p.Messages != nil {
		p.Hash = prompt.HashMessages(p.Messages)
	} else {
		p.Hash = prompt.HashText(p.Text)
	}
	t.asked = p
	return p, nil
}

// ask puts a question of n tokens after all that was said.
func (s *session) ask(p *prompt.Prompt, n int) (err error) {
	first := s.tokens == 0 // nothing was said and answered yet
	b := beginning{tokens: n}
	if first || s.source.data.SharedPrefix.Repeat {
		b, err = s.source.begin(uint64(s.id), n, s.place)
	} else {
		b.text, err = s.source.lex.Text(s.source.rng(uint64(s.id)|uint64(p.Turn+1)<<32), n)
	}
	if err != nil {
		return err
	}
	p.Text, p.Tokens = b.text, b.tokens
	switch {
	case s.source.chat:
		number := prompt.Mix(s.place.Number()) ^ uint64(p.Turn)
		m := prompt.Message{Role: "user", Content: p.Text, Parts: s.source.illustrate(b, uint64(s.id)/s.source.each, number)}
		p.Messages = append(slices.Clone(s.said), m)
		p.Text, p.Tokens = "", p.Tokens+s.tokens
		return nil
	case first:
		return nil
	}
	p.Text = s.text + " " + p.Text
	p.Tokens = s.source.lex.Tokenizer().Count(p.Text)
	return nil
}

// joint stands between a prompt and its response. Where turns repeat it is a space.
func (s *session) joint() string {
	if s.source.data.SharedPrefix.Repeat {
		return " "
	}
	return ""
}

// End implements prompt.DeferredPrompt. A turn without a response is as if it had not been: the
// next goes on from what was said before.
func (t *request) End(a prompt.Response) {
	if !a.Failed {
		t.tokens = t.asked.Tokens
		if t.source.chat {
			t.said = append(t.asked.Messages, prompt.Message{Role: "assistant", Content: a.Text})
			t.tokens += t.source.lex.Tokenizer().Count(a.Text)
		} else {
			t.text = t.asked.Text + t.joint() + strings.TrimRight(a.Text, " ")
		}
	}
	t.asked = prompt.Prompt{}
	t.line.Leave(t.number)
}

// illustrate puts media into a prompt: those of its group into the prefix, where they are the
// same in every prompt of the group and a server's cache finds them, and the request's own,
// which are new for each number, into the question. Nil: there are none.
func (s *Source) illustrate(b beginning, group, number uint64) []prompt.Part {
	if s.shared == nil && s.own == nil {
		return nil
	}
	question := weave(strings.TrimPrefix(b.text[b.shared:], " "), s.own, number)
	if !b.begins {
		return question
	}
	return join(weave(b.text[:b.shared], s.shared, group), question)
}

// weave puts what is drawn for a number into a text. Without a drawer there is only the text.
func weave(text string, d *multimodal.Drawer, number uint64) []prompt.Part {
	if d == nil {
		return prompt.InsertMedia(text, nil)
	}
	return prompt.InsertMedia(text, d.Draw(number))
}

// join puts a space between two texts that are not empty: within a part where text meets text, else
// apart.
func join(head, rest []prompt.Part) []prompt.Part {
	if len(head) == 0 || len(rest) == 0 {
		return append(head, rest...)
	}
	last, first := &head[len(head)-1], &rest[0]
	if last.Kind == prompt.Text && first.Kind == prompt.Text {
		last.Text += " " + first.Text
		return append(head, rest[1:]...)
	}
	return append(append(head, prompt.Part{Kind: prompt.Text, Text: " "}), rest...)
}
