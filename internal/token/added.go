package token

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/unidata"
)

// finder finds added tokens in a text: of those that begin first the longest.
type finder struct {
	nodes  []node
	first  [256]bool // bytes that a token begins with
	only   int       // the byte that all tokens begin with; -1: there are several
	tokens []Added   // by pattern
}

// node is a state of a trie. Its edges are sorted by byte.
type node struct {
	bytes   []byte
	next    []int32
	pattern int32 // that ends here; -1: none
}

// newFinder makes a finder of tokens. It is nil where there are none.
func newFinder(tokens []Added) *finder {
	f := &finder{nodes: []node{{pattern: -1}}, only: -1}
	for _, a := range tokens {
		at := int32(0)
		for i := range len(a.Content) {
			at = f.step(at, a.Content[i])
		}
		if at > 0 && f.nodes[at].pattern < 0 { // of equal patterns the first counts, and an empty one does not
			f.nodes[at].pattern = int32(len(f.tokens))
			f.tokens = append(f.tokens, a)
		}
	}
	if len(f.tokens) == 0 {
		return nil
	}
	for _, c := range f.nodes[0].bytes {
		f.first[c] = true
	}
	if len(f.nodes[0].bytes) == 1 {
		f.only = int(f.nodes[0].bytes[0])
	}
	return f
}

// step follows an edge, making it where there is none.
func (f *finder) step(at int32, c byte) int32 {
	n := &f.nodes[at]
	i, ok := slices.BinarySearch(n.bytes, c)
	if ok {
		return n.next[i]
	}
	to := int32(len(f.nodes))
	n.bytes = slices.Insert(n.bytes, i, c)
	n.next = slices.Insert(n.next, i, to)
	f.nodes = append(f.nodes, node{pattern: -1})
	return to
}

// find returns the bounds and the pattern of the next match in s[i:]; pattern -1: there is none.
func (f *finder) find(s string, i int) (start, stop int, pattern int32) {
	for ; i < len(s); i++ {
		if f.only >= 0 {
			at := strings.IndexByte(s[i:], byte(f.only))
			if at < 0 {
				break
			}
			i += at
		} else if !f.first[s[i]] {
			continue
		}
		if stop, pattern = f.longest(s, i); pattern >= 0 {
			return i, stop, pattern
		}
	}
	return 0, 0, -1
}

// longest is the longest pattern that begins at s[i:] and where it ends.
func (f *finder) longest(s string, i int) (stop int, pattern int32) {
	at := int32(0)
	pattern = -1
	for ; i < len(s); i++ {
		n := &f.nodes[at]
		j, ok := slices.BinarySearch(n.bytes, s[i])
		if !ok {
			break
		}
		at = n.next[j]
		if p := f.nodes[at].pattern; p >= 0 {
			stop, pattern = i+1, p
		}
	}
	return stop, pattern
}

// each calls text for the stretches of s between added tokens and token for these, in order.
func (f *finder) each(s string, text func(from, to int), token func(id int32, to int)) {
	done := 0 // of s
	for i := 0; ; {
		start, stop, p := f.find(s, i)
		if p < 0 {
			break
		}
		i = stop
		a := &f.tokens[p]
		if a.SingleWord && (endsInWord(s[:start]) || beginsWithWord(s[stop:])) {
			continue
		}
		if a.LStrip {
			start = max(done, len(strings.TrimRightFunc(s[:start], unidata.RegexSpace().Has)))
		}
		if a.RStrip {
			stop = len(s) - len(strings.TrimLeftFunc(s[stop:], unidata.RegexSpace().Has))
		}
		if done < start {
			text(done, start)
		}
		token(a.ID, stop)
		done = stop
	}
	if done < len(s) {
		text(done, len(s))
	}
}

func endsInWord(s string) bool {
	r, size := utf8.DecodeLastRuneInString(s)
	return size > 0 && unidata.RegexWord().Has(r)
}

func beginsWithWord(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return size > 0 && unidata.RegexWord().Has(r)
}

// numbered is the added tokens with the ids they have in effect: that of the model
// where it has the token, else one after all others, as the reference counts them.
// Of several with the same content the last counts. Special tokens come first.
func numbered(added []Added, m Model, size int) []Added {
	ids := map[string]int32{}
	final := map[string]int{}
	last := int32(-1)
	for i, a := range added {
		final[a.Content] = i
		if a.Content == "" {
			continue
		}
		id, known := ids[a.Content]
		if !known {
			if id, known = m.ID(a.Content); !known {
				id = int32(size)
				if last >= id || (size == 0 && last >= 0) {
					id = last + 1
				}
			}
		}
		ids[a.Content] = id
		last = max(last, id)
	}
	var list []Added
	for _, special := range []bool{true, false} {
		for i, a := range added {
			if a.Content == "" || a.Special != special || final[a.Content] != i {
				continue
			}
			a.ID = ids[a.Content]
			list = append(list, a)
		}
	}
	return list
}
