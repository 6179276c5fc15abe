package synthetic

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// front is what stands in front of the text of prompts.
type front struct {
	prefixes []string // beginnings that prompts share; none: each has its own
	lengths  []int    // of each, in tokens
	share    float64  // the part of each prompt that is the beginning of one of them; 0: they come on top
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
	length := d.Prefixes.Length
	if s.front.share = d.Prefixes.Share; s.front.share > 0 {
		length = plan.Length{Dist: plan.DistFixed, Mean: math.Ceil(s.front.share * longest(d.Input))}
	}
	made, err := New(plan.Data{Corpus: d.Corpus, Input: length}, s.tok, s.front.seed)
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

// longest is about the most tokens that a distribution gives.
func longest(l plan.Length) float64 {
	const deviations = 8
	if l.Max > 0 {
		return float64(l.Max)
	}
	return l.Mean + deviations*max(l.Stddev, math.Sqrt(l.Mean))
}

// found has a text of n tokens begin with as many of a prefix as its share is: the length stays.
func (s *Source) found(prefix, text string, n int, number uint64) (string, error) {
	shared := min(int(math.Round(s.front.share*float64(n))), n)
	if shared == 0 {
		return text, nil
	}
	end, ok := s.tok.Cut(prefix, shared)
	if !ok {
		end = s.filler.longest(prefix, shared+1)
	}
	rest, ok := s.tok.Cut(text, n-shared)
	if !ok {
		rest = s.filler.longest(text, n-shared+1)
	}
	if text = strings.TrimRight(prefix[:end]+" "+text[:rest], " "); s.tok.Count(text) == n {
		return text, nil
	}
	return s.filler.fill(text, n, number)
}

// begin puts the wish and a beginning in front of the text of a number, which has n tokens. The
// wish is part of that length; a prompt of little more is left alone. The beginning comes on top,
// token by token: where it would merge with the text, that is made up.
func (s *Source) begin(text string, n int, number uint64) (string, int, error) {
	if s.front.wish != "" && n >= s.front.least {
		asking := s.front.wish + text
		if end, ok := s.tok.Cut(asking, n); ok {
			text = asking[:end]
		}
	}
	if count := uint64(len(s.front.prefixes)); count > 0 {
		i := prompt.Mix(s.front.seed^number) % count
		if s.front.share > 0 {
			text, err := s.found(s.front.prefixes[i], text, n, number)
			return text, n, err
		}
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
