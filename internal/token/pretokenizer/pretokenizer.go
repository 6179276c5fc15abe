// Package pretokenizer splits text into the pieces that a tokenizer's model works on, as
// the pre-tokenizers of a tokenizer.json say.
package pretokenizer

import (
	"slices"

	"github.com/inferometer/inferometer/internal/token/component"
)

// Piece is part of a text.
type Piece struct {
	Text string
	// First: the piece begins where the whole input begins.
	First bool
}

// PreTokenizer splits text. It is safe for concurrent use.
type PreTokenizer interface {
	// Split appends the pieces of p, without empty ones. It panics with a
	// *regex.LimitError where a regular expression goes beyond its bound of steps.
	Split(dst []Piece, p Piece) []Piece
}

// FromJSON makes the pre-tokenizer that a tokenizer.json describes; nil for null.
func FromJSON(raw []byte) (PreTokenizer, error) {
	return component.Read("a pre-tokenizer", raw, map[string]func([]byte) (PreTokenizer, error){
		"ByteLevel":          byteLevelFromJSON,
		"Split":              splitFromJSON,
		"Metaspace":          metaspaceFromJSON,
		"Digits":             digitsFromJSON,
		"Punctuation":        punctuationFromJSON,
		"Whitespace":         component.Plain(newWords),
		"WhitespaceSplit":    component.Plain(newSpaces),
		"BertPreTokenizer":   component.Plain(newBert),
		"UnicodeScripts":     component.Plain(newScripts),
		"CharDelimiterSplit": delimiterFromJSON,
		"FixedLength":        fixedFromJSON,
		"Sequence":           sequenceFromJSON,
	})
}

type sequence []PreTokenizer

func sequenceFromJSON(raw []byte) (PreTokenizer, error) {
	list, err := component.List(raw, "pretokenizers", FromJSON)
	if err != nil || len(list) < 2 {
		return sequence(list), err
	}
	words, spaced := list[0].(spaces)
	if t, ok := list[1].(metaspace); ok && spaced && t.Scheme == "always" && t.Metaspace.Split {
		list = append([]PreTokenizer{signed{words, t}}, list[2:]...)
	}
	return sequence(list), nil
}

// Split runs each on the pieces of the one before.
func (q sequence) Split(dst []Piece, p Piece) []Piece {
	if p.Text == "" {
		return dst
	}
	if len(q) == 1 {
		return q[0].Split(dst, p)
	}
	now, next := []Piece{p}, []Piece(nil)
	for _, t := range q {
		next = next[:0]
		for _, p := range now {
			next = t.Split(next, p)
		}
		now, next = next, now
	}
	return append(dst, now...)
}

// add appends the part of p from start to end.
func add(dst []Piece, p Piece, start, end int) []Piece {
	if start >= end {
		return dst
	}
	return append(dst, Piece{p.Text[start:end], p.First && start == 0})
}

// UsesFirst reports whether what p does with a piece depends on its First.
func UsesFirst(p PreTokenizer) bool {
	switch p := p.(type) {
	case metaspace:
		return p.Scheme == "first"
	case sequence:
		return slices.ContainsFunc(p, UsesFirst)
	}
	return false
}
