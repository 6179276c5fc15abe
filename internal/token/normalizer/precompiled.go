package normalizer

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// precompiled is the table of a SentencePiece model: a double-array trie of what to
// replace, and the replacements, each ended by a zero byte.
type precompiled struct {
	trie  []uint32
	texts string
	cut   *clusters
	stays [utf8.RuneSelf]bool // ASCII characters that are clusters before another one, and are not replaced
}

func precompiledFromJSON(raw []byte) (Normalizer, error) {
	var d struct {
		Charsmap *string `json:"precompiled_charsmap"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	if d.Charsmap == nil {
		return nil, errors.New("it has no precompiled_charsmap")
	}
	blob, err := base64.StdEncoding.DecodeString(*d.Charsmap)
	if err != nil {
		return nil, fmt.Errorf("decoding its precompiled_charsmap: %w", err)
	}
	return Precompiled(blob)
}

// Precompiled makes the normalizer of the charsmap that a SentencePiece model
// carries.
func Precompiled(blob []byte) (Normalizer, error) {
	if len(blob) < 4 {
		return nil, errors.New("its precompiled_charsmap is too short")
	}
	size := int64(binary.LittleEndian.Uint32(blob)) / 4
	blob = blob[4:]
	if size == 0 || size*4 > int64(len(blob)) {
		return nil, errors.New("its precompiled_charsmap is truncated or has no trie")
	}
	p := &precompiled{trie: make([]uint32, size), cut: newClusters()}
	for i := range p.trie {
		p.trie[i] = binary.LittleEndian.Uint32(blob[4*i:])
	}
	blob = blob[4*size:]
	if !utf8.Valid(blob) {
		return nil, errors.New("the replacements in its precompiled_charsmap are not valid UTF-8")
	}
	p.texts = string(blob)
	for c := range p.stays {
		_, replaced := p.lookup(string(rune(c)))
		p.stays[c] = !replaced && c != '\r'
	}
	return p, nil
}

// clusterLimit is how long a grapheme cluster has to be for its characters to be
// looked up one by one. The rule is the reference's own.
const clusterLimit = 6

// Normalize replaces. A cluster is replaced by what its shortest known beginning
// becomes.
func (p *precompiled) Normalize(s string) string {
	n := p.unchanged(s)
	if n == len(s) {
		return s
	}
	b := append(make([]byte, 0, len(s)+len(s)/8), s[:n]...)
	for s = s[n:]; len(s) > 0; {
		if n := p.unchanged(s); n > 0 {
			b = append(b, s[:n]...)
			s = s[n:]
			continue
		}
		n := p.cut.next(s)
		cluster := s[:n]
		s = s[n:]
		if n < clusterLimit {
			if to, ok := p.lookup(cluster); ok {
				b = append(b, to...)
				continue
			}
			if _, size := utf8.DecodeRuneInString(cluster); size == n {
				b = append(b, cluster...) // it was looked up already
				continue
			}
		}
		for len(cluster) > 0 {
			_, size := utf8.DecodeRuneInString(cluster)
			if to, ok := p.lookup(cluster[:size]); ok {
				b = append(b, to...)
			} else {
				b = append(b, cluster[:size]...)
			}
			cluster = cluster[size:]
		}
	}
	return string(b)
}

// unchanged is the length of a beginning of s that stays what it is.
func (p *precompiled) unchanged(s string) int {
	for i := range len(s) {
		// A mark after a character is one cluster with it.
		if c := s[i]; c >= utf8.RuneSelf || !p.stays[c] || i+1 < len(s) && s[i+1] >= utf8.RuneSelf {
			return i
		}
	}
	return len(s)
}

// lookup is what the shortest known beginning of key becomes.
func (p *precompiled) lookup(key string) (string, bool) {
	at := uint64(0)
	unit := p.trie[0]
	at ^= offset(unit)
	for i := range len(key) {
		c := key[i]
		if c == 0 {
			break
		}
		at ^= uint64(c)
		if at >= uint64(len(p.trie)) {
			return "", false
		}
		unit = p.trie[at]
		if unit&(1<<31|0xff) != uint32(c) {
			return "", false
		}
		at ^= offset(unit)
		if unit>>8&1 == 1 {
			if at >= uint64(len(p.trie)) {
				return "", false
			}
			return p.text(int(p.trie[at] & (1<<31 - 1)))
		}
	}
	return "", false
}

// offset is where the children of a unit are, to be xor-ed with its place.
func offset(unit uint32) uint64 {
	return uint64(unit>>10) << (unit & (1 << 9) >> 6)
}

// text is the replacement that begins at a place.
func (p *precompiled) text(at int) (string, bool) {
	if at > len(p.texts) || at < len(p.texts) && !utf8.RuneStart(p.texts[at]) {
		return "", false
	}
	rest := p.texts[at:]
	if n := strings.IndexByte(rest, 0); n >= 0 {
		rest = rest[:n]
	}
	return rest, true
}
