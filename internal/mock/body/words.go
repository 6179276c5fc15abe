package body

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// WordCount counts white-space-separated words, which are this server's prompt
// tokens, and on demand hashes them by blocks for the prefix cache.
type WordCount struct {
	N      int
	block  int      // words in a block; 0: no hashes
	Blocks []uint64 // for each full block, a hash of the text up to its end
	word   uint64
	chain  uint64
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func (w *WordCount) reset(block int) {
	*w = WordCount{block: block, Blocks: w.Blocks[:0], word: fnvOffset, chain: fnvOffset}
}

// add counts the words of the inside of a JSON string. A word ends where the string does.
func (w *WordCount) add(raw []byte) { w.scan(raw, true) }

// AddPlain counts the words of a text.
func (w *WordCount) AddPlain(text []byte) { w.scan(text, false) }

func (w *WordCount) scan(raw []byte, escaped bool) {
	in := false
	for i := 0; i < len(raw); {
		r, size := rune(raw[i]), 1
		switch {
		case r == '\\' && escaped:
			r, size = unescape(raw[i:])
		case r >= utf8.RuneSelf:
			r, size = utf8.DecodeRune(raw[i:])
		}
		i += size
		if r > ' ' && r < 0x7f || r != ' ' && !unicode.IsSpace(r) { // nearly all without a table
			in = true
			w.word = (w.word ^ uint64(r)) * fnvPrime
			continue
		}
		if in {
			w.end()
			in = false
		}
	}
	if in {
		w.end()
	}
}

// AddID counts a prompt token given by number.
func (w *WordCount) AddID(raw []byte) {
	for _, c := range raw {
		w.word = (w.word ^ uint64(c)) * fnvPrime
	}
	w.end()
}

func (w *WordCount) end() {
	w.N++
	if w.block > 0 {
		w.chain = (w.chain^w.word)*fnvPrime ^ w.word>>29
		if w.N%w.block == 0 {
			w.Blocks = append(w.Blocks, w.chain)
		}
	}
	w.word = fnvOffset
}

// unescape reads an escape, a valid one: the scanner has been over it. Halves of
// surrogate pairs come one by one, which makes no difference to where words end.
func unescape(raw []byte) (rune, int) {
	if raw[1] == 'u' {
		return rune(unhex(raw[2])<<12 | unhex(raw[3])<<8 | unhex(raw[4])<<4 | unhex(raw[5])), 6
	}
	if i := strings.IndexByte("bfnrt", raw[1]); i >= 0 {
		return rune("\b\f\n\r\t"[i]), 2
	}
	return rune(raw[1]), 2
}
