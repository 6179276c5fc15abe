package token

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Placer is a tokenizer that knows where in a text its tokens are.
type Placer interface {
	Tokenizer
	// Ends appends where each token of text ends, as offsets in bytes, in order.
	Ends(dst []int, text string) []int
}

var (
	_ Placer = (*Pipeline)(nil)
	_ Placer = Words{}
)

// Ends implements Placer. In changed text a token ends where the next unchanged text begins.
func (e *Pipeline) Ends(dst []int, text string) []int { return e.ends(dst, text, 0) }

// ends is Ends for the first tokens, more than limit of them if there are as many.
func (e *Pipeline) ends(dst []int, text string, limit int) []int {
	p := e.begin()
	p.ids, p.track, p.ends, p.limit = p.own[:0], true, dst, limit
	p.encodeText(text)
	dst, p.own = p.ends, p.ids
	e.finish(p)
	return dst
}

// Ends implements Placer.
func (Words) Ends(dst []int, text string) []int {
	in := false
	for i, r := range text {
		if space := unicode.IsSpace(r); space == in {
			if in {
				dst = append(dst, i)
			}
			in = !in
		}
	}
	if in {
		dst = append(dst, len(text))
	}
	return dst
}

// PerEvent appends how many tokens of text belong to each of the events that it came in: event i
// ends at the offset cuts[i]. A token belongs to the event of its last byte, so that counts add up
// to t.Count(text): the text is encoded as a whole. One without bytes goes with the token before
// it, what lies after the last cut with the last event.
func PerEvent(dst []int, t Placer, text string, cuts []int) []int {
	if len(cuts) == 0 {
		return dst
	}
	dst = append(dst, make([]int, len(cuts))...)
	counts := dst[len(dst)-len(cuts):]
	i := 0
	for _, end := range t.Ends(make([]int, 0, len(text)/4+8), text) {
		for i < len(cuts)-1 && (end > cuts[i] || cuts[i] == 0) {
			i++
		}
		counts[i]++
	}
	return dst
}

// width is how many bytes of its piece a token covers.
func (e *Pipeline) width(id int32) int {
	if e.fast != nil && e.fast.Raw() {
		text, _ := e.fast.Token(id)
		return len(text)
	}
	text, _ := e.parts.Model.Token(id)
	if len(text) == 6 && strings.HasPrefix(text, "<0x") && text[5] == '>' {
		return 1
	}
	return len(strings.TrimPrefix(text, "##"))
}

// align looks reach characters ahead for where two texts agree again, and takes the first
// place where they do so for some length: a single space may be any.
const (
	reach  = 12
	agreed = 4
)

// align turns offsets in one form of a text, which are in order, into offsets in
// another form, and adds base. Within what differs they become the end of it.
func align(ends []int, from, to string, base int) {
	i, j := 0, 0
	for k := 0; k < len(ends); {
		if ends[k] <= i || i >= len(from) {
			if i >= len(from) && ends[k] >= len(from) {
				j = len(to)
			}
			ends[k] = base + j
			k++
			continue
		}
		n, m := rejoin(from[i:], to[j:])
		i, j = i+n, j+m
	}
}

// rejoin is how many bytes of a and b to pass for the next characters that agree, or up to it.
func rejoin(a, b string) (int, int) {
	ra, na := utf8.DecodeRuneInString(a)
	rb, nb := utf8.DecodeRuneInString(b)
	if nb > 0 && alike(ra, rb) {
		return na, nb
	}
	var as, bs [reach + 1]int // offsets of characters
	ca, cb := offsets(as[:], a), offsets(bs[:], b)
	for _, least := range []int{agreed, 1} {
		for sum := 1; sum <= 2*reach; sum++ {
			for x := max(0, sum-reach); x <= min(sum, reach); x++ {
				if y := sum - x; x < ca && y < cb && agree(a[as[x]:], b[bs[y]:], least) {
					return as[x], bs[y]
				}
			}
		}
	}
	return na, nb
}

// agree reports whether two texts begin alike for so many characters, or to the end of
// both.
func agree(a, b string, least int) bool {
	for i := range least {
		if a == "" || b == "" {
			return i > 0 && a == b
		}
		ra, na := utf8.DecodeRuneInString(a)
		rb, nb := utf8.DecodeRuneInString(b)
		if !alike(ra, rb) {
			return false
		}
		a, b = a[na:], b[nb:]
	}
	return true
}

// offsets fills list with the offsets of s's first characters, and returns their number.
func offsets(list []int, s string) int {
	n := 0
	for i := range s {
		if n == len(list) {
			return n
		}
		list[n] = i
		n++
	}
	return n
}

// alike reports whether one character can have become the other by normalization.
func alike(a, b rune) bool {
	return a == b || a == '▁' && unicode.IsSpace(b) || unicode.ToLower(a) == unicode.ToLower(b)
}

