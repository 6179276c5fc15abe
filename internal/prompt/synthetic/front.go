package synthetic

import (
	"context"
	"fmt"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// front is what stands in front of the text of prompts.
type front struct {
	prefixes []string // beginnings that prompts share; none: each has its own
	lengths  []int    // of each, in tokens
	seed     uint64
	wish     string // for a length of response, in words; empty: none
	words    int    // that length
	least    int    // prompts of fewer tokens have no wish
}

// prepare makes the beginnings that prompts share, and the wish for a length.
func (s *Source) prepare(d plan.Data, seed uint64) error {
	if d.InWords > 0 {
		s.front.words = d.InWords
		s.front.wish = fmt.Sprintf("Write an answer of about %d tokens that goes on from this text:\n\n", d.InWords)
		s.front.least = 2 * s.tok.Count(s.front.wish)
	}
	if d.Prefixes.Count == 0 {
		return nil
	}
	s.front.seed = prompt.Mix(seed ^ 'p')
	made, err := New(plan.Data{Corpus: d.Corpus, Input: d.Prefixes.Length}, s.tok, s.front.seed)
	if err != nil {
		return err
	}
	for i := range uint64(d.Prefixes.Count) {
		p, err := made.Prompt(context.Background(), prompt.Position{I: i})
		if err != nil {
			return fmt.Errorf("making the beginnings that prompts share: %w", err)
		}
		s.front.prefixes, s.front.lengths = append(s.front.prefixes, p.Text), append(s.front.lengths, p.Tokens)
	}
	return nil
}

// begin puts the wish and a beginning in front of the text of a number, which has n
// tokens. The wish is part of that length; a prompt that would be little more than it
// is left alone. The beginning comes on top, token by token: where it would grow together
// with the text, the text is made up for it.
func (s *Source) begin(text string, n int, number uint64) (string, int, error) {
	if s.front.wish != "" && n >= s.front.least {
		asking := s.front.wish + text
		if end, ok := s.tok.Cut(asking, n); ok {
			text = asking[:end]
		}
	}
	if count := uint64(len(s.front.prefixes)); count > 0 {
		i := prompt.Mix(s.front.seed^number) % count
		text = s.front.prefixes[i] + " " + text
		if n += s.front.lengths[i]; s.tok.Count(text) != n {
			var err error
			if text, err = s.filler.fill(text, n, number); err != nil {
				return "", 0, err
			}
		}
	}
	return text, n, nil
}

// Notes says what the plan asks for and is unavailable.
func (s *Source) Notes() []string {
	if n := s.sizes.Input(0, prompt.Position{}); s.front.wish != "" && n < s.front.least {
		return []string{fmt.Sprintf("Prompts of fewer than %d tokens are too short to ask for %d tokens in words; max_tokens asks for them.", s.front.least, s.front.words)}
	}
	return nil
}
