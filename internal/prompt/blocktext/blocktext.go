// Package blocktext makes up texts of which no more is known than their length and hashes of their blocks: the same
// hash is the same tokens, and a text has as many tokens as it says, whatever the tokenizer makes of the joints.
package blocktext

import (
	"context"
	"fmt"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
)

// Coded is a text that is not made yet.
type Coded struct {
	Length int     // in tokens
	Number uint64  // among those without hashes, from 1
	Hashes []int64 // of each block of it; none: it shares nothing with others
	Block  int     // tokens of a block
}

// Fits returns what is wrong with its numbers.
func (c *Coded) Fits() error {
	switch n := len(c.Hashes); {
	case n == 0:
	case c.Length > n*c.Block:
		return fmt.Errorf("input_length is %d, but %d hash_ids cover at most %d tokens", c.Length, n, n*c.Block)
	case c.Length <= (n-1)*c.Block:
		return fmt.Errorf("input_length is %d, but %d hash_ids cover more than %d tokens, at %d per hash", c.Length, n, (n-1)*c.Block, c.Block)
	}
	return nil
}

// Composer makes texts, each when it is sent: an hour is a gigabyte. It is safe for concurrent use.
type Composer struct {
	tok   prompt.Tokenizer
	texts prompt.Factory
	seed  uint64
	lex   *lexicon.Lexicon // of texts with hashes; nil means there are none
}

// NewComposer makes texts in the tokens of tok; those without hashes are those of texts. hashed says that some have hashes.
func NewComposer(tok prompt.Tokenizer, texts prompt.Factory, seed uint64, hashed bool) (*Composer, error) {
	m := &Composer{tok: tok, texts: texts, seed: seed}
	var err error
	if hashed {
		m.lex, err = lexicon.New(tok)
	}
	return m, err
}

// Text makes a text.
func (m *Composer) Text(c *Coded) (string, error) {
	if len(c.Hashes) == 0 {
		s, err := m.texts(plan.Data{Input: plan.Length{Dist: plan.DistFixed, Mean: float64(c.Length)}}, m.tok, prompt.Mix(m.seed^c.Number<<20))
		if err != nil {
			return "", err
		}
		p, err := s.Prompt(context.Background(), prompt.Position{})
		return p.Text, err
	}
	scope := prompt.Mix(m.seed ^ 'b')
	pieces := make([]lexicon.Piece, 0, len(c.Hashes))
	for left := c.Length; left > 0; left -= c.Block {
		hash := uint64(c.Hashes[len(pieces)])
		pieces = append(pieces, lexicon.Piece{Key: prompt.Mix(scope ^ prompt.Mix(hash)), N: min(left, c.Block)})
	}
	return m.lex.Compose("", 0, pieces, c.Length)
}

// Uncertain reports whether a text of some length may not be found.
func (m *Composer) Uncertain() bool { return m != nil && m.lex != nil && !m.lex.Sure() }
