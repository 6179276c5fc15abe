package sentencepiece

import (
	"encoding/binary"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/trie"
)

// space is what stands for a space in pieces.
const space = "\u2581"

// normalizer changes a text as a SentencePiece model asks for.
type normalizer struct {
	units []uint32 // of the trie of rules; nil means no rules
	texts string   // what rules give, each up to a NUL
	user  *matcher // pieces that rules leave alone, or nil

	dummyPrefix, removeExtra, suffix bool
	mark                             string // what a space becomes
}

func newNormalizer(m *model, user *matcher) (*normalizer, error) {
	n := &normalizer{user: user, dummyPrefix: m.dummyPrefix, removeExtra: m.removeExtra, suffix: m.spaceAsSuffix, mark: " "}
	if m.escapeSpaces {
		n.mark = space
	}
	if len(m.charsmap) == 0 {
		return n, nil
	}
	b := m.charsmap
	if len(b) < 4 {
		return nil, errors.New("its character map is truncated")
	}
	size := int64(binary.LittleEndian.Uint32(b))
	b = b[4:]
	if size < 4 || size%4 != 0 || size > int64(len(b)) {
		return nil, errors.New("its character map is truncated")
	}
	for i := int64(0); i < size; i += 4 {
		n.units = append(n.units, binary.LittleEndian.Uint32(b[i:]))
	}
	n.texts = string(b[size:])
	return n, nil
}

// Normalize returns what a text becomes before it is cut into pieces.
func (n *normalizer) Normalize(s string) string {
	if s == "" {
		return ""
	}
	if n.units == nil && n.user == nil && !n.removeExtra && utf8.ValidString(s) {
		return n.first() + strings.ReplaceAll(s, " ", n.mark) + n.last()
	}
	if n.removeExtra {
		for s != "" {
			to, size := n.prefix(s)
			if to != " " {
				break
			}
			s = s[size:]
		}
		if s == "" {
			return ""
		}
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/4)
	b.WriteString(n.first())
	after := n.removeExtra // the text before ends with a space
	for s != "" {
		to, size := n.prefix(s)
		s = s[size:]
		if after {
			to = strings.TrimLeft(to, " ")
		}
		if to != "" {
			b.WriteString(strings.ReplaceAll(to, " ", n.mark))
			after = n.removeExtra && to[len(to)-1] == ' '
		}
	}
	out := b.String()
	for n.removeExtra && strings.HasSuffix(out, n.mark) {
		out = out[:len(out)-len(n.mark)]
	}
	return out + n.last()
}

// first and last are the space that every text is given.
func (n *normalizer) first() string {
	if n.dummyPrefix && !n.suffix {
		return n.mark
	}
	return ""
}

func (n *normalizer) last() string {
	if n.dummyPrefix && n.suffix {
		return n.mark
	}
	return ""
}

// prefix is what a text's beginning becomes, and its length: the longest rule's, or a character's.
func (n *normalizer) prefix(s string) (string, int) {
	if n.user != nil {
		if size, _ := n.user.match(s); size > 0 {
			return s[:size], size
		}
	}
	if value, size := n.rule(s); size > 0 && int(value) < len(n.texts) {
		to := n.texts[value:]
		if i := strings.IndexByte(to, 0); i >= 0 {
			to = to[:i]
		}
		return to, size
	}
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 {
		return "\ufffd", 1
	}
	return s[:size], size
}

// maxRules is how many rules that begin alike are looked at, as in the original.
const maxRules = 32

// rule finds the longest rule that a text begins with, in a double-array trie.
func (n *normalizer) rule(s string) (value uint32, size int) {
	if n.units == nil {
		return 0, 0
	}
	at := offset(n.units[0])
	found := 0
	for i := range len(s) {
		at ^= uint32(s[i])
		if int(at) >= len(n.units) {
			return value, size
		}
		unit := n.units[at]
		if unit&(1<<31|0xff) != uint32(s[i]) {
			return value, size
		}
		at ^= offset(unit)
		if unit>>8&1 == 1 && int(at) < len(n.units) {
			value, size = n.units[at]&(1<<31-1), i+1
			if found++; found == maxRules {
				return value, size
			}
		}
	}
	return value, size
}

func offset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }

// matcher finds pieces that are to be taken as a whole.
type matcher struct{ trie *trie.Trie }

// newMatcher is nil where there are none.
func newMatcher(texts []string, ids []int32) *matcher {
	if len(texts) == 0 {
		return nil
	}
	return &matcher{trie.New(texts, ids)}
}

// match is the length of the longest piece that s begins with, and its id; 0: there is none.
func (m *matcher) match(s string) (size int, id int32) {
	node := int32(0)
	for i := range len(s) {
		var value int32
		if node, value = m.trie.Next(node, s[i]); node < 0 {
			break
		}
		if value >= 0 {
			size, id = i+1, value
		}
	}
	return size, id
}
