package bpe

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// FromRanks makes the model of a rank file (.tiktoken, tekken.json), whose merges are not written
// down: neighbours merge where their joint bytes are a token, the lower id first. tokens are bytes,
// by id; an id may have none. A piece that is a token is not merged.
func FromRanks(tokens []string) (*Model, error) {
	c := Config{Tokens: tokens, Raw: true, IgnoreMerges: true}
	ix := indexOf(tokens)
	for b := range 256 {
		if ix.find(tokens, string([]byte{byte(b)})) == none {
			return nil, fmt.Errorf("the ranks have no token for the byte %#02x; a rank file has one for each of the 256", b)
		}
	}
	c.Merges = splits(tokens, ix, func(id int32) (uint32, bool) { return uint32(id), true }, true)
	return build(c, ix)
}

// FromScores makes the model of a SentencePiece file of type BPE: neighbours merge where their
// joint text is a token, the higher score first. c says all but Merges. merged tells which tokens
// merges give; nil: all.
func FromScores(c Config, scores []float32, merged func(id int32) bool) (*Model, error) {
	if len(scores) != len(c.Tokens) {
		return nil, fmt.Errorf("%d scores for %d tokens", len(scores), len(c.Tokens))
	}
	ix := indexOf(c.Tokens)
	distinct := slices.Clone(scores)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	rank := func(id int32) (uint32, bool) {
		if merged != nil && !merged(id) {
			return 0, false
		}
		at, _ := slices.BinarySearch(distinct, scores[id])
		return uint32(len(distinct) - 1 - at), true
	}
	c.Merges = splits(c.Tokens, ix, rank, c.Raw)
	return build(c, ix)
}

// splits lists all ways in which a token consists of two others.
func splits(tokens []string, ix index, rank func(id int32) (uint32, bool), raw bool) []Merge {
	merges := make([]Merge, 0, 2*len(tokens))
	for id, text := range tokens {
		if len(text) < 2 || ix.find(tokens, text) != int32(id) {
			continue
		}
		r, ok := rank(int32(id))
		if !ok {
			continue
		}
		for i := 1; i < len(text); i++ {
			if !raw && !utf8.RuneStart(text[i]) {
				continue
			}
			left := ix.find(tokens, text[:i])
			if left == none {
				continue
			}
			if right := ix.find(tokens, text[i:]); right != none {
				merges = append(merges, Merge{left, right, int32(id), r})
			}
		}
	}
	return merges
}
