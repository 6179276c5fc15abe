// Package scan splits text into pieces as the regular expressions of well-known
// tokenizers do, by hand-written scanners that read every character once or twice.
//
// A Scanner knows one expression or one sequence of them. All of its functions take
// valid UTF-8.
package scan

import (
	"strings"
)

// Scanner is one way of splitting.
type Scanner struct {
	classes *table
	next    func(*Scanner, string) int

	word         set  // what words are made of
	lead         set  // what may stand before a word as a part of it
	marks        set  // what punctuation is made of
	stop         set  // what always ends a piece, as the text's end does
	digits       int  // how many digits a piece holds at most
	contractions bool // 's and the like are pieces, or ends of words
	tail         bool // '/' may follow punctuation as a line end may
	allAtEnd     bool // white space at the end of the text is one piece, with its line ends
}

// Next is the length of the first piece of s, which is not empty.
func (sc *Scanner) Next(s string) int { return sc.next(sc, s) }

// The parts that the expressions have in common.
const (
	ends     = `|\s*[\r\n]+|\s+(?!\S)|\s+`
	cased    = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
	upperRun = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
	lowerRun = `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
	notWord  = `[^\r\n\p{L}\p{N}]?`
	symbols  = `| ?[^\s\p{L}\p{N}]+[\r\n]*`
	symbols2 = `| ?[^\s\p{L}\p{N}]+[\r\n/]*`

	// GPT2 is the expression of GPT-2, and of ByteLevel where it splits.
	GPT2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	// CL100K is the expression of GPT-3.5, GPT-4 and Llama 3.
	CL100K = cased + `|` + notWord + `\p{L}+|\p{N}{1,3}` + symbols + ends
	// Qwen2 is the expression of Qwen 1.5, 2, 2.5 and 3.
	Qwen2 = cased + `|` + notWord + `\p{L}+|\p{N}` + symbols + ends
	// Qwen35 is the expression of Qwen 3.5, whose words hold marks.
	Qwen35 = cased + `|` + notWord + `[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*` + ends
	// O200K is the expression of GPT-4o.
	O200K = notWord + upperRun + `*` + lowerRun + `+` + cased + `?|` + notWord + upperRun + `+` + lowerRun + `*` + cased + `?|\p{N}{1,3}` + symbols2 + ends
	// Tekken is the expression of Mistral Nemo and its successors.
	Tekken = notWord + upperRun + `*` + lowerRun + `+|` + notWord + upperRun + `+` + lowerRun + `*|\p{N}` + symbols2 + ends
	// DeepSeek is the last of the three expressions of DeepSeek V3.
	DeepSeek = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*" + ends
	// DeepSeekHan is the second of the three.
	DeepSeekHan = `[一-龥぀-ゟ゠-ヿ]+`
	// DeepSeekDigits is the first of the three.
	DeepSeekDigits = `\p{N}{1,3}`

	// The expressions as tiktoken writes them, now and before. They match the same texts as
	// those above, but for white space at the end of a text.
	cl100kTik   = `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+`
	CL100KRanks = `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`
	gpt2Tik     = `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	GPT2Ranks   = `'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s`
)

// Find is the scanner of an expression as a tokenizer.json has it; false where there is
// none. It may hold line ends themselves where others write \r\n.
func Find(pattern string) (*Scanner, bool) {
	switch strings.NewReplacer("\r", `\r`, "\n", `\n`).Replace(pattern) {
	case GPT2, gpt2Tik:
		return ByteLevel(), true
	case CL100K, cl100kTik:
		return newCL100K(3), true
	case Qwen2:
		return newCL100K(1), true
	case Qwen35:
		sc := newCL100K(1)
		sc.word |= mark
		sc.marks &^= mark
		return sc, true
	case O200K:
		return newO200K(3, true), true
	case Tekken:
		return newO200K(1, false), true
	}
	return nil, false
}

// FindRanks is Find for a rank file's expression, where {1,3}+ is possessive and $ ends the text;
// in a tokenizer.json they mean a repetition and a line's end.
func FindRanks(pattern string) (*Scanner, bool) {
	switch pattern {
	case GPT2Ranks:
		return ByteLevel(), true
	case CL100KRanks:
		sc := newCL100K(3)
		sc.allAtEnd = true
		return sc, true
	}
	return Find(pattern)
}

// FindSequence is the scanner of expressions in turn, each for the pieces of the one before.
func FindSequence(patterns []string) (*Scanner, bool) {
	switch {
	case len(patterns) == 1:
		return Find(patterns[0])
	case len(patterns) == 3 && patterns[0] == DeepSeekDigits && patterns[1] == DeepSeekHan &&
		strings.NewReplacer("\r", `\r`, "\n", `\n`).Replace(patterns[2]) == DeepSeek:
		return &Scanner{classes: isolated(), next: (*Scanner).deepSeek, stop: end | number | han, digits: 3}, true
	}
	return nil, false
}

// ByteLevel is the scanner of the ByteLevel pre-tokenizer, which is that of GPT-2.
func ByteLevel() *Scanner {
	return &Scanner{classes: plain(), next: (*Scanner).gpt2, stop: end, contractions: true}
}

// Digits is the scanner of the Digits pre-tokenizer followed by ByteLevel. each: every digit is a
// piece.
func Digits(each bool) *Scanner {
	sc := &Scanner{classes: digital(), next: (*Scanner).gpt2Digits, stop: end | number, contractions: true}
	if each {
		sc.digits = 1
	}
	return sc
}

// NoSplit is the scanner that does not split.
func NoSplit() *Scanner {
	return &Scanner{next: func(_ *Scanner, s string) int { return len(s) }}
}

func newCL100K(digits int) *Scanner {
	return &Scanner{
		classes: plain(), next: (*Scanner).cl100k, stop: end, digits: digits, contractions: true,
		word: letters, lead: all &^ (newline | letters | number), marks: all &^ (blank | letters | number),
	}
}

func newO200K(digits int, contractions bool) *Scanner {
	return &Scanner{
		classes: plain(), next: (*Scanner).o200k, stop: end, digits: digits, contractions: contractions, tail: true,
		lead: all &^ (newline | letters | number), marks: all &^ (blank | letters | number),
	}
}
