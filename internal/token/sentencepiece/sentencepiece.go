// Package sentencepiece reads the .model files of SentencePiece, of the types BPE,
// unigram, char and word. Ids and texts are those of SentencePiece itself: no text is taken for a
// control piece such as <s>, while user-defined pieces are found wherever they stand.
package sentencepiece

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/bpe"
)

// Options say what a .model file does not.
type Options struct {
	// BOS and EOS say whether Encode adds the pieces for the beginning and the end of a
	// text when asked for special tokens. Nil: the beginning where there is a piece
	// for it, and never the end, as Llama and its kin have it.
	BOS, EOS *bool
}

// Read makes the tokenizer of a .model file's content.
func Read(name string, data []byte, o Options) (*token.Pipeline, error) {
	e, err := readEngine(name, data, o)
	if err != nil {
		return nil, fmt.Errorf("the SentencePiece model %s: %w", name, err)
	}
	return e, nil
}

// Is reports whether data looks like a SentencePiece model.
func Is(data []byte) bool {
	f, _, err := next(data)
	if err != nil || f.number != 1 || f.bytes == nil {
		return false
	}
	f, _, err = next(f.bytes)
	return err == nil && f.number == 1 && len(f.bytes) > 0
}

func readEngine(name string, data []byte, o Options) (*token.Pipeline, error) {
	m, err := read(data)
	if err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	var users []string
	var userIDs []int32
	p := token.Parts{Name: name, Decoder: newDecoder(m)}
	for id, pc := range m.pieces {
		switch pc.kind {
		case userPiece:
			users, userIDs = append(users, pc.text), append(userIDs, int32(id))
		case controlPiece:
			p.Known = append(p.Known, token.Added{ID: int32(id), Content: pc.text, Special: true})
		}
	}
	user := newMatcher(users, userIDs)
	if p.Normalizer, err = newNormalizer(m, user); err != nil {
		return nil, err
	}
	if p.Model, err = m.build(user); err != nil {
		return nil, err
	}
	if id := m.special(m.bosID); id != nil && (o.BOS == nil || *o.BOS) {
		p.Before = id
	}
	if id := m.special(m.eosID); id != nil && o.EOS != nil && *o.EOS {
		p.After = id
	}
	return token.New(p)
}

// special is a control piece that Encode can add; nil where there is none.
func (m *model) special(id int) []int32 {
	if id < 0 || id >= len(m.pieces) || m.pieces[id].kind != controlPiece {
		return nil
	}
	return []int32{int32(id)}
}

// check finds what this package does not do, and what no model can have.
func (m *model) check() error {
	if m.kind < unigramModel || m.kind > charModel {
		return fmt.Errorf("its type is %d; unigram (1), bpe (2), word (3) and char (4) are supported", m.kind)
	}
	if m.denormalizer {
		return errors.New("it has a denormalizer, which is not supported")
	}
	seen := make(map[string]bool, len(m.pieces))
	unknown, bytes := 0, 0
	for id, p := range m.pieces {
		if seen[p.text] {
			return fmt.Errorf("the piece %q appears twice", p.text)
		}
		seen[p.text] = true
		switch p.kind {
		case unknownPiece:
			unknown++
			m.unkID = id
		case bytePiece:
			bytes++
		case unusedPiece:
			if m.kind == bpeModel {
				return fmt.Errorf("the piece %q is marked as unused, which is not supported in a bpe model", p.text)
			}
		}
	}
	if unknown != 1 {
		return fmt.Errorf("it has %d unknown pieces; a model has exactly one", unknown)
	}
	if (bytes == 256) != m.byteFallback {
		return fmt.Errorf("it has %d byte pieces, but byte_fallback is %v", bytes, m.byteFallback)
	}
	return nil
}

// build makes the model that turns normalized text into ids.
func (m *model) build(user *matcher) (token.Model, error) {
	switch m.kind {
	case unigramModel:
		return newUnigram(m), nil
	case charModel:
		return &listed{newVocabulary(m), func(text string) int { return firstChar(text, user) }}, nil
	case wordModel:
		return &listed{newVocabulary(m), firstWord}, nil
	}
	c := bpe.Config{Tokens: make([]string, len(m.pieces)), ByteFallback: m.byteFallback, Unknown: m.pieces[m.unkID].text,
		FuseUnknown: !m.byteFallback}
	scores := make([]float32, len(m.pieces))
	for id, p := range m.pieces {
		c.Tokens[id], scores[id] = p.text, p.score
	}
	inner, err := bpe.FromScores(c, scores, func(id int32) bool {
		return m.pieces[id].kind == normalPiece || m.pieces[id].kind == userPiece
	})
	if err != nil || user == nil {
		return inner, err
	}
	return &whole{inner, user}, nil
}

// whole is a model with pieces that are taken as a whole, and that nothing is merged
// with.
type whole struct {
	*bpe.Model
	user *matcher
}

// Encode appends the ids of a normalized text.
func (w *whole) Encode(dst []int32, text string) []int32 {
	start := 0
	for i := 0; i < len(text); {
		size, id := w.user.match(text[i:])
		if size == 0 {
			_, size = utf8.DecodeRuneInString(text[i:]) // a piece begins with a character
			i += size
			continue
		}
		if start < i {
			dst = w.Model.Encode(dst, text[start:i])
		}
		dst = append(dst, id)
		i += size
		start = i
	}
	if start < len(text) {
		dst = w.Model.Encode(dst, text[start:])
	}
	return dst
}

// decoder turns pieces back into text.
type decoder struct {
	bytes    map[string]byte
	unknown  string
	surface  string
	trimOne  bool // the space that texts are given goes away again
	trimMany bool // and so do all that they begin with
}

func newDecoder(m *model) *decoder {
	d := &decoder{
		bytes: map[string]byte{}, unknown: m.pieces[m.unkID].text, surface: m.unkSurface,
		trimOne: m.dummyPrefix || m.removeExtra, trimMany: m.removeExtra,
	}
	for b := 0; m.byteFallback && b < 256; b++ {
		d.bytes[byteText(b)] = byte(b)
	}
	return d
}

// Decode returns the texts of pieces.
func (d *decoder) Decode(pieces []string) []string {
	out := make([]string, 0, len(pieces))
	var raw []byte
	begun := false // text, or the one space that is dropped, was there
	flush := func() {
		if len(raw) > 0 {
			out = append(out, repaired(raw))
			raw, begun = raw[:0], true
		}
	}
	for _, p := range pieces {
		if b, ok := d.bytes[p]; ok {
			raw = append(raw, b)
			continue
		}
		flush()
		if p == d.unknown {
			out, begun = append(out, d.surface), true
			continue
		}
		if !begun && d.trimOne {
			rest, cut := strings.CutPrefix(p, space)
			p = rest
			begun = cut && !d.trimMany
		}
		if p != "" {
			out, begun = append(out, strings.ReplaceAll(p, space, " ")), true
		}
	}
	flush()
	return out
}

// repaired is text of bytes, with U+FFFD for each that is not part of a character.
func repaired(b []byte) string {
	return string([]rune(string(b)))
}
