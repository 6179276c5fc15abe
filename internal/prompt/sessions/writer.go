package sessions

import (
	"context"
	"fmt"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
)

// block is how many tokens a hash of a payload file stands for, bailianBlock how many one of a
// Bailian trace does.
const (
	block        = 512
	bailianBlock = 16
)

// writer makes the texts of lines that have none. A trace of an hour is a gigabyte of
// text: each is made when it is sent. Of lines with hashes, the same hash is the same
// tokens, and a text has as many as its line says, whatever the tokenizer makes of the
// joints.
type writer struct {
	tok   prompt.Tokenizer
	texts prompt.Factory
	seed  uint64
	lex   *lexicon.Lexicon // of texts with hashes; nil means no line has any
}

// coded is a text that is not made yet.
type coded struct {
	length int     // in tokens
	number uint64  // among those without hashes, from 1
	hashes []int64 // of each block of it; none: it shares nothing with others
	block  int     // tokens of a block
}

// fits returns what is wrong with the numbers of a line.
func (c *coded) fits() error {
	switch n := len(c.hashes); {
	case n == 0:
	case c.length > n*c.block:
		return fmt.Errorf("input_length is %d, but %d hash_ids cover at most %d tokens", c.length, n, n*c.block)
	case c.length <= (n-1)*c.block:
		return fmt.Errorf("input_length is %d, but %d hash_ids cover more than %d tokens, at %d per hash", c.length, n, (n-1)*c.block, c.block)
	}
	return nil
}

func (w *writer) text(c *coded) (string, error) {
	if len(c.hashes) == 0 {
		s, err := w.texts(plan.Data{Input: plan.Length{Dist: plan.DistFixed, Mean: float64(c.length)}}, w.tok, prompt.Mix(w.seed^c.number<<20))
		if err != nil {
			return "", err
		}
		p, err := s.Prompt(context.Background(), prompt.Position{})
		return p.Text, err
	}
	scope := prompt.Mix(w.seed ^ 'b')
	pieces := make([]lexicon.Piece, 0, len(c.hashes))
	for left := c.length; left > 0; left -= c.block {
		hash := uint64(c.hashes[len(pieces)])
		pieces = append(pieces, lexicon.Piece{Key: prompt.Mix(scope ^ prompt.Mix(hash)), N: min(left, c.block)})
	}
	return w.lex.Compose("", 0, pieces, c.length)
}

// fill makes the text of a turn that has none yet.
func (w *writer) fill(one *turn) (prompt.Prompt, error) {
	p := one.prompt
	if one.coded == nil {
		return p, nil
	}
	var err error
	if p.Text, err = w.text(one.coded); err != nil {
		return p, err
	}
	p.Tokens, p.Hash = one.coded.length, prompt.HashText(p.Text)
	return p, nil
}

// uncertain reports whether a text of some length may not be found.
func (w *writer) uncertain() bool { return w != nil && w.lex != nil && !w.lex.Sure() }

// fillAll makes all texts at once, so that one that cannot be made shows before the run
// and not in the middle of it.
func (w *writer) fillAll(ctx context.Context, sessions []session) error {
	for _, k := range sessions {
		for i := range k {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			p, err := w.fill(&k[i])
			if err != nil {
				return err
			}
			k[i].prompt, k[i].coded = p, nil
		}
	}
	return nil
}
