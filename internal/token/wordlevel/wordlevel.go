// Package wordlevel turns words into token ids by looking them up.
package wordlevel

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/token/component"
)

// Model encodes words. It is safe for concurrent use.
type Model struct {
	ids     map[string]int32
	tokens  map[int32]string
	unknown int32
}

// New makes a model. unknown is the token of a word that is none.
func New(vocab map[string]int32, unknown string) (*Model, error) {
	m := &Model{ids: vocab, tokens: make(map[int32]string, len(vocab))}
	var ok bool
	if m.unknown, ok = vocab[unknown]; !ok {
		return nil, fmt.Errorf("the WordLevel model has no token %q, its unk_token; words it does not know would have no tokens", unknown)
	}
	for token, id := range vocab {
		m.tokens[id] = token
	}
	return m, nil
}

// FromJSON reads the model of a tokenizer.json.
func FromJSON(data []byte) (*Model, error) {
	var s jsonscan.Scanner
	s.Reset(data)
	s.Object()
	var vocab map[string]int32
	unknown, hasUnknown := "", false
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "unk_token":
			unknown, hasUnknown = string(s.Quoted()), true
		case "vocab":
			var err error
			if vocab, err = component.Vocabulary(&s); err != nil {
				return nil, fmt.Errorf("the WordLevel model: %w", err)
			}
		case "type":
			if kind := string(s.Quoted()); s.Err() == nil && kind != "WordLevel" {
				return nil, fmt.Errorf("the model is of type %q, not WordLevel", kind)
			}
		default:
			s.Skip()
		}
	}
	if !s.End() {
		return nil, fmt.Errorf("reading a WordLevel model: %w", s.Err())
	}
	if vocab == nil || !hasUnknown {
		return nil, fmt.Errorf("the WordLevel model needs vocab and unk_token")
	}
	return New(vocab, unknown)
}

// Token is the text of an id.
func (m *Model) Token(id int32) (string, bool) {
	t, ok := m.tokens[id]
	return t, ok
}

// ID is the id of a token.
func (m *Model) ID(token string) (int32, bool) {
	id, ok := m.ids[token]
	return id, ok
}

// Size is how many tokens there are.
func (m *Model) Size() int { return len(m.ids) }

// Encode appends the id of a word.
func (m *Model) Encode(dst []int32, word string) []int32 {
	if id, ok := m.ids[word]; ok {
		return append(dst, id)
	}
	return append(dst, m.unknown)
}
