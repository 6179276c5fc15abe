// Package component reads what the components of a tokenizer.json have in common: a type
// that says what else they hold, and sequences of others.
package component

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
)

// Read makes a component by its type. It is the zero value where the description is null.
// what is how errors call it, such as "a decoder".
func Read[C any](what string, raw []byte, types map[string]func(raw []byte) (C, error)) (C, error) {
	var none C
	if null(raw) {
		return none, nil
	}
	var d struct {
		Type *string `json:"type"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return none, fmt.Errorf("reading %s: %w", what, err)
	}
	if d.Type == nil {
		return none, fmt.Errorf("reading %s: it has no type", what)
	}
	build, known := types[*d.Type]
	if !known {
		return none, fmt.Errorf("reading %s: unknown type %s", what, *d.Type)
	}
	c, err := build(raw)
	if err != nil {
		return none, fmt.Errorf("reading %s of type %s: %w", what, *d.Type, err)
	}
	return c, nil
}

// Plain reads a component of which nothing is said but its type.
func Plain[C any](build func() C) func(raw []byte) (C, error) {
	return func([]byte) (C, error) { return build(), nil }
}

// List reads the components in the given member of a sequence, none of which may be null.
func List[C any](raw []byte, member string, read func(raw []byte) (C, error)) ([]C, error) {
	var d map[string]json.RawMessage
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	if null(d[member]) {
		return nil, errors.New("it has no " + member)
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(d[member], &parts); err != nil {
		return nil, err
	}
	list := make([]C, len(parts))
	for i, part := range parts {
		if null(part) {
			return nil, fmt.Errorf("one of its %s is null", member)
		}
		var err error
		if list[i], err = read(part); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// maxID bounds ids, so that a faulty file does not ask for all memory.
const maxID = 1 << 22

// Vocabulary reads the ids of tokens.
func Vocabulary(s *jsonscan.Scanner) (map[string]int32, error) {
	vocab := map[string]int32{}
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		token := string(key)
		id := s.Int()
		if id < 0 || id > maxID {
			return nil, fmt.Errorf("the token %q has the id %d; ids go from 0 to %d", token, id, maxID)
		}
		vocab[token] = int32(id)
	}
	return vocab, nil
}

// Metaspace is a pre-tokenizer, or a decoder, for spaces that are written as another character.
type Metaspace struct {
	Sign   string // in place of spaces
	Scheme string // when one is put before a text: always, never or first
	Split  bool
}

// ReadMetaspace reads one. Old files have add_prefix_space in place of a scheme.
func ReadMetaspace(raw []byte) (Metaspace, error) {
	var d struct {
		Sign   string  `json:"replacement"`
		Prefix *bool   `json:"add_prefix_space"`
		Scheme *string `json:"prepend_scheme"`
		Split  *bool   `json:"split"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return Metaspace{}, err
	}
	m := Metaspace{Sign: d.Sign, Scheme: "always", Split: d.Split == nil || *d.Split}
	never := d.Prefix != nil && !*d.Prefix
	if never {
		m.Scheme = "never"
	}
	if d.Scheme != nil {
		m.Scheme = *d.Scheme
	}
	switch {
	case utf8.RuneCountInString(m.Sign) != 1:
		return m, errors.New("its replacement has to be one character")
	case m.Scheme != "always" && m.Scheme != "never" && m.Scheme != "first":
		return m, errors.New("its prepend_scheme has to be always, never or first")
	case never && m.Scheme != "never":
		return m, errors.New("its add_prefix_space contradicts its prepend_scheme")
	}
	return m, nil
}

// Fields reads the fields of a component into a struct. Those that are needed must be there.
func Fields(raw []byte, to any, needed ...string) error {
	var has map[string]json.RawMessage
	if err := json.Unmarshal(raw, &has); err != nil {
		return err
	}
	for _, name := range needed {
		if null(has[name]) {
			return errors.New("it has no " + name)
		}
	}
	return json.Unmarshal(raw, to)
}

func null(raw []byte) bool {
	s := strings.TrimSpace(string(raw))
	return s == "" || s == "null"
}
