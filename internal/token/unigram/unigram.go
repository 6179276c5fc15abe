// Package unigram turns pieces of text into token ids by their scores: of all ways
// to write a piece as tokens it takes the one whose scores have the highest sum.
package unigram

import (
	"fmt"
	"hash/maphash"
	"sync"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/token/trie"
)

// unknownPenalty is how much lower than the lowest score an unknown character is.
const unknownPenalty = 10

// Model encodes pieces. It is safe for concurrent use.
type Model struct {
	tokens   []string
	scores   []float64
	ids      map[string]int32
	trie     *trie.Trie
	unknown  int32
	unkScore float64
	bytes    *[256]int32 // tokens of bytes; nil means no fallback to them
	room     sync.Pool   // of *lattice
	seed     maphash.Seed
}

// Token is one of a vocabulary; its id is its place.
type Token struct {
	Text  string
	Score float64
}

// New makes a model. unknown is the id of the token for what no other covers.
// byteFallback: it is used only where the tokens <0x00> to <0xFF> cannot be.
func New(vocab []Token, unknown int, byteFallback bool) (*Model, error) {
	if unknown < 0 || unknown >= len(vocab) {
		return nil, fmt.Errorf("the Unigram model has %d tokens, and its unk_id is %d", len(vocab), unknown)
	}
	m := &Model{
		tokens:  make([]string, len(vocab)),
		scores:  make([]float64, len(vocab)),
		ids:     make(map[string]int32, len(vocab)),
		unknown: int32(unknown),
		seed:    maphash.MakeSeed(),
	}
	lowest := vocab[0].Score
	for i, t := range vocab {
		m.tokens[i], m.scores[i] = t.Text, t.Score
		m.ids[t.Text] = int32(i) // of two with the same text the later counts
		lowest = min(lowest, t.Score)
	}
	m.unkScore = lowest - unknownPenalty
	keys := make([]string, 0, len(vocab))
	values := make([]int32, 0, len(vocab))
	for i, t := range m.tokens {
		if m.ids[t] == int32(i) {
			keys = append(keys, t)
			values = append(values, int32(i))
		}
	}
	m.trie = trie.New(keys, values)
	if byteFallback {
		m.bytes = new([256]int32)
		for b := range m.bytes {
			id, ok := m.ids[fmt.Sprintf("<0x%02X>", b)]
			if !ok {
				id = -1
			}
			m.bytes[b] = id
		}
	}
	return m, nil
}

// FromJSON reads the model of a tokenizer.json.
func FromJSON(data []byte) (*Model, error) {
	var s jsonscan.Scanner
	s.Reset(data)
	s.Object()
	var vocab []Token
	unknown, fallback, found := -1, false, false
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "unk_id":
			if !s.Null() {
				unknown = int(s.Int())
			}
		case "byte_fallback":
			fallback = s.Bool()
		case "vocab":
			found = true
			var err error
			if vocab, err = readVocab(&s); err != nil {
				return nil, err
			}
		case "type":
			if kind := string(s.Quoted()); s.Err() == nil && kind != "Unigram" {
				return nil, fmt.Errorf("the model is of type %q, not Unigram", kind)
			}
		default:
			s.Skip()
		}
	}
	if !s.End() {
		return nil, fmt.Errorf("reading a Unigram model: %w", s.Err())
	}
	if !found {
		return nil, fmt.Errorf("the Unigram model has no vocab")
	}
	if unknown == -1 {
		return nil, fmt.Errorf("the Unigram model has no unk_id; without one, texts with other characters than those of its vocab have no tokens")
	}
	return New(vocab, unknown, fallback)
}

// readVocab reads pairs of a text and a score.
func readVocab(s *jsonscan.Scanner) ([]Token, error) {
	var vocab []Token
	s.Array()
	for s.More() {
		s.Array()
		if !s.More() {
			s.Fail("a token")
		}
		text := string(s.Quoted())
		if !s.More() {
			s.Fail("a score")
		}
		number := s.Number()
		if s.More() {
			s.Fail("the end of a pair")
		}
		if s.Err() != nil {
			return nil, fmt.Errorf("reading the vocab of a Unigram model: %w", s.Err())
		}
		score, ok := parseScore(number)
		if !ok {
			return nil, fmt.Errorf("reading the vocab of a Unigram model: the score of %q, %s, is too large", text, number)
		}
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("reading the vocab of a Unigram model: the token %q is not valid UTF-8", text)
		}
		vocab = append(vocab, Token{text, score})
	}
	return vocab, nil
}

// Token is the text of an id.
func (m *Model) Token(id int32) (string, bool) {
	if id < 0 || int(id) >= len(m.tokens) {
		return "", false
	}
	return m.tokens[id], true
}

// ID is the id of a token.
func (m *Model) ID(token string) (int32, bool) {
	id, ok := m.ids[token]
	return id, ok
}

