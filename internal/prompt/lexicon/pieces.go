package lexicon

import (
	"math/rand/v2"
	"slices"
)

// Piece is a run of tokens: the first N of those that a key stands for.
type Piece struct {
	Key uint64
	N   int
}

// Compose is a beginning of a known length and the pieces that follow it, so many tokens in all. A
// key is the same tokens wherever it stands, but for the space before a text's first word.
func (l *Lexicon) Compose(begin string, have int, pieces []Piece, want int) (string, error) {
	text := append(make([]byte, 0, len(begin)+8*want), begin...)
	from, counted := 0, true
	rng := wordSource{pcg: rand.NewPCG(0, 0)}
	for _, p := range pieces {
		at := len(text)
		if more, ok := l.Append(text, rng.random(p), p.N); ok {
			text, from = more, at
			continue
		}
		// The piece before is all that can grow together with this one.
		counted = false
		before := string(text[from:])
		whole, err := l.closedExtend(rng.random(p), before, l.tok.Count(before), p.N)
		if err != nil {
			return "", err
		}
		text, from = append(text[:from], whole...), at
	}
	if counted || l.tok.Count(string(text)) == want {
		return string(text), nil
	}
	return l.sayWhole(begin, have, pieces)
}

// Sure reports whether Say needs to measure nothing, so that it cannot fail.
func (l *Lexicon) Sure() bool { return l.sure }

// sayWhole is Say for tokenizers with tokens that reach over more than a piece: every
// piece is measured together with all that comes before it.
func (l *Lexicon) sayWhole(text string, have int, pieces []Piece) (string, error) {
	rng := wordSource{pcg: rand.NewPCG(0, 0)}
	for _, p := range pieces {
		var err error
		if text, err = l.closedExtend(rng.random(p), text, have, p.N); err != nil {
			return "", err
		}
		have += p.N
	}
	return text, nil
}

// closings is how often a piece is drawn that does not end as it should.
const closings = 32

// closedExtend draws what follows a text. Tokens may reach over the end of a word, and a text's
// last piece may stand within another: one is looked for that is the same in both.
func (l *Lexicon) closedExtend(rng *rand.Rand, text string, have, n int) (string, error) {
	var whole string
	for range closings {
		var err error
		if whole, err = l.Extend(rng, text, have, n); err != nil || l.closed(whole) {
			return whole, err
		}
	}
	return whole, nil
}

// closed reports whether a text has the same tokens when words follow it.
func (l *Lexicon) closed(text string) bool {
	p, ok := l.tok.(placer)
	if !ok {
		return true
	}
	ends := p.Ends(nil, text)
	for _, next := range []string{" a", " m", " s"} {
		if more := p.Ends(nil, text+next); len(more) < len(ends) || !slices.Equal(more[:len(ends)], ends) {
			return false
		}
	}
	return true
}

// wordSource draws the words of pieces, one after the other.
type wordSource struct {
	pcg *rand.PCG
	rng *rand.Rand
}

func (v *wordSource) random(p Piece) *rand.Rand {
	if v.rng == nil {
		v.rng = rand.New(v.pcg)
	}
	v.pcg.Seed(p.Key, 0)
	return v.rng
}
