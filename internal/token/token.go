// Package token turns text into token ids and back, exactly as the tokenizers that
// models are served with, and counts and cuts text in tokens.
//
// An Engine is made of Parts (New), which a tokenizer.json (Load, FromJSON), a pair of
// vocab.json and merges.txt (FromPair) or the reader of another format gives. Its ids
// are those of Hugging Face tokenizers. A component that it does not know is an error
// that names it: nothing is approximated.
package token

import (
	"fmt"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/gpt2"
)

// Tokenizer counts and cuts text. It is safe for concurrent use.
type Tokenizer interface {
	// Name is what a plan and a report call it.
	Name() string
	// Count is the number of tokens in text.
	Count(text string) int
	// Cut is the length in bytes of a beginning of text of exactly n tokens; false: there is none.
	Cut(text string, n int) (int, bool)
}

// Builtin is the name of the tokenizer that is compiled in: that of GPT-2.
const Builtin = "builtin:gpt2"

// builtin makes the compiled-in tokenizer on first use.
var builtin = sync.OnceValues(func() (*Pipeline, error) {
	m, err := gpt2.Model()
	if err != nil {
		return nil, err
	}
	return New(gpt2Parts(Builtin, m))
})

// GPT2 is the tokenizer that is compiled in.
func GPT2() (*Pipeline, error) { return builtin() }

// ByName finds a tokenizer that needs no file by the name that a plan gives it.
func ByName(name string) (Tokenizer, error) {
	switch name {
	case Words{}.Name():
		return Words{}, nil
	case Builtin:
		return GPT2()
	}
	return nil, fmt.Errorf("unknown tokenizer %q; known: %s, %s", name, Words{}.Name(), Builtin)
}

// Words takes every word for a token, as strings.Fields splits them. Lengths are counted in them
// where the model's tokenizer is not known.
type Words struct{}

// Name is what a plan and a report call this tokenizer.
func (Words) Name() string { return "words" }

// Count is the number of words in text.
func (Words) Count(text string) int {
	n := 0
	before := uint64(1) // 1: the character before is white space
	for i := 0; i < len(text); i++ {
		space := spaces >> text[i] & 1
		if text[i] >= utf8.RuneSelf {
			var size int
			space, size = wideSpace(text[i:])
			i += size - 1
		}
		n += int(before &^ space)
		before = space
	}
	return n
}

// Cut returns the length in bytes of the shortest beginning of text that has n
// words and ends at the end of one; false where text has fewer.
func (Words) Cut(text string, n int) (int, bool) {
	if n <= 0 {
		return 0, n == 0
	}
	before := uint64(1)
	for i := 0; i < len(text); i++ {
		at, space := i, spaces>>text[i]&1
		if text[i] >= utf8.RuneSelf {
			var size int
			space, size = wideSpace(text[i:])
			i += size - 1
		}
		n -= int(space &^ before) // a word has ended
		if n == 0 {
			return at, true
		}
		before = space
	}
	if n == 1 && before == 0 {
		return len(text), true
	}
	return 0, false
}

// spaces has the bits of ASCII white space. Shifting it by a character in place of comparing keeps
// loops free of unforeseeable branches.
const spaces uint64 = 1<<'\t' | 1<<'\n' | 1<<'\v' | 1<<'\f' | 1<<'\r' | 1<<' '

// wideSpace is 1 where text begins with white space beyond ASCII, and that character's size.
func wideSpace(text string) (uint64, int) {
	r, size := utf8.DecodeRuneInString(text)
	if unicode.IsSpace(r) {
		return 1, size
	}
	return 0, size
}
