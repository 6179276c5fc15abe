package unidata

import (
	_ "embed"
	"strings"
	"sync"
)

// lazy makes a set of sets.txt when it is first asked for.
func lazy(name string) func() *Set {
	return sync.OnceValue(func() *Set { return NewSet(unpack(sets()[name])) })
}

// The sets that the reference's libraries test characters against, each named after its library.
var (
	// RustSpace is char::is_whitespace of Rust's standard library.
	RustSpace = lazy("rust_space")
	// RustNumeric is char::is_numeric of Rust's standard library.
	RustNumeric = lazy("rust_numeric")
	// RegexWord is \w of Rust's regex crate.
	RegexWord = lazy("regex_word")
	// RegexSpace is \s of Rust's regex crate.
	RegexSpace = lazy("regex_space")
	// Punctuation is what the Punctuation and Bert pre-tokenizers split at.
	Punctuation = lazy("punctuation")
	// BertDropped is what the Bert normalizer takes for control characters.
	BertDropped = lazy("bert_dropped")
	// BertSpace is what the Bert normalizer turns into spaces.
	BertSpace = lazy("bert_space")
	// BertAccent is what the Bert normalizer takes for accents, once decomposed.
	BertAccent = lazy("bert_accent")
	// CombiningMark is what the StripAccents normalizer drops.
	CombiningMark = lazy("combining_mark")
)

// Onig is a set of Oniguruma by its name: word, space, digit or hex; or class_word, which is \w
// inside a class, where it knows fewer characters.
func Onig(name string) []Range { return unpack(sets()["onig_"+name]) }

// Posix is the characters of a class such as [:alpha:], by its name.
func Posix(name string) ([]Range, bool) {
	packed, ok := sets()["posix_"+name]
	return unpack(packed), ok
}

//go:embed lower.txt
var lowerFile string

// Lower is what each character that changes becomes in lower case.
func Lower() map[rune]string {
	m := make(map[rune]string)
	for line := range strings.Lines(lowerFile) {
		c := line2runes(line)
		m[c[0]] = string(c[1:])
	}
	return m
}

//go:embed scripts.txt
var scriptsFile string

// Script is a set of characters that the UnicodeScripts pre-tokenizer takes for one
// script. Any is true for the characters that stick to whatever is before them.
type Script struct {
	Any    bool
	Ranges []Range
}

// Scripts is all scripts, which do not overlap and leave nothing out but
// surrogates.
func Scripts() []Script {
	var out []Script
	for line := range strings.Lines(scriptsFile) {
		name, packed, _ := strings.Cut(line, "\t")
		out = append(out, Script{Any: name == "", Ranges: unpack(packed)})
	}
	return out
}

//go:embed forms.txt
var formsFile string

// Forms is what the Unicode normal forms need beside the rules for Hangul.
type Forms struct {
	Canonical     map[rune]string  // full canonical decompositions
	Compatibility map[rune]string  // full compatibility decompositions that differ from it
	Compose       map[[2]rune]rune // primary composites
	Class         map[rune]uint8   // canonical combining classes other than 0
}

// NormalForms reads the tables of the normal forms.
func NormalForms() Forms {
	f := Forms{map[rune]string{}, map[rune]string{}, map[[2]rune]rune{}, map[rune]uint8{}}
	for line := range strings.Lines(formsFile) {
		c := line2runes(line[2:])
		switch line[0] {
		case 'd':
			f.Canonical[c[0]] = string(c[1:])
		case 'k':
			f.Compatibility[c[0]] = string(c[1:])
		case 'c':
			f.Compose[[2]rune{c[1], c[2]}] = c[0]
		case 'm':
			f.Class[c[0]] = uint8(c[1])
		}
	}
	return f
}

//go:embed folds.txt
var foldsFile string

// Folds is how Oniguruma compares characters without regard to case.
type Folds struct {
	Groups [][]rune        // characters that are alike
	Full   map[rune][]rune // characters that are like a sequence of others
}

// CaseFolds reads the tables of case folding.
func CaseFolds() Folds {
	f := Folds{Full: map[rune][]rune{}}
	for line := range strings.Lines(foldsFile) {
		c := line2runes(line[2:])
		if line[0] == 's' {
			f.Groups = append(f.Groups, c)
		} else {
			f.Full[c[0]] = c[1:]
		}
	}
	return f
}

//go:embed graphemes.txt
var graphemesFile string

// Graphemes is the sets that grapheme clusters are found by, under their names in
// the standard: the values of Grapheme_Cluster_Break, ExtPict, and InCB_Linker,
// InCB_Consonant and InCB_Extend.
func Graphemes() map[string][]Range {
	m := make(map[string][]Range)
	for name, packed := range keyed(graphemesFile) {
		m[name] = unpack(packed)
	}
	return m
}

// line2runes reads a line of hexadecimal code points.
func line2runes(line string) []rune {
	var out []rune
	for word := range strings.FieldsSeq(line) {
		out = append(out, hex(word))
	}
	return out
}
