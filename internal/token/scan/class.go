package scan

import (
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/unidata"
)

type set uint16

// The classes of characters. Every character has exactly one.
const (
	other   set = 1 << iota
	upper       // Lu, Lt
	lower       // Ll
	letter      // Lm, Lo
	mark        // M
	number      // N
	punct       // P
	symbol      // S
	space       // white space but for line ends
	newline     // carriage return and line feed
	han         // Chinese and Japanese as DeepSeek splits them; only in the table for it
	end         // of the text

	letters = upper | lower | letter
	blank   = space | newline
	all     = end - 1
)

const (
	pageBits = 7
	pageMask = 1<<pageBits - 1
)

// table finds the class of a character. Pages that hold one class only are shared.
type table struct {
	ascii [utf8.RuneSelf]set
	pages [(utf8.MaxRune + 1) >> pageBits]*page
	whole map[set]*page // the shared pages
}

type page [1 << pageBits]set

// plain are the classes as the reference's regular expressions have them. isolated has
// han set apart. digital has the numbers of the Digits pre-tokenizer, which knows a
// newer Unicode.
var (
	plain    = sync.OnceValue(newTable)
	isolated = sync.OnceValue(func() *table {
		t := newTable()
		t.fill([]unidata.Range{{Lo: 0x3040, Hi: 0x30ff}, {Lo: 0x4e00, Hi: 0x9fa5}}, han)
		return t
	})
	digital = sync.OnceValue(func() *table {
		t := newTable()
		numeric := unidata.RustNumeric()
		for r := rune(0); r <= utf8.MaxRune; r++ {
			if numeric.Has(r) {
				t.fill([]unidata.Range{{Lo: r, Hi: r}}, number)
			}
		}
		return t
	})
)

func newTable() *table {
	t := &table{whole: map[set]*page{}}
	t.fill([]unidata.Range{{Lo: 0, Hi: utf8.MaxRune}}, other)
	for name, class := range map[string]set{"Lu": upper, "Lt": upper, "Ll": lower, "Lm": letter, "Lo": letter, "M": mark, "N": number, "P": punct, "S": symbol} {
		ranges, ok := unidata.Property(name)
		if !ok {
			panic(fmt.Sprintf("the character tables lack the property %s", name))
		}
		t.fill(ranges, class)
	}
	t.fill(unidata.Onig("space"), space)
	t.fill([]unidata.Range{{Lo: '\n', Hi: '\n'}, {Lo: '\r', Hi: '\r'}}, newline)
	return t
}

func (t *table) fill(ranges []unidata.Range, class set) {
	one := t.whole[class]
	if one == nil {
		one = new(page)
		for i := range one {
			one[i] = class
		}
		t.whole[class] = one
	}
	for _, r := range ranges {
		for c := r.Lo; c <= r.Hi; {
			n := c >> pageBits
			end := min(r.Hi, n<<pageBits|pageMask)
			if end-c == pageMask {
				t.pages[n] = one
			} else {
				if own := t.pages[n]; own == t.whole[own[0]] {
					copied := *own
					t.pages[n] = &copied
				}
				for i := c; i <= end; i++ {
					t.pages[n][i&pageMask] = class
				}
			}
			c = end + 1
		}
	}
	for c := range t.ascii {
		t.ascii[c] = t.pages[c>>pageBits][c&pageMask]
	}
}

// class is the class and the size of the character at s[i:]; end where s, valid UTF-8, ends.
func (t *table) class(s string, i int) (set, int) {
	if i >= len(s) {
		return end, 0
	}
	if c := s[i]; c < utf8.RuneSelf {
		return t.ascii[c], 1
	}
	return t.wide(s[i:])
}

// wide is at for a character beyond ASCII.
func (t *table) wide(s string) (set, int) {
	r, size := utf8.DecodeRuneInString(s)
	return t.pages[r>>pageBits][r&pageMask], size
}

// run is where the characters of some classes that begin at s[i:] end.
func (t *table) run(s string, i int, in set) int {
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if t.ascii[c]&in == 0 {
				return i
			}
			i++
			continue
		}
		class, size := t.wide(s[i:])
		if class&in == 0 {
			return i
		}
		i += size
	}
	return i
}
