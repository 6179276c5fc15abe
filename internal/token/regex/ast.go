package regex

import (
	"slices"

	"github.com/inferometer/inferometer/internal/token/unidata"
)

type kind uint8

const (
	kEmpty kind = iota
	kLiteral
	kSet
	kAny // any character; but \n unless the node's all is set
	kCat
	kAlt
	kRepeat
	kLook
	kAtomic
	kAssert
)

type mode uint8

const (
	greedy mode = iota
	lazy
	possessive
)

// assertion is a place in a text.
type assertion uint8

const (
	lineStart   assertion = iota // ^
	lineEnd                      // $
	textStart                    // \A
	textEnd                      // \z
	textEndLine                  // \Z
	wordEdge                     // \b
	notWordEdge                  // \B
	searchStart                  // \G
)

// inf is the upper bound of a repetition that has none.
const inf = -1

type node struct {
	kind   kind
	runes  []rune // kLiteral; folded where fold
	fold   bool
	parts  [][]rune        // runes, cut into what one character of a text can be like
	set    []unidata.Range // kSet
	all    bool            // kAny
	subs   []*node
	min    int // kRepeat
	max    int
	mode   mode
	behind bool // kLook
	not    bool
	assert assertion
}

// width is how many characters a node can match; max is inf where there is no bound.
func (n *node) width() (lo, hi int) {
	switch n.kind {
	case kLiteral:
		if n.fold {
			// A character can be like up to three others, and the other way round.
			return (len(n.runes) + 2) / 3, len(n.runes)
		}
		return len(n.runes), len(n.runes)
	case kSet, kAny:
		return 1, 1
	case kCat, kAtomic:
		for _, s := range n.subs {
			a, b := s.width()
			lo += a
			hi = plus(hi, b)
		}
		return lo, hi
	case kAlt:
		for i, s := range n.subs {
			a, b := s.width()
			if i == 0 || a < lo {
				lo = a
			}
			if hi != inf && (b == inf || b > hi) {
				hi = b
			}
		}
		return lo, hi
	case kRepeat:
		a, b := n.subs[0].width()
		lo = a * n.min
		switch {
		case b == 0 || n.max == 0:
			hi = 0
		case b == inf || n.max == inf:
			hi = inf
		default:
			hi = b * n.max
		}
		return lo, hi
	}
	return 0, 0
}

// plus adds two bounds.
func plus(a, b int) int {
	if a == inf || b == inf {
		return inf
	}
	return a + b
}

// tables is the characters that are known by name, and how case folds.
type tables struct {
	rep    map[rune]rune   // the character that stands for those that are alike
	groups map[rune][]rune // all that are alike, by the one that stands for them
	full   map[rune][]rune // what folds to a sequence, as those that stand for it
	word   []unidata.Range
}

func newTables() *tables { return &tables{word: unidata.Onig("word")} }

// folds fills in the tables that only patterns without regard to case need.
func (t *tables) folds() {
	if t.rep != nil {
		return
	}
	f := unidata.CaseFolds()
	t.rep, t.groups, t.full = map[rune]rune{}, map[rune][]rune{}, map[rune][]rune{}
	for _, g := range f.Groups {
		for _, r := range g {
			t.rep[r] = g[0]
		}
		t.groups[g[0]] = g
	}
	for r, seq := range f.Full {
		out := make([]rune, len(seq))
		for i, c := range seq {
			out[i] = t.one(c)
		}
		t.full[r] = out
	}
}

// one is the character that stands for those that are like r.
func (t *tables) one(r rune) rune {
	if o, ok := t.rep[r]; ok {
		return o
	}
	return r
}

// longestFull is how many characters one can be like.
const longestFull = 3

// foldLiteral is what a literal compares as: parts that are each like a single
// character or, where there is one that is like several, the longest such sequence.
func (t *tables) foldLiteral(runes []rune) [][]rune {
	var out [][]rune
	for i := 0; i < len(runes); {
		part, n := t.full[runes[i]], 1
		if part == nil {
			part, n = t.longest(runes[i:])
		}
		out = append(out, part)
		i += n
	}
	return out
}

// longest is the longest beginning of runes that one character is like, and its length, at least 1.
func (t *tables) longest(runes []rune) ([]rune, int) {
	var reps []rune
	for _, r := range runes[:min(len(runes), longestFull)] {
		if t.full[r] != nil {
			break
		}
		reps = append(reps, t.one(r))
	}
	for n := len(reps); n > 1; n-- {
		for _, seq := range t.full {
			if slices.Equal(seq, reps[:n]) {
				return seq, n
			}
		}
	}
	return reps[:1], 1
}

// foldSet adds what is like a character of the set.
func (t *tables) foldSet(set []unidata.Range) []unidata.Range {
	var more []unidata.Range
	for _, g := range t.groups {
		for _, r := range g {
			if unidata.HasIn(set, r) {
				for _, r := range g {
					more = append(more, unidata.Range{Lo: r, Hi: r})
				}
				break
			}
		}
	}
	return unidata.Union(set, more)
}

// sequences is what several characters of a text can be like one of the set.
func (t *tables) sequences(set []unidata.Range) []*node {
	var out []*node
	seen := map[string]bool{}
	for r, seq := range t.full {
		if unidata.HasIn(set, r) && !seen[string(seq)] {
			seen[string(seq)] = true
			out = append(out, &node{kind: kLiteral, runes: seq, fold: true, parts: [][]rune{seq}})
		}
	}
	return out
}

// first is what a match of n can begin with; false: it can be empty, or is not known.
func (t *tables) first(n *node) ([]unidata.Range, bool) {
	switch n.kind {
	case kLiteral:
		return t.firstLiteral(n), true
	case kSet:
		return n.set, true
	case kAny:
		if n.all {
			return nil, false
		}
		return unidata.Not([]unidata.Range{{Lo: '\n', Hi: '\n'}}), true
	case kAtomic:
		return t.first(n.subs[0])
	case kRepeat:
		if n.min == 0 {
			return nil, false
		}
		return t.first(n.subs[0])
	case kAlt:
		var all []unidata.Range
		for _, s := range n.subs {
			f, ok := t.first(s)
			if !ok {
				return nil, false
			}
			all = unidata.Union(all, f)
		}
		return all, true
	case kCat:
		return t.firstCat(n.subs)
	}
	return nil, false
}

// firstLiteral is what a literal can begin with.
func (t *tables) firstLiteral(n *node) []unidata.Range {
	r := n.runes[0]
	out := []unidata.Range{{Lo: r, Hi: r}}
	if !n.fold {
		return out
	}
	out = t.foldSet(out)
	for c, seq := range t.full {
		if slices.Equal(seq, n.parts[0]) {
			out = unidata.Union(out, []unidata.Range{{Lo: c, Hi: c}})
		}
	}
	return out
}

// firstCat is what a sequence can begin with: parts that can be empty, and the first that cannot.
func (t *tables) firstCat(subs []*node) ([]unidata.Range, bool) {
	var all []unidata.Range
	for _, s := range subs {
		switch {
		case s.kind == kLook || s.kind == kAssert:
			continue // matches nothing itself, and only narrows what follows
		case s.kind == kRepeat && s.min == 0:
			f, ok := t.first(s.subs[0])
			if !ok {
				return nil, false
			}
			all = unidata.Union(all, f)
			continue
		}
		f, ok := t.first(s)
		return unidata.Union(all, f), ok
	}
	return nil, false
}
