package pretokenizer

import (
	"strings"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/unidata"
)

// spaces splits at white space.
type spaces struct{ set *unidata.Set }

func newSpaces() PreTokenizer { return spaces{unidata.RustSpace()} }

func (t spaces) Split(dst []Piece, p Piece) []Piece {
	for at := 0; at < len(p.Text); {
		start, end, next := t.word(p.Text, at)
		dst = add(dst, p, start, end)
		at = next
	}
	return dst
}

// word is where the first word of s from at on begins and ends, and where to go on.
func (t spaces) word(s string, at int) (start, end, next int) {
	for start = at; start < len(s); start += next {
		var is bool
		if is, next = t.space(s[start:]); !is {
			break
		}
	}
	for end = start; end < len(s); end += next {
		var is bool
		if is, next = t.space(s[end:]); is {
			return start, end, end + next
		}
	}
	return start, end, end
}

// space reports whether the first character of s is white space, and its size.
func (t spaces) space(s string) (bool, int) {
	if c := s[0]; c < utf8.RuneSelf {
		return c == ' ' || '\t' <= c && c <= '\r', 1
	}
	r, size := utf8.DecodeRuneInString(s)
	return t.set.Has(r), size
}

// signed is WhitespaceSplit and then Metaspace, which together put a sign before every
// word: as T5 and XLM-R are split. It makes one text of all words, not one of each.
type signed struct {
	spaces spaces
	signs  metaspace
}

func (t signed) Split(dst []Piece, p Piece) []Piece {
	if strings.Contains(p.Text, t.signs.Sign) {
		return sequence{t.spaces, t.signs}.Split(dst, p)
	}
	b := make([]byte, 0, len(p.Text)+len(p.Text)/2+len(t.signs.Sign))
	first := len(dst)
	for at := 0; at < len(p.Text); {
		start, end, next := t.spaces.word(p.Text, at)
		if start < end {
			b = append(append(b, t.signs.Sign...), p.Text[start:end]...)
			dst = append(dst, Piece{Text: p.Text[start:end], First: p.First && start == 0})
		}
		at = next
	}
	whole := string(b)
	for i := first; i < len(dst); i++ {
		n := len(t.signs.Sign) + len(dst[i].Text)
		dst[i].Text, whole = whole[:n], whole[n:]
	}
	return dst
}
