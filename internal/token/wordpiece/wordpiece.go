// Package wordpiece turns words into token ids: in turn, the longest token that the rest begins
// with.
package wordpiece

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/token/component"
	"github.com/inferometer/inferometer/internal/token/trie"
)

// Model encodes words. It is safe for concurrent use.
type Model struct {
	tokens   []string
	ids      map[string]int32
	unknown  int32
	maxChars int
	begin    *trie.Trie // tokens that begin a word
	inside   *trie.Trie // those that do not, without their prefix
}

// Config says what a model is made of.
type Config struct {
	// Vocab is the ids of the tokens.
	Vocab map[string]int32
	// Unknown is the token of a word that cannot be written as tokens.
	Unknown string
	// Prefix stands before the text of a token that does not begin a word.
	Prefix string
	// MaxChars is how many characters a word can have; a longer one is unknown.
	MaxChars int
}

// New makes a model.
func New(c Config) (*Model, error) {
	m := &Model{ids: c.Vocab, maxChars: c.MaxChars}
	var ok bool
	if m.unknown, ok = c.Vocab[c.Unknown]; !ok {
		return nil, fmt.Errorf("the WordPiece model has no token %q, its unk_token; words it does not know would have no tokens", c.Unknown)
	}
	var begin, inside []string
	var beginIDs, insideIDs []int32
	for token, id := range c.Vocab {
		if int(id) >= len(m.tokens) {
			m.tokens = append(m.tokens, make([]string, int(id)+1-len(m.tokens))...)
		}
		m.tokens[id] = token
		if !utf8.ValidString(token) {
			return nil, fmt.Errorf("the WordPiece model has the token %q, which is not valid UTF-8", token)
		}
		begin, beginIDs = append(begin, token), append(beginIDs, id)
		if rest, ok := strings.CutPrefix(token, c.Prefix); ok {
			inside, insideIDs = append(inside, rest), append(insideIDs, id)
		}
	}
	m.begin, m.inside = trie.New(begin, beginIDs), trie.New(inside, insideIDs)
	return m, nil
}

// FromJSON reads the model of a tokenizer.json.
func FromJSON(data []byte) (*Model, error) {
	var s jsonscan.Scanner
	s.Reset(data)
	s.Object()
	var c Config
	seen := map[string]bool{}
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		name := string(key)
		seen[name] = true
		switch name {
		case "unk_token":
			c.Unknown = string(s.Quoted())
		case "continuing_subword_prefix":
			c.Prefix = string(s.Quoted())
		case "max_input_chars_per_word":
			c.MaxChars = int(s.Int())
		case "vocab":
			var err error
			if c.Vocab, err = component.Vocabulary(&s); err != nil {
				return nil, fmt.Errorf("the WordPiece model: %w", err)
			}
		case "type":
			if kind := string(s.Quoted()); s.Err() == nil && kind != "WordPiece" {
				return nil, fmt.Errorf("the model is of type %q, not WordPiece", kind)
			}
		default:
			s.Skip()
		}
	}
	if !s.End() {
		return nil, fmt.Errorf("reading a WordPiece model: %w", s.Err())
	}
	for _, name := range []string{"unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"} {
		if !seen[name] {
			return nil, fmt.Errorf("the WordPiece model has no %s", name)
		}
	}
	return New(c)
}

// Token is the text of an id.
func (m *Model) Token(id int32) (string, bool) {
	if id < 0 || int(id) >= len(m.tokens) {
		return "", false
	}
	t := m.tokens[id]
	if known, ok := m.ids[t]; !ok || known != id {
		return "", false
	}
	return t, true
}

// ID is the id of a token.
func (m *Model) ID(token string) (int32, bool) {
	id, ok := m.ids[token]
	return id, ok
}

// Size is how many tokens there are.
func (m *Model) Size() int { return len(m.ids) }

// Encode appends the ids of a word.
func (m *Model) Encode(dst []int32, word string) []int32 {
	if len(word) > m.maxChars && utf8.RuneCountInString(word) > m.maxChars {
		return append(dst, m.unknown)
	}
	from := len(dst)
	t := m.begin
	for at := 0; at < len(word); {
		best, end := int32(-1), at
		for state, i := trie.Root, at; i < len(word); {
			var id int32
			if state, id = t.Next(state, word[i]); state < 0 {
				break
			}
			if i++; id >= 0 {
				best, end = id, i
			}
		}
		if best < 0 {
			return append(dst[:from], m.unknown)
		}
		dst = append(dst, best)
		at, t = end, m.inside
	}
	return dst
}
