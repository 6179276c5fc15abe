package normalizer

import (
	"maps"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/unidata"
)

// form is one of the four normal forms of Unicode, in the version that the reference
// knows, and without the bound on combining marks that stream-safe text has.
type form struct {
	*formTables
	compose, compat bool
	unsafe          *unidata.Set // characters that are not sure to stay as they are
}

// formTables is what the four share.
type formTables struct {
	unidata.Forms
	marks *unidata.Set // characters with a combining class
}

var tablesOnce = sync.OnceValue(func() *formTables {
	t := &formTables{Forms: unidata.NormalForms()}
	t.marks = marksOf(t.Class)
	return t
})

func marksOf(class map[rune]uint8) *unidata.Set {
	var marks []unidata.Range
	for r := range class {
		marks = append(marks, unidata.Range{Lo: r, Hi: r})
	}
	return unidata.NewSet(marks)
}

// Hangul syllables are composed by rule.
const (
	hangulBase, hangulLast = 0xac00, 0xd7a3
	leadBase, leadCount    = 0x1100, 19
	vowelBase, vowelCount  = 0x1161, 21
	tailBase, tailCount    = 0x11a7, 28
)

// The four forms, each made when it is first asked for, since their tables are large.
var (
	nfc  = lazyForm(true, false)
	nfd  = lazyForm(false, false)
	nfkc = lazyForm(true, true)
	nfkd = lazyForm(false, true)
)

// lazyForm is a normal form: composed or not, of compatibility or not.
func lazyForm(compose, compat bool) func() Normalizer {
	return sync.OnceValue(func() Normalizer { return formOf(tablesOnce(), compose, compat) })
}

// formOf works out which characters are not sure to stay: those that combine, those
// that change by themselves, and those that can become one with what is before them.
func formOf(t *formTables, compose, compat bool) *form {
	f := &form{formTables: t, compose: compose, compat: compat}
	var set []unidata.Range
	add := func(lo, hi rune) { set = append(set, unidata.Range{Lo: lo, Hi: hi}) }
	for r := range f.Class {
		add(r, r)
	}
	f.unsafe = unidata.NewSet(nil)
	change := func(m map[rune]string) {
		for r := range m {
			if !compose || string(f.segment(nil, string(r))) != string(r) {
				add(r, r)
			}
		}
	}
	change(f.Canonical)
	if compat {
		change(f.Compatibility)
	}
	if compose {
		for pair := range f.Compose {
			add(pair[1], pair[1])
		}
		add(vowelBase, vowelBase+vowelCount-1)
		add(tailBase+1, tailBase+tailCount-1)
	} else {
		add(hangulBase, hangulLast)
	}
	f.unsafe = unidata.NewSet(set)
	return f
}

// Normalize brings s into the form. What is sure to stay is copied; the rest is
// worked on from the last character that is sure to the next.
func (f *form) Normalize(s string) string {
	var b []byte
	for from := 0; ; {
		sure, i := f.stays(s, from)
		switch {
		case i == len(s) && b == nil:
			return s
		case i == len(s):
			return string(append(b, s[from:]...))
		case b == nil:
			b = make([]byte, 0, len(s)+len(s)/8)
		}
		end := f.end(s, i)
		b = f.segment(append(b, s[from:sure]...), s[sure:end])
		from = end
	}
}

// stays is where the first character from an offset on is that may change, and the last before.
func (f *form) stays(s string, from int) (sure, i int) {
	for sure, i = from, from; i < len(s); {
		if s[i] < utf8.RuneSelf {
			sure = i
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if f.unsafe.Has(r) {
			break
		}
		sure = i
		i += size
	}
	return sure, i
}

// end is where the next character that is sure to stay begins.
func (f *form) end(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !f.unsafe.Has(r) {
			break
		}
		i += size
	}
	return i
}

type sign struct {
	r     rune
	class uint8
}

// segment appends s in the form, whatever is in it.
func (f *form) segment(b []byte, s string) []byte {
	var room [32]sign
	signs := room[:0]
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			signs = append(signs, sign{-1 - rune(s[i]), 0}) // a byte that is no text stays
		} else {
			signs = f.decompose(signs, r)
		}
		i += size
	}
	order(signs)
	if f.compose {
		signs = f.recompose(signs)
	}
	for _, g := range signs {
		if g.r < 0 {
			b = append(b, byte(-1-g.r))
		} else {
			b = utf8.AppendRune(b, g.r)
		}
	}
	return b
}

func (f *form) decompose(signs []sign, r rune) []sign {
	if hangulBase <= r && r <= hangulLast {
		i := r - hangulBase
		signs = append(signs, sign{leadBase + i/(vowelCount*tailCount), 0}, sign{vowelBase + i%(vowelCount*tailCount)/tailCount, 0})
		if t := i % tailCount; t > 0 {
			signs = append(signs, sign{tailBase + t, 0})
		}
		return signs
	}
	parts, ok := "", false
	if r >= 0xa0 {
		if f.compat {
			parts, ok = f.Compatibility[r]
		}
		if !ok {
			parts, ok = f.Canonical[r]
		}
	}
	if !ok {
		return append(signs, sign{r, f.class(r)})
	}
	for _, p := range parts {
		signs = append(signs, sign{p, f.class(p)})
	}
	return signs
}

func (f *form) class(r rune) uint8 {
	if r < 0x300 || !f.marks.Has(r) {
		return 0
	}
	return f.Class[r]
}

