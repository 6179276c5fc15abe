// Package lexicon draws random texts of an exact length in tokens. They are made of words that are
// one token each, whatever stands beside them: a server finds the tokens drawn.
package lexicon

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"unicode"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// Encoder is what the lengths of random texts are measured with.
type Encoder interface {
	prompt.Tokenizer
	// Cut is the length in bytes of a beginning of text of exactly n tokens; false: there is none.
	Cut(text string, n int) (int, bool)
}

// vocabulary is a Tokenizer that can list its tokens.
type vocabulary interface {
	// Vocabulary gives the text of every token but added ones.
	Vocabulary() iter.Seq[string]
}

// placer is a Tokenizer that knows where tokens end.
type placer interface {
	// Ends appends where each token of text ends, as offsets in bytes, in order.
	Ends(dst []int, text string) []int
}

const (
	fewWords  = 32     // a lexicon with fewer is no lexicon
	mostWords = 60_000 // more are not looked for
	tries     = 16     // to draw a text of an exact length
)

// Lexicon draws random texts of an exact length in tokens. It is safe for concurrent use from
// many goroutines, each with its own random numbers.
type Lexicon struct {
	tok   Encoder
	words []string // each is one token between two others, and has no white space
	first []string // those that are also one at the beginning of a text
	plain bool     // words are a token each; false: of unknown length, so texts are cut
	sure  bool     // plain, and no token goes beyond a word's end, so nothing needs to be counted
	alone []string // words that are a token each at the beginning of a text, though there be few
}

// New finds the words that a tokenizer takes for one token. A tokenizer with
// too few of them gets made-up words, and texts are cut to their length.
func New(tok prompt.Tokenizer) (*Lexicon, error) {
	t, ok := tok.(Encoder)
	if !ok {
		return nil, fmt.Errorf("random texts: the tokenizer %q cannot cut text to a number of tokens; use %q", tok.Name(), plan.TokenizerWords)
	}
	l := &Lexicon{tok: t}
	var spans []span
	if v, ok := tok.(vocabulary); ok {
		spans = l.collect(v.Vocabulary())
	}
	l.alone = l.first
	l.part(spans)
	l.plain = len(l.words) >= fewWords && len(l.first) >= fewWords && l.adds()
	l.sure = l.plain
	if !l.plain {
		l.words = madeUp()
		l.first = l.words
		l.plain = l.adds()
		l.sure = l.plain && len(spans) == 0
	}
	return l, nil
}

// adds reports whether the tokens of words add up in longer texts.
func (l *Lexicon) adds() bool {
	const n = 500
	rng := rand.New(rand.NewPCG(1, 2))
	for range 8 {
		if l.tok.Count(string(l.draw(nil, rng, n))) != n {
			return false
		}
	}
	return true
}

// draw appends n words with spaces between them. Where dst has a text already, a
// space comes first.
func (l *Lexicon) draw(dst []byte, rng *rand.Rand, n int) []byte {
	for range n {
		if len(dst) == 0 {
			dst = append(dst, l.first[rng.IntN(len(l.first))]...)
			continue
		}
		dst = append(append(dst, ' '), l.words[rng.IntN(len(l.words))]...)
	}
	return dst
}

// Append appends n words to a text: exactly n tokens more, the same ones after whichever
// text, and at the beginning. false: the tokenizer has no such words, or the text ends in
// something that they may grow together with; Extend measures what becomes of it then.
func (l *Lexicon) Append(text []byte, rng *rand.Rand, n int) ([]byte, bool) {
	last, _ := utf8.DecodeLastRune(text)
	if !l.sure || len(text) > 0 && !unicode.IsLetter(last) {
		return text, false
	}
	words := l.first
	for range n {
		if len(text) > 0 {
			text = append(text, ' ')
		}
		text = append(text, words[rng.IntN(len(words))]...)
		words = l.words
	}
	return text, true
}

// Tokenizer is what the lexicon's words are tokens of.
func (l *Lexicon) Tokenizer() Encoder { return l.tok }

// Text draws a text of exactly n tokens.
func (l *Lexicon) Text(rng *rand.Rand, n int) (string, error) { return l.Extend(rng, "", 0, n) }

// Extend draws what follows a text of a known length, so that the whole, which it
// returns, has exactly n tokens more. Where the tokenizer lets it, the tokens of the
// text stay what they were, so that a server's cache of them serves the whole.
func (l *Lexicon) Extend(rng *rand.Rand, text string, tokens, n int) (string, error) {
	if n <= 0 {
		return text, nil
	}
	// Nothing grows together with what follows a letter and a space.
	last, _ := utf8.DecodeLastRuneInString(text)
	apart := l.sure && (text == "" || unicode.IsLetter(last))
	exact := ""
	buf := make([]byte, 0, len(text)+8*n+16)
	for range tries {
		whole := l.attempt(append(buf[:0], text...), rng, tokens, tokens+n, apart)
		if whole == "" {
			continue
		}
		if apart || l.keeps(whole, len(text), tokens) && whole[len(whole)-1] != ' ' {
			return whole, nil
		}
		exact = whole // which is better than none
	}
	if exact == "" && text == "" && n == 1 && len(l.alone) > 0 {
		return l.alone[rng.IntN(len(l.alone))], nil
	}
	if exact == "" {
		return "", fmt.Errorf("the tokenizer %q finds no random text of exactly %d tokens", l.tok.Name(), tokens+n)
	}
	return exact, nil
}

// attempt draws words until the whole has as many tokens as wanted; "": it cannot be
// had with these words. apart: they need no counting.
func (l *Lexicon) attempt(b []byte, rng *rand.Rand, have, want int, apart bool) string {
	head := len(b)
	if l.plain {
		b = l.draw(b, rng, want-have)
		if whole := string(b); apart || l.tok.Count(whole) == want {
			return whole
		}
	}
	b = l.draw(b, rng, max(want-have, 1)) // each is one token at least
	whole := string(b)
	end, ok := l.tok.Cut(whole, want)
	if !ok || end <= head {
		return ""
	}
	return whole[:end]
}

// keeps reports whether the tokens of the beginning of a text are those of the
// beginning alone.
func (l *Lexicon) keeps(whole string, head, tokens int) bool {
	p, ok := l.tok.(placer)
	if head == 0 || !ok {
		return true
	}
	ends := p.Ends(nil, whole[:min(len(whole), head+64)])
	return tokens >= 1 && len(ends) >= tokens && ends[tokens-1] == head
}
