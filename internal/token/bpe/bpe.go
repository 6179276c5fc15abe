// Package bpe turns pieces of text into token ids by byte-pair encoding: beginning
// with single bytes or characters, it merges the two neighbours whose merge ranks
// first, leftmost among equals, until no two neighbours can be merged.
//
// A Model never changes once it is made. What a call needs beside it, working memory
// and a cache of pieces seen before, is a Worker, of which a Model keeps as many as
// were ever busy at one time.
package bpe

import (
	"fmt"
	"hash/maphash"
	"runtime"
	"sync"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/unidata"
)

// Config says what a model is made of.
type Config struct {
	// Tokens are the texts of the tokens, by id; "" where an id has none.
	Tokens []string
	// Merges are the pairs that can be merged.
	Merges []Merge
	// Raw: pieces are split into bytes at first, and tokens are bytes; else into characters.
	Raw bool
	// IgnoreMerges: a piece that is a token as a whole is not merged.
	IgnoreMerges bool
	// ByteFallback: a character that is no token becomes tokens such as <0x0A> of its bytes.
	ByteFallback bool
	// Unknown is the token of a character that is no token; "": such a character is
	// left out.
	Unknown string
	// FuseUnknown: neighbouring unknown characters become one token.
	FuseUnknown bool
	// Prefix stands before the text of every token that does not begin a piece.
	Prefix string
	// Suffix stands after the text of every token that ends a piece.
	Suffix string
}

// Merge makes one token of two neighbours. The lowest Rank is merged first.
type Merge struct {
	Left, Right, New int32
	Rank             uint32
}

// none is the id of what is no token.
const none = -1

// Model encodes pieces. It is safe for concurrent use.
type Model struct {
	tokens []string
	index  index
	pairs  pairs
	units  units // ids of single characters, or of bytes where raw
	byteID [256]int32
	joints joints // characters between which something may be merged

	raw, ignoreMerges, fallback, fuse bool
	fallbackAll                       bool // every byte has its token
	segment                           bool // a piece may be cut where joints says so
	alphabet                          bool // raw, and its tokens were written in the byte alphabet
	unknown                           int32
	entries                           int
	odd                               map[string]int32 // tokens that are not in the byte alphabet
	prefix, suffix                    string

	mu   sync.Mutex
	idle []*Worker
	keep int
}

// New makes a model.
func New(c Config) (*Model, error) {
	return build(c, indexOf(c.Tokens))
}

func build(c Config, ix index) (*Model, error) {
	m := &Model{
		entries: len(c.Tokens), tokens: c.Tokens, index: ix, raw: c.Raw, ignoreMerges: c.IgnoreMerges, fallback: c.ByteFallback,
		fuse: c.FuseUnknown, prefix: c.Prefix, suffix: c.Suffix, unknown: none, keep: runtime.GOMAXPROCS(0),
	}
	if c.Unknown != "" {
		id := m.lookup(c.Unknown)
		if id == none {
			return nil, fmt.Errorf("the token for unknown text, %q, is not in the vocabulary", c.Unknown)
		}
		m.unknown = id
	}
	m.pairs = newPairs(len(c.Merges))
	n := int32(len(c.Tokens))
	for _, g := range c.Merges {
		if g.Left < 0 || g.Right < 0 || g.New < 0 || g.Left >= n || g.Right >= n || g.New >= n {
			return nil, fmt.Errorf("merge %d joins tokens %d and %d into %d, but there are only %d tokens", g.Rank, g.Left, g.Right, g.New, n)
		}
		m.pairs.put(g)
	}
	m.findUnits()
	m.findJoints(c.Merges)
	return m, nil
}

// findUnits finds the tokens of single bytes or characters.
func (m *Model) findUnits() {
	m.fallbackAll = m.fallback
	for b := range 256 {
		id := int32(none)
		if m.raw {
			id = m.lookup(string([]byte{byte(b)}))
		} else if m.fallback {
			id = m.lookup(fmt.Sprintf("<0x%02X>", b))
		}
		m.byteID[b] = id
		m.fallbackAll = m.fallbackAll && id != none
	}
	if m.raw {
		return
	}
	for id, text := range m.tokens {
		if text == "" {
			continue
		}
		if r, size := utf8.DecodeRuneInString(text); size == len(text) && (r != utf8.RuneError || size > 1) {
			if found := m.lookup(text); found == int32(id) {
				m.units.put(r, int32(id))
			}
		}
	}
}

// findJoints finds all pairs of characters that some merge joins: no token reaches across other
// neighbours, whose sides are encoded apart.
func (m *Model) findJoints(merges []Merge) {
	m.segment = !m.raw && m.prefix == "" && m.suffix == ""
	if !m.segment {
		return
	}
	apart := make([]bool, len(m.tokens)) // tokens that are not the text that they stand for
	for _, id := range m.byteID {
		if id != none {
			apart[id] = true
		}
	}
	if m.unknown != none {
		apart[m.unknown] = true
	}
	m.joints = newJoints()
	for _, g := range merges {
		left, right := m.tokens[g.Left], m.tokens[g.Right]
		if apart[g.Left] || apart[g.Right] || left == "" || right == "" {
			m.segment = false
			return
		}
		a, _ := utf8.DecodeLastRuneInString(left)
		b, _ := utf8.DecodeRuneInString(right)
		if ua, ub := m.units.get(a), m.units.get(b); ua != none && ub != none {
			m.joints.put(ua, ub)
		}
	}
}

// Size is how many tokens there are.
func (m *Model) Size() int { return m.entries }

// Raw reports whether tokens are bytes rather than text.
func (m *Model) Raw() bool { return m.raw }

// Alphabet reports whether a raw model's file wrote its tokens in the byte-level alphabet.
func (m *Model) Alphabet() bool { return m.alphabet }

// Token is the text of an id, or its bytes where the model is raw; false where there
// is none.
func (m *Model) Token(id int32) (string, bool) {
	if id < 0 || int(id) >= len(m.tokens) || m.tokens[id] == "" {
		return "", false
	}
	return m.tokens[id], true
}

// ID is the id of a token; false where the model has none.
// The tokens of a raw model that was read from JSON are named as they are there.
func (m *Model) ID(token string) (int32, bool) {
	if m.alphabet {
		raw, ok := unidata.AppendRaw(nil, []byte(token))
		if !ok {
			id, ok := m.odd[token]
			return id, ok
		}
		token = string(raw)
	}
	id := m.lookup(token)
	return id, id != none
}

func (m *Model) lookup(text string) int32 { return m.index.find(m.tokens, text) }

// Encode appends the ids of a piece.
func (m *Model) Encode(dst []int32, piece string) []int32 {
	w := m.Worker()
	dst = w.Encode(dst, piece)
	m.Give(w)
	return dst
}

// Worker hands out a worker, for many pieces in a row. Give takes it back.
func (m *Model) Worker() *Worker {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.idle); n > 0 {
		w := m.idle[n-1]
		m.idle = m.idle[:n-1]
		return w
	}
	return &Worker{m: m, seed: maphash.MakeSeed()}
}

// largest is how many symbols a worker's memory may hold when it is given back.
const largest = 1 << 16

// Give takes a worker back. The memory that an unusually long piece took is let go.
func (m *Model) Give(w *Worker) {
	if cap(w.ids) > largest {
		w.merger = merger{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.idle) < m.keep {
		m.idle = append(m.idle, w)
	}
}