// order sorts each run of combining marks by class.
func order(signs []sign) {
	for i := 0; i < len(signs); i++ {
		if signs[i].class == 0 {
			continue
		}
		j := i + 1
		for j < len(signs) && signs[j].class != 0 {
			j++
		}
		if j-i > 1 {
			slices.SortStableFunc(signs[i:j], func(a, b sign) int { return int(a.class) - int(b.class) })
		}
		i = j
	}
}

// recompose makes one character of two where Unicode has one, in place.
func (f *form) recompose(signs []sign) []sign {
	out := signs[:0]
	starter := -1 // in out
	last := -1    // class of the last mark behind the starter; -1: there is none
	for _, g := range signs {
		if starter >= 0 && (last < 0 || last < int(g.class)) {
			if r, ok := f.pair(out[starter].r, g.r); ok {
				out[starter].r = r
				continue
			}
		}
		out = append(out, g)
		if g.class == 0 {
			starter, last = len(out)-1, -1
		} else if starter >= 0 {
			last = int(g.class)
		}
	}
	return out
}

// pair is the character that a and b make.
func (f *form) pair(a, b rune) (rune, bool) {
	if leadBase <= a && a < leadBase+leadCount && vowelBase <= b && b < vowelBase+vowelCount {
		return hangulBase + ((a-leadBase)*vowelCount+b-vowelBase)*tailCount, true
	}
	if hangulBase <= a && a <= hangulLast && (a-hangulBase)%tailCount == 0 && tailBase < b && b < tailBase+tailCount {
		return a + b - tailBase, true
	}
	r, ok := f.Compose[[2]rune{a, b}]
	return r, ok
}

// IsForm reports whether a normalizer does nothing but bring text into a normal form of
// Unicode. Where such a one changes nothing in a text, it changes no part of it.
func IsForm(n Normalizer) bool {
	switch n := n.(type) {
	case *form:
		return true
	case sequence:
		return len(n) == 1 && IsForm(n[0])
	}
	return false
}

// Newer is NFC by the tables of Unicode 15, which Python has from 3.12 on. The reference's own
// are older: to it the marks below do not combine.
func Newer() Normalizer { return newerForm() }

var newerForm = sync.OnceValue(func() *form {
	old := tablesOnce()
	t := &formTables{Forms: old.Forms}
	t.Class, t.Compose, t.Canonical = maps.Clone(old.Class), maps.Clone(old.Compose), maps.Clone(old.Canonical)
	for class, ranges := range newerClasses {
		for _, r := range ranges {
			for c := r[0]; c <= r[1]; c++ {
				t.Class[c] = class
			}
		}
	}
	const first, second, both = 0x11935, 0x11930, 0x11938 // of the script Dives Akuru
	t.Compose[[2]rune{first, second}] = both
	t.Canonical[both] = string([]rune{first, second})
	t.marks = marksOf(t.Class)
	return formOf(t, true, false)
})

// newerClasses are combining classes that Unicode 15 has and the reference does not.
var newerClasses = map[uint8][][2]rune{
	6: {{0x16ff0, 0x16ff1}},
	7: {{0xc3c, 0xc3c}, {0x1133b, 0x1133b}, {0x1183a, 0x1183a}, {0x11943, 0x11943}, {0x11d42, 0x11d42}},
	9: {{0xd3b, 0xd3c}, {0xeba, 0xeba}, {0x1715, 0x1715}, {0xa82c, 0xa82c}, {0x11070, 0x11070}, {0x11839, 0x11839}, {0x1193d, 0x1193e},
		{0x119e0, 0x119e0}, {0x11a34, 0x11a34}, {0x11a47, 0x11a47}, {0x11a99, 0x11a99}, {0x11d44, 0x11d45}, {0x11d97, 0x11d97},
		{0x11f41, 0x11f42}},
	218: {{0x1dfa, 0x1dfa}},
	220: {{0x7fd, 0x7fd}, {0x899, 0x89b}, {0x8cf, 0x8d3}, {0x1abf, 0x1ac0}, {0x1ac3, 0x1ac4}, {0x1aca, 0x1aca}, {0x1df9, 0x1df9},
		{0x10efd, 0x10eff}, {0x10f46, 0x10f47}, {0x10f4b, 0x10f4b}, {0x10f4d, 0x10f50}, {0x10f83, 0x10f83}, {0x10f85, 0x10f85},
		{0x1e4ee, 0x1e4ee}},
	228: {{0x1df7, 0x1df8}},
	230: {{0x898, 0x898}, {0x89c, 0x89f}, {0x8ca, 0x8ce}, {0x9fe, 0x9fe}, {0x1ac1, 0x1ac2}, {0x1ac5, 0x1ac9}, {0x1acb, 0x1ace},
		{0x10d24, 0x10d27}, {0x10eab, 0x10eac}, {0x10f48, 0x10f4a}, {0x10f4c, 0x10f4c}, {0x10f82, 0x10f82}, {0x10f84, 0x10f84},
		{0x1145e, 0x1145e}, {0x1e08f, 0x1e08f}, {0x1e130, 0x1e136}, {0x1e2ae, 0x1e2ae}, {0x1e2ec, 0x1e2ef}, {0x1e4ef, 0x1e4ef}},
	232: {{0x1df6, 0x1df6}, {0x1e4ec, 0x1e4ed}},
}