const (
	window   = 256     // how far around the end of the n-th token Cut looks for a place
	patience = 8       // how many places that do not come back it looks at
	most     = 1 << 18 // tokens that it encodes to look at them
)

// Cut returns the length in bytes of a beginning of text that has exactly n tokens;
// false where it finds none. Of the places near the end of the n-th token it prefers
// the first where Encode(Decode(ids)) gives the same ids again, so that a server that
// is given the ids sees what one that is given the text sees. A prompt that begins
// with a shared text is cut as a whole, so its length counts what becomes of the joint.
func (e *Pipeline) Cut(text string, n int) (int, bool) {
	if n <= 0 {
		return 0, n == 0
	}
	c, _ := e.cutters.Get().(*cutter)
	if c == nil {
		c = new(cutter)
	}
	*c = cutter{e: e, text: text, n: n, exact: -1, ids: c.ids, ends: c.ends, tried: c.tried[:0]}
	end, ok := c.cut()
	if c.text = ""; cap(c.ids) <= largest {
		e.cutters.Put(c)
	}
	return end, ok
}

func (c *cutter) cut() (int, bool) {
	c.firstEnds()
	ends, n := c.ends, c.n
	if len(ends) < n {
		return 0, false
	}
	for _, k := range []int{n - 1, n, n - 2} {
		if k >= 0 && k < len(ends) && c.try(ends[k]) {
			return c.exact, true
		}
	}
	at := c.aim(ends[n-1])
	for d := 0; d < window && c.shaky < patience && len(c.tried)*n < most; d++ {
		if c.try(at-d) || c.try(at+d) {
			return c.exact, true
		}
	}
	return max(c.exact, 0), c.exact >= 0
}

// aim looks for where a beginning of the text comes to have n tokens, from a guess on.
// Where normalization changed much of the text, its tokens may end elsewhere.
func (c *cutter) aim(guess int) int {
	near := c.counted(guess)
	if near >= c.n-2 && near <= c.n+2 {
		return guess
	}
	low, high := 0, len(c.text)
	if near < c.n {
		low = guess
	} else {
		high = guess
	}
	for high-low > 1 {
		if middle := (low + high) / 2; c.counted(middle) < c.n {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// counted is how many tokens the text has up to a place, or to the character that it is in.
func (c *cutter) counted(at int) int {
	for at < len(c.text) && at > 0 && !utf8.RuneStart(c.text[at]) {
		at--
	}
	c.ids = c.e.AppendEncode(c.ids[:0], c.text[:at], false)
	return len(c.ids)
}

// firstEnds finds where the first tokens of the text end, more than n of them if there
// are as many. It reads no more of a long text than it needs.
func (c *cutter) firstEnds() {
	for size := 8*c.n + window; ; size *= 2 {
		part := c.text
		if size < len(part) {
			for !utf8.RuneStart(part[size]) {
				size--
			}
			part = part[:size]
		}
		c.ends = c.e.ends(c.ends[:0], part, c.n)
		if len(c.ends) > c.n || len(part) == len(c.text) {
			return
		}
	}
}

// cutter looks for a place to cut.
type cutter struct {
	e     *Pipeline
	text  string
	n     int
	ids   []int32
	ends  []int // of the first tokens
	tried []int
	exact int // the best place so far; -1: none
	shaky int // places with the right number of tokens that do not come back
}

// try looks at one place and reports whether it is as good as any.
func (c *cutter) try(at int) bool {
	if at <= 0 || at > len(c.text) || at < len(c.text) && !utf8.RuneStart(c.text[at]) || slices.Contains(c.tried, at) {
		return false
	}
	c.tried = append(c.tried, at)
	c.ids = c.e.AppendEncode(c.ids[:0], c.text[:at], false)
	if len(c.ids) != c.n {
		return false
	}
	same := c.e.stable(c.ids)
	stable := same == c.n
	if stable || c.exact < 0 {
		c.exact = at
	}
	if !stable {
		c.shaky++
	}
	if same < c.n-joint {
		c.shaky = patience // no other end would help
	}
	return stable
}

// joint is how many tokens at the end of a text may be others because of where it ends.
const joint = 32

// stable is how many first ids come back when their text is encoded: all where the others do.
func (e *Pipeline) stable(ids []int32) int {
	if e.faithful && !slices.ContainsFunc(ids, func(id int32) bool { _, added := e.content[id]; return added }) {
		return len(ids)
	}
	again := e.Encode(e.Decode(ids, false), false)
	for i, id := range ids {
		if i >= len(again) || again[i] != id {
			return i
		}
	}
	if len(again) > len(ids) {
		return len(ids) - 1
	}
	return len(ids)
}
