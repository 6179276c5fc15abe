package normalizer

import (
	"sync"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/unidata"
)

// breakClass is a value of Grapheme_Cluster_Break.
type breakClass uint8

const (
	bOther breakClass = iota
	bCR
	bLF
	bControl
	bExtend
	bZWJ
	bRegional
	bPrepend
	bSpacing
	bL
	bV
	bT
	bLV
	bLVT
)

// conjunct is a value of Indic_Conjunct_Break.
type conjunct uint8

const (
	cNone conjunct = iota
	cConsonant
	cExtend
	cLinker
)

// clusters finds extended grapheme clusters.
type clusters struct {
	pages [][]uint8 // class, conjunct and pictograph of each character, in pages of 256
}

const (
	conjunctShift = 4
	pictograph    = 1 << 6
)

var newClusters = sync.OnceValue(func() *clusters {
	c := &clusters{pages: make([][]uint8, 0x110000>>8)}
	sets := unidata.Graphemes()
	set := func(name string, bits uint8) {
		for _, g := range sets[name] {
			for r := g.Lo; r <= g.Hi; r++ {
				if c.pages[r>>8] == nil {
					c.pages[r>>8] = make([]uint8, 256)
				}
				c.pages[r>>8][r&255] |= bits
			}
		}
	}
	for i, name := range []string{"", "CR", "LF", "Control", "Extend", "ZWJ", "Regional_Indicator", "Prepend", "SpacingMark", "L", "V", "T", "LV", "LVT"} {
		set(name, uint8(i))
	}
	set("InCB_Consonant", uint8(cConsonant)<<conjunctShift)
	set("InCB_Extend", uint8(cExtend)<<conjunctShift)
	set("InCB_Linker", uint8(cLinker)<<conjunctShift)
	set("ExtPict", pictograph)
	return c
})

func (c *clusters) bits(r rune) uint8 {
	if page := c.pages[r>>8]; page != nil {
		return page[r&255]
	}
	return 0
}

// state is what of the characters before decides whether a cluster ends.
type state struct {
	class    breakClass
	regional int  // how many regional indicators end here
	emoji    bool // a pictograph and extenders end here
	joined   bool // and then a joiner
	indic    bool // a consonant, and extenders or linkers end here
	linked   bool // with a linker among them
}

// next is the length of the first cluster of s, which is not empty.
func (c *clusters) next(s string) int {
	if len(s) > 1 && s[0] < utf8.RuneSelf && s[1] < utf8.RuneSelf && s[0] != '\r' {
		return 1
	}
	r, at := utf8.DecodeRuneInString(s)
	var st state
	st.add(c.bits(r))
	for at < len(s) {
		r, size := utf8.DecodeRuneInString(s[at:])
		bits := c.bits(r)
		if st.breaks(bits) {
			break
		}
		st.add(bits)
		at += size
	}
	return at
}

func (t *state) add(bits uint8) {
	class, con := breakClass(bits&15), conjunct(bits>>conjunctShift&3)
	t.class = class
	if class == bRegional {
		t.regional++
	} else {
		t.regional = 0
	}
	t.joined = t.emoji && class == bZWJ
	t.emoji = bits&pictograph != 0 || t.emoji && class == bExtend
	switch con {
	case cConsonant:
		t.indic, t.linked = true, false
	case cLinker:
		t.linked = t.indic
	case cNone:
		t.indic, t.linked = false, false
	}
}

// breaks tells whether a cluster ends before a character.
func (t *state) breaks(bits uint8) bool {
	class := breakClass(bits & 15)
	switch {
	case t.class == bCR && class == bLF:
		return false
	case t.class == bCR, t.class == bLF, t.class == bControl, class == bCR, class == bLF, class == bControl:
		return true
	case t.class == bL && (class == bL || class == bV || class == bLV || class == bLVT),
		(t.class == bLV || t.class == bV) && (class == bV || class == bT),
		(t.class == bLVT || t.class == bT) && class == bT:
		return false
	case class == bExtend, class == bZWJ, class == bSpacing, t.class == bPrepend:
		return false
	case t.linked && conjunct(bits>>conjunctShift&3) == cConsonant:
		return false
	case t.joined && bits&pictograph != 0:
		return false
	case class == bRegional && t.regional%2 == 1:
		return false
	}
	return true
}