// Size is how many tokens there are.
func (m *Model) Size() int { return len(m.tokens) }

// node is the best way to a place in a piece.
type node struct {
	score float64
	start int32 // where its last token begins; -1: there is no way yet
	id    int32
}

// step is a token on the best way, from the end.
type step struct {
	start, end int32
	id         int32
}

// Encode appends the ids of a piece.
func (m *Model) Encode(dst []int32, piece string) []int32 {
	if piece == "" {
		return dst
	}
	l, _ := m.room.Get().(*lattice)
	if l == nil {
		l = &lattice{seed: m.seed}
	}
	if len(piece) <= maxText {
		dst = l.recall(dst, piece, m)
	} else {
		dst = m.encode(dst, l, piece)
	}
	const large = 1 << 20 // bytes; what is longer is not kept
	if len(l.nodes) <= large {
		m.room.Put(l)
	}
	return dst
}

// encode appends the ids of a piece that is not known yet.
func (m *Model) encode(dst []int32, l *lattice, piece string) []int32 {
	m.fill(l, piece)
	l.path = l.path[:0]
	for end := int32(len(piece)); end > 0; {
		n := l.nodes[end]
		l.path = append(l.path, step{n.start, end, n.id})
		end = n.start
	}
	for i := len(l.path) - 1; i >= 0; {
		s := l.path[i]
		i--
		if s.id != m.unknown {
			dst = append(dst, s.id)
			continue
		}
		// Unknown neighbours are one token.
		for i >= 0 && l.path[i].id == m.unknown {
			s.end = l.path[i].end
			i--
		}
		dst = m.unknownIDs(dst, piece[s.start:s.end])
	}
	return dst
}

// fill finds the best way to each place. Of equal ways the one whose last token begins earlier
// stays.
func (m *Model) fill(l *lattice, piece string) {
	if cap(l.nodes) <= len(piece) {
		l.nodes = make([]node, len(piece)+1+len(piece)/2)
	}
	nodes := l.nodes[:len(piece)+1]
	l.nodes = nodes
	nodes[0] = node{}
	for i := 1; i < len(nodes); i++ {
		nodes[i].start = -1
	}
	tr := m.trie
	for at := 0; at < len(piece); {
		size := 1
		if piece[at] >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(piece[at:])
		}
		here := nodes[at].score
		single := false
		for state, i := trie.Root, at; i < len(piece); {
			var id int32
			if state, id = tr.Next(state, piece[i]); state < 0 {
				break
			}
			i++
			if id < 0 {
				continue
			}
			score := m.scores[id] + here
			if n := &nodes[i]; n.start < 0 || score > n.score {
				*n = node{score, int32(at), id}
			}
			if i-at == size {
				single = true
			}
		}
		if !single {
			score := m.unkScore + here
			if n := &nodes[at+size]; n.start < 0 || score > n.score {
				*n = node{score, int32(at), m.unknown}
			}
		}
		at += size
	}
}

// unknownIDs appends the ids of unknown text: of it as a whole, of its bytes, or the unknown
// token's.
func (m *Model) unknownIDs(dst []int32, text string) []int32 {
	if id, ok := m.ids[text]; ok {
		return append(dst, id)
	}
	if m.bytes != nil {
		from := len(dst)
		for i := range len(text) {
			id := m.bytes[text[i]]
			if id < 0 {
				return append(dst[:from], m.unknown)
			}
			dst = append(dst, id)
		}
		return dst
	}
	return append(dst, m.unknown)
}

// lattice is a goroutine's working memory of Encode. It remembers pieces: most words come again.
type lattice struct {
	nodes []node
	path  []step
	seed  maphash.Seed
	known []entry
}

// entry is a piece that was encoded before. It fills one line of the processor's cache;
// longer pieces and longer results are not kept.
type entry struct {
	length uint8 // of the piece; 0: nothing here
	count  uint8 // of ids
	text   [maxText]byte
	ids    [maxIDs]int32
}

const (
	maxText = 30
	maxIDs  = 8
	entries = 1 << 14
)

// recall appends the ids of a short piece, from those that are known where it is there.
func (l *lattice) recall(dst []int32, piece string, m *Model) []int32 {
	if l.known == nil {
		l.known = make([]entry, entries)
	}
	e := &l.known[maphash.String(l.seed, piece)%entries]
	if int(e.length) == len(piece) && string(e.text[:e.length]) == piece {
		return append(dst, e.ids[:e.count]...)
	}
	start := len(dst)
	dst = m.encode(dst, l, piece)
	if n := len(dst) - start; n <= maxIDs {
		e.length, e.count = uint8(len(piece)), uint8(n)
		copy(e.text[:], piece)
		copy(e.ids[:], dst[start:])
	}
	return dst
}
