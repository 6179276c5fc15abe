package sharedprefix

import (
	"strings"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/multimodal"
)

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

// join puts a space between two texts that are neither empty: within one part where text meets
// text, else as a part of its own.
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
