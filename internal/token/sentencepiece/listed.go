package sentencepiece

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

type vocabulary struct {
	pieces  []piece
	ids     map[string]int32
	unknown int32
	bytes   *[256]int32 // the pieces that stand for bytes, or nil
}

func newVocabulary(m *model) vocabulary {
	v := vocabulary{pieces: m.pieces, ids: make(map[string]int32, len(m.pieces)), unknown: int32(m.unkID)}
	for id, p := range m.pieces {
		v.ids[p.text] = int32(id)
	}
	if m.byteFallback {
		v.bytes = new([256]int32)
		for b := range v.bytes {
			v.bytes[b] = v.ids[byteText(b)]
		}
	}
	return v
}

// byteText is the text of the piece that stands for a byte.
func byteText(b int) string { return fmt.Sprintf("<0x%02X>", b) }

// listed is a model that knows a piece or does not: of type char or word.
type listed struct {
	vocabulary
	first func(text string) int // length of the first piece of a text, which is not empty
}

// firstChar is the length of the first character, or of a user's own piece.
func firstChar(text string, user *matcher) int {
	if user != nil {
		if size, _ := user.match(text); size > 0 {
			return size
		}
	}
	_, size := utf8.DecodeRuneInString(text)
	return size
}

// firstWord is the length of the first word: a space begins the next.
func firstWord(text string) int {
	_, size := utf8.DecodeRuneInString(text)
	if end := strings.Index(text[size:], space); end >= 0 {
		return size + end
	}
	return len(text)
}

// Size is how many pieces there are.
func (v *vocabulary) Size() int { return len(v.pieces) }

// Token is the text of an id.
func (v *vocabulary) Token(id int32) (string, bool) {
	if id < 0 || int(id) >= len(v.pieces) {
		return "", false
	}
	return v.pieces[id].text, true
}

// ID is the id of a piece.
func (v *vocabulary) ID(text string) (int32, bool) {
	id, ok := v.ids[text]
	return id, ok
}

// Encode appends a normalized text's ids. Neighbouring unknown pieces are one, or their bytes'.
func (l *listed) Encode(dst []int32, text string) []int32 {
	before := false // the piece before is unknown
	for text != "" {
		n := l.first(text)
		id, ok := l.ids[text[:n]]
		if !ok {
			id = l.unknown
		}
		switch unknown := id == l.unknown; {
		case unknown && l.bytes != nil:
			for i := range n {
				dst = append(dst, l.bytes[text[i]])
			}
		case !unknown || !before:
			dst = append(dst, id)
			before = unknown
		}
		text = text[n:]
	}
	return dst
}
