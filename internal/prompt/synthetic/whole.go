package synthetic

import (
	"fmt"
	"sync/atomic"

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

// corrections is how often the length of a text is corrected that merged with what is around it.
const corrections = 4

// compose makes a number's text of n tokens, and says how many it has with its front. Where that is
// the length asked for, the text is shorter.
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

// cut finds the end of n tokens in a text that is, from head on, the book from an offset on.
type cut func(part string, head, from, n int) (int, bool)

// ruled is a Cutter that is faster at cutting many texts out of one, once it has read
// that.
type ruled interface {
	// CutsOf returns a Cut for texts that are, from head on, the given text from an
	// offset on; nil where there is none. It finds the same as Cut.
	CutsOf(text string) func(part string, head, from, n int) (int, bool)
}

// worthwhile is after how many prompts reading the whole book pays.
const worthwhile = 500

// ruler reads the book once it pays. While one goroutine reads, the others go on without.
type ruler struct {
	made atomic.Int64 // prompts up to now, as far as they need counting
	cut  atomic.Pointer[cut]
}

// cutter is the book's own way to cut; nil means the tokenizer's has to do.
func (r *ruler) cutter(s *Source) cut {
	if c := r.cut.Load(); c != nil {
		return *c
	}
	if r.made.Load() > worthwhile || r.made.Add(1) != worthwhile {
		return nil
	}
	t, ok := s.tok.(ruled)
	if !ok {
		return nil
	}
	c := cut(t.CutsOf(s.book))
	r.cut.Store(&c)
	return c
}
