package lexicon

import (
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// collect takes a vocabulary's words, and returns what in it can be part of two.
func (l *Lexicon) collect(texts iter.Seq[string]) []span {
	var spans []span
	const beside = "a"
	alone := l.tok.Count(beside + " " + beside)
	seen := map[string]bool{}
	for text := range texts {
		if sp, ok := spanOf(text); ok {
			spans = append(spans, sp)
		}
		word := strings.TrimSpace(text)
		if len(l.words) == mostWords || seen[word] || word == "" || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
			continue
		}
		seen[word] = true
		if l.tok.Count(beside+" "+word+" "+beside) != alone+1 {
			continue
		}
		l.words = append(l.words, word)
		if l.tok.Count(word) == 1 && l.tok.Count(word+" "+beside) == alone {
			l.first = append(l.first, word)
		}
	}
	return spans
}

// span is a token with a space after a letter: it can be part of two words. before and after are
// the letters around its first such space; whole: before is all of a word.
type span struct {
	before, after string
	whole         bool
}

// spanOf is the span that a token's text is.
func spanOf(text string) (span, bool) {
	for i := 1; i < len(text); i++ {
		if text[i] != ' ' {
			continue
		}
		last, _ := utf8.DecodeLastRuneInString(text[:i])
		if !unicode.IsLetter(last) {
			continue
		}
		from := strings.LastIndexFunc(text[:i], func(r rune) bool { return !unicode.IsLetter(r) })
		sp := span{before: text[:i], after: text[i+1:]}
		if from >= 0 {
			_, size := utf8.DecodeRuneInString(text[from:])
			sp.before, sp.whole = text[from+size:i], true
		}
		if end := strings.IndexFunc(sp.after, func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
			sp.after = sp.after[:end]
		}
		return sp, true
	}
	return span{}, false
}

// part leaves out words that a token could join with the next one: those that end as a span does
// before its space, or those that begin as it goes on, whichever leaves more. Then a word's tokens
// do not depend on those beside it.
func (l *Lexicon) part(spans []span) {
	if len(spans) == 0 {
		return
	}
	ends, wholes, begins := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, sp := range spans {
		if sp.whole {
			wholes[sp.before] = true
		} else {
			ends[sp.before] = true
		}
		begins[sp.after] = true
	}
	ending := func(word string) bool {
		for i := range word {
			if ends[word[i:]] {
				return true
			}
		}
		return wholes[word]
	}
	beginning := func(word string) bool {
		for i := range word {
			if begins[word[:i]] {
				return true
			}
		}
		return begins[word]
	}
	apart := without(l.words, ending)
	joins := ending
	if other := without(l.words, beginning); len(other) > len(apart) {
		apart, joins = other, beginning
	}
	l.words, l.first = apart, without(l.first, joins)
	l.recount()
}

// recount counts words once more beside one that no token joins with another: what they
// were counted beside may itself have been joined with them.
func (l *Lexicon) recount() {
	i := slices.IndexFunc(l.first, func(w string) bool { return l.tok.Count(w+" "+w) == 2 })
	if i < 0 {
		l.words, l.first = nil, nil
		return
	}
	beside := l.first[i]
	l.words = without(l.words, func(w string) bool { return l.tok.Count(beside+" "+w+" "+beside) != 3 })
	l.first = without(l.first, func(w string) bool { return l.tok.Count(w+" "+beside) != 2 })
}

// without leaves out the words that have something against them.
func without(words []string, against func(string) bool) []string {
	var out []string
	for _, w := range words {
		if !against(w) {
			out = append(out, w)
		}
	}
	return out
}

// madeUp are words of consonants and vowels in turn, for tokenizers without words of
// their own.
func madeUp() []string {
	const consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"
	rng := rand.New(rand.NewPCG(3, 4))
	seen := map[string]bool{}
	var words []string
	for len(words) < 20_000 {
		b := make([]byte, 0, 8)
		for range 1 + rng.IntN(3) {
			b = append(b, consonants[rng.IntN(len(consonants))], vowels[rng.IntN(len(vowels))])
		}
		if rng.IntN(2) == 0 {
			b = append(b, consonants[rng.IntN(len(consonants))])
		}
		if word := string(b); !seen[word] {
			seen[word] = true
			words = append(words, word)
		}
	}
	return words
}
