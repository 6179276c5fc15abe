package token

import (
	"slices"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/normalizer"
)

// Cutter cuts many texts out of one long one, such as prompts out of a book. The long text is
// encoded once; of what is cut out only the tokens at the ends are encoded again. It gives what
// Engine.Cut gives, safely concurrent.
type Cutter struct {
	e      *Pipeline
	text   string
	pieces []uint32 // where each piece of the text begins, and the end of the text
	tokens []uint32 // how many tokens stand before it
}

// widest is how long the pieces of a text may be for a ruler to be of use.
const widest = 1024

// NewRuler makes a ruler for a text. It is nil where the tokenizer is not one whose
// pieces stand for themselves, so that there is nothing to look up.
func (e *Pipeline) NewRuler(text string) *Cutter {
	sc := e.parts.Scanner
	if e.fast == nil || !e.fast.Raw() || sc == nil || e.parts.PreTokenizer != nil || e.parts.PrefixSpace ||
		len(text) > 1<<31 || !utf8.ValidString(text) || !e.keeps(text) {
		return nil
	}
	r := &Cutter{e: e, text: text}
	p := e.begin()
	defer e.finish(p)
	n := 0
	for at := 0; at < len(text); {
		r.pieces, r.tokens = append(r.pieces, uint32(at)), append(r.tokens, uint32(n))
		size := sc.Next(text[at:])
		if size > widest {
			return nil
		}
		p.own = p.worker.Encode(p.own[:0], text[at:at+size])
		n += len(p.own)
		at += size
	}
	r.pieces, r.tokens = append(r.pieces, uint32(len(text))), append(r.tokens, uint32(n))
	return r
}

// CutsOf is the Cut of a ruler for a text; nil where there is none.
func (e *Pipeline) CutsOf(text string) func(part string, head, from, n int) (int, bool) {
	r := e.NewRuler(text)
	if r == nil {
		return nil
	}
	return r.Cut
}

// keeps reports whether no part of a text is changed before the split or an added token.
func (e *Pipeline) keeps(text string) bool {
	if n := e.parts.Normalizer; n != nil && (!normalizer.IsForm(n) || n.Normalize(text) != text) {
		return false
	}
	for _, f := range []*finder{e.raw, e.normal} {
		if f == nil {
			continue
		}
		if _, _, pattern := f.find(text, 0); pattern >= 0 {
			return false
		}
	}
	return true
}

// Cut is Engine.Cut(text, n), where text[head:] is a copy of the ruler's text from an
// offset on.
func (r *Cutter) Cut(text string, head, from, n int) (int, bool) {
	if end, ok := r.cut(text, head, from, n); ok {
		return end, true
	}
	return r.e.Cut(text, n)
}

// cut returns the end of the n-th token of text; false: that is not n tokens, or text is not known.
func (r *Cutter) cut(text string, head, from, n int) (int, bool) {
	if n <= 0 || from >= len(r.text) || !utf8.RuneStart(r.text[from]) || head > 0 && !r.plain(text, head) {
		return 0, false
	}
	p := r.e.begin()
	defer r.e.finish(p)
	w := walk{r: r, p: p, head: head, from: from}
	for !w.met() {
		if w.at >= len(text) || w.at > head+widest || w.have >= n {
			return 0, false
		}
		w.step(text)
	}
	end, ok := r.end(w, n)
	if !ok || end > len(text) || end < len(text) && !utf8.RuneStart(text[end]) {
		return 0, false
	}
	// A piece may have become another one where the text ends now.
	for w = r.resume(w, text, end); w.at < end; {
		w.step(text[:end])
	}
	return end, w.have == n
}

// resume is a walk through the text up to an end, as far along as the end cannot have changed a
// piece, given one that has met a piece of the ruler. No rule for splitting looks past a word of
// letters and the space behind it, so where a piece ends there all are as they were.
func (r *Cutter) resume(met walk, text string, end int) walk {
	first := r.pieces[met.piece]
	j, _ := slices.BinarySearch(r.pieces[met.piece:], first+uint32(max(end-met.at, 0)))
	for j += met.piece; j > met.piece; j-- {
		if j == len(r.pieces) {
			continue
		}
		if at := met.at + int(r.pieces[j]-first); at < end && text[at] == ' ' && asciiLetter(text[at-1]) {
			return walk{r: r, p: met.p, head: met.head, from: met.from, at: at, have: met.have + int(r.tokens[j]-r.tokens[met.piece]), piece: j}
		}
	}
	return walk{r: r, p: met.p, head: met.head, from: met.from}
}

func asciiLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// plain reports whether a text's head is as a ruler's text is, and no added token begins in it.
func (r *Cutter) plain(text string, head int) bool {
	return utf8.ValidString(text[:head]) && r.e.keeps(text[:min(head+widest, len(text))])
}

// end is where a text's n-th token ends, given a walk that has met a piece of the ruler.
func (r *Cutter) end(w walk, n int) (int, bool) {
	i := w.piece
	want := n - w.have + int(r.tokens[i]) // tokens of the ruler's text up to there
	j, whole := slices.BinarySearch(r.tokens, uint32(want))
	if want < int(r.tokens[i]) || j >= len(r.tokens) {
		return 0, false
	}
	if !whole {
		j-- // it ends within this piece
	}
	end := w.at + int(r.pieces[j]) - int(r.pieces[i])
	if whole {
		return end, true
	}
	w.p.own = w.p.worker.Encode(w.p.own[:0], r.text[r.pieces[j]:r.pieces[j+1]])
	for _, id := range w.p.own[:want-int(r.tokens[j])] {
		end += r.e.width(id)
	}
	return end, true
}

// walk counts a text's tokens piece by piece. From head on it is the ruler's at from.
type walk struct {
	r          *Cutter
	p          *pass
	head, from int

	at    int // in the text
	have  int // tokens before
	piece int // of the ruler, the first that does not begin before this place
}

// met reports whether a piece of the ruler begins here.
func (w *walk) met() bool {
	off := w.from + w.at - w.head
	if off < w.from {
		return false
	}
	if pieces := w.r.pieces; w.piece < len(pieces) && int(pieces[w.piece]) < off {
		if w.piece++; w.piece < len(pieces) && int(pieces[w.piece]) < off {
			w.piece, _ = slices.BinarySearch(pieces, uint32(off))
		}
	}
	return w.piece < len(w.r.pieces) && int(w.r.pieces[w.piece]) == off
}

// step passes a piece. It is encoded where it is none of the ruler's.
func (w *walk) step(text string) {
	size := w.r.e.parts.Scanner.Next(text[w.at:])
	known := w.met()
	if i := w.piece; known && i+1 < len(w.r.pieces) && int(w.r.pieces[i+1]-w.r.pieces[i]) == size {
		w.have += int(w.r.tokens[i+1] - w.r.tokens[i])
	} else {
		w.p.own = w.p.worker.Encode(w.p.own[:0], text[w.at:w.at+size])
		w.have += len(w.p.own)
	}
	w.at += size
}
