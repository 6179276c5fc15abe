package mock

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// vocabulary is what answers are made of. Each token is a space and one of
// these, so words, tokens and usage agree whoever counts.
var vocabulary = [...]string{
	" the", " of", " and", " to", " in", " a", " is", " that", " for", " it", " as", " was", " with", " be", " by", " on",
	" not", " he", " this", " are", " or", " his", " from", " at", " which", " but", " have", " an", " had", " they", " you", " were",
	" their", " one", " all", " we", " can", " her", " has", " there", " been", " if", " more", " when", " will", " would", " who", " so",
	" no", " she", " other", " its", " may", " these", " what", " them", " than", " some", " him", " time", " into", " only", " could", " new",
	" then", " do", " my", " two", " any", " about", " such", " now", " over", " our", " out", " man", " also", " me", " even", " most",
	" made", " after", " first", " many", " must", " well", " much", " where", " your", " down", " should", " way", " long", " people", " day", " how",
	" good", " too", " little", " state", " own", " back", " each", " men", " just", " old", " see", " work", " year", " through", " make", " life",
	" world", " still", " here", " house", " water", " hand", " light", " river", " stone", " tree", " road", " city", " north", " south", " east", " west",
}

// token returns the i-th token of the endless text that all answers are parts of.
func token(i int) string { return vocabulary[uint(i)%uint(len(vocabulary))] }

// wordCount counts white-space-separated words, which are this server's prompt
// tokens, and on demand hashes them by blocks for the prefix cache.
type wordCount struct {
	n      int
	block  int      // words in a block; 0: no hashes
	blocks []uint64 // for each full block, a hash of the text up to its end
	word   uint64
	chain  uint64
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func (w *wordCount) reset(block int) {
	*w = wordCount{block: block, blocks: w.blocks[:0], word: fnvOffset, chain: fnvOffset}
}

// add counts the words of the inside of a JSON string. A word ends where the string does.
func (w *wordCount) add(raw []byte) { w.scan(raw, true) }

// plain counts the words of a text.
func (w *wordCount) plain(text []byte) { w.scan(text, false) }

func (w *wordCount) scan(raw []byte, escaped bool) {
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

// id counts a prompt token given by number.
func (w *wordCount) id(raw []byte) {
	for _, c := range raw {
		w.word = (w.word ^ uint64(c)) * fnvPrime
	}
	w.end()
}

func (w *wordCount) end() {
	w.n++
	if w.block > 0 {
		w.chain = (w.chain^w.word)*fnvPrime ^ w.word>>29
		if w.n%w.block == 0 {
			w.blocks = append(w.blocks, w.chain)
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
