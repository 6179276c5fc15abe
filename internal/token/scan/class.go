package scan

import (
	_ "embed" // for the classes
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// ranges lists characters by class. It was read off the reference, whose Unicode is
// newer than that of Go.
//
//go:embed classes.txt
var ranges string

// set is a set of classes.
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

// table finds the class of a character.
type table struct {
	ascii [utf8.RuneSelf]set
	pages [(utf8.MaxRune + 1) >> pageBits]*[1 << pageBits]set
}

// plain are the classes as Unicode has them; isolated those with han set apart.
var (
	plain    = sync.OnceValue(func() *table { return newTable(false) })
	isolated = sync.OnceValue(func() *table { return newTable(true) })
)

// newTable fills a table. Pages that hold one class only are shared.
func newTable(hans bool) *table {
	t := new(table)
	names := map[string]set{"u": upper, "l": lower, "o": letter, "m": mark, "n": number, "p": punct, "s": symbol, "w": space}
	flat := make([]set, utf8.MaxRune+1)
	for i := range flat {
		flat[i] = other
	}
	for line := range strings.Lines(ranges) {
		f := strings.Fields(line)
		from, err := strconv.ParseUint(f[1], 16, 32)
		to, err2 := strconv.ParseUint(f[len(f)-1], 16, 32)
		class := names[f[0]]
		if err != nil || err2 != nil || class == 0 {
			panic(fmt.Sprintf("classes.txt: %q is no range of characters", line))
		}
		for r := from; r <= to; r++ {
			flat[r] = class
		}
	}
	flat['\r'], flat['\n'] = newline, newline
	if hans {
		for r := 0x4e00; r <= 0x9fa5; r++ {
			flat[r] = han
		}
		for r := 0x3040; r <= 0x30ff; r++ {
			flat[r] = han
		}
	}
	copy(t.ascii[:], flat)
	shared := map[set]*[1 << pageBits]set{}
	for i := range t.pages {
		page := (*[1 << pageBits]set)(flat[i<<pageBits:])
		one := page[0]
		for _, c := range page {
			if c != one {
				one = 0
				break
			}
		}
		switch {
		case one == 0:
			own := *page
			t.pages[i] = &own
		case shared[one] == nil:
			own := *page
			shared[one] = &own
			fallthrough
		default:
			t.pages[i] = shared[one]
		}
	}
	return t
}

// at is the class and the size of the character at s[i:]; end where s ends. s must
// be valid UTF-8.
func (t *table) at(s string, i int) (set, int) {
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
