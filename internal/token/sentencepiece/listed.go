package sentencepiece

import (
	"strings"
	"unicode/utf8"
)

// listed is a model that knows a piece or does not: of type char or word.
type listed struct {
	pieces  []piece
	ids     map[string]int32
	unknown int32
	bytes   *[256]int32
	first   func(text string) int // length of the first piece of a text, which is not empty
}

func newListed(m *model, first func(string) int) *listed {
	l := &listed{pieces: m.pieces, ids: make(map[string]int32, len(m.pieces)), unknown: int32(m.unkID), first: first}
	for id, p := range m.pieces {
		l.ids[p.text] = int32(id)
	}
	l.bytes = m.byteIDs(l.ids)
	return l
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
func (l *listed) Size() int { return len(l.pieces) }

// Token is the text of an id.
func (l *listed) Token(id int32) (string, bool) {
	if id < 0 || int(id) >= len(l.pieces) {
		return "", false
	}
	return l.pieces[id].text, true
}

// ID is the id of a piece.
func (l *listed) ID(text string) (int32, bool) {
	id, ok := l.ids[text]
	return id, ok
}

// Encode appends the ids of a normalized text. Neighbouring unknown pieces are one, or
// the pieces of their bytes.
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
