package synthetic

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/prompt"
)

// surround learns what the server puts around a text, for prompts whose length is counted
// with it.
func (s *Source) surround(u prompt.Use) error {
	if !u.Chat {
		s.added = u.Specials
		return nil
	}
	if u.Wrap == nil {
		return message.Errorf("%v: the tokenizer %s comes without a chat template; leave it out, or name the tokenizer of a chat model", message.InputCount, s.tok.Name())
	}
	const sample = "a"
	text, err := u.Wrap(sample)
	if err != nil {
		return err
	}
	s.around, s.added = u.Wrap, s.tok.Count(text)-s.tok.Count(sample)
	return nil
}

// corrections is how often the length of a text is corrected that grew together with what
// is put around it.
const corrections = 4

// compose makes the text of a number, of n tokens, and says how many it has with what is
// put in front of it. Where the length is that of what the model is given, the text is as
// much shorter.
func (s *Source) compose(number uint64, n int, place prompt.Position) (string, int, error) {
	own := n - s.added
	if own < 1 {
		return "", 0, fmt.Errorf("%d tokens are too few: the server itself puts %d around every prompt", n, s.added)
	}
	for range corrections {
		text, err := s.text(number, own, place)
		if err != nil {
			return "", 0, err
		}
		text, total, err := s.begin(text, own, number)
		if err != nil || s.around == nil {
			return text, total, err
		}
		rendered, err := s.around(text)
		if err != nil {
			return "", 0, err
		}
		off := s.tok.Count(rendered) - n - (total - own)
		if off == 0 {
			return text, total, nil
		}
		own = max(own-off, 1)
	}
	return "", 0, fmt.Errorf("the tokenizer %q finds no text of exactly %d tokens within the chat template", s.tok.Name(), n)
}
