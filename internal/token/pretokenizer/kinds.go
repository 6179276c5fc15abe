package pretokenizer

import (
	"errors"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/component"
	"github.com/inferometer/inferometer/internal/token/regex"
	"github.com/inferometer/inferometer/internal/token/scan"
	"github.com/inferometer/inferometer/internal/token/unidata"
)

// runeLen is how many bytes the first character of s has, which is r.
func runeLen(s string, r rune) int {
	if r == utf8.RuneError {
		_, size := utf8.DecodeRuneInString(s)
		return size
	}
	return utf8.RuneLen(r)
}

// byteLevel splits into words and writes their bytes as characters.
type byteLevel struct {
	prefix bool
	words  *split // nil means no splitting
}

func byteLevelFromJSON(raw []byte) (PreTokenizer, error) {
	var d struct {
		Prefix bool  `json:"add_prefix_space"`
		Regex  *bool `json:"use_regex"`
	}
	if err := component.Fields(raw, &d, "add_prefix_space"); err != nil {
		return nil, err
	}
	t := byteLevel{prefix: d.Prefix}
	if d.Regex == nil || *d.Regex {
		re, err := regex.Compile(scan.GPT2)
		if err != nil {
			return nil, err
		}
		t.words = &split{finder: finder{re: re}, behavior: isolated}
	}
	return t, nil
}

func (t byteLevel) Split(dst []Piece, p Piece) []Piece {
	if p.Text == "" {
		return dst
	}
	if t.prefix && p.Text[0] != ' ' {
		p.Text = " " + p.Text
	}
	from := len(dst)
	if t.words != nil {
		dst = t.words.Split(dst, p)
	} else {
		dst = append(dst, p)
	}
	for i := from; i < len(dst); i++ {
		dst[i].Text = byteText(dst[i].Text)
	}
	return dst
}

// byteText writes every byte as a character that can be seen.
func byteText(s string) string {
	i := 0
	for i < len(s) && '!' <= s[i] && s[i] <= '~' {
		i++
	}
	if i == len(s) {
		return s
	}
	b := make([]byte, i, len(s)+4)
	copy(b, s)
	for ; i < len(s); i++ {
		b = utf8.AppendRune(b, unidata.ByteRune(s[i]))
	}
	return string(b)
}

// metaspace writes spaces as a character that can be seen, and splits before it.
type metaspace struct{ component.Metaspace }

func metaspaceFromJSON(raw []byte) (PreTokenizer, error) {
	m, err := component.ReadMetaspace(raw)
	return metaspace{m}, err
}

func (t metaspace) Split(dst []Piece, p Piece) []Piece {
	if p.Text == "" {
		return dst
	}
	s := strings.ReplaceAll(p.Text, " ", t.Sign)
	if !strings.HasPrefix(s, t.Sign) && (t.Scheme == "always" || t.Scheme == "first" && p.First) {
		s = t.Sign + s
	}
	p.Text = s
	if !t.Metaspace.Split {
		return append(dst, p)
	}
	start := 0
	for i := 0; i < len(s); {
		n := strings.Index(s[i:], t.Sign)
		if n < 0 {
			break
		}
		dst = add(dst, p, start, i+n)
		start = i + n
		i = start + len(t.Sign)
	}
	return add(dst, p, start, len(s))
}

// single splits at characters of a set.
type single struct {
	set      *unidata.Set
	behavior behavior
}

// Split splits at them.
func (t single) Split(dst []Piece, p Piece) []Piece {
	return cut(dst, p, where(nil, p.Text, t.set.Has), t.behavior)
}

func digitsFromJSON(raw []byte) (PreTokenizer, error) {
	var d struct {
		Individual bool `json:"individual_digits"`
	}
	err := component.Fields(raw, &d, "individual_digits")
	if d.Individual {
		return single{unidata.RustNumeric(), isolated}, err
	}
	return single{unidata.RustNumeric(), contiguous}, err
}

func punctuationFromJSON(raw []byte) (PreTokenizer, error) {
	d := struct {
		Behavior behavior `json:"behavior"`
	}{isolated}
	err := component.Fields(raw, &d)
	return single{unidata.Punctuation(), d.Behavior}, err
}

// words splits into runs of letters and runs of other signs.
type words struct{ word, space *unidata.Set }

func newWords() PreTokenizer { return words{unidata.RegexWord(), unidata.RegexSpace()} }

func (t words) Split(dst []Piece, p Piece) []Piece {
	const none, word, sign = 0, 1, 2
	start, run := 0, none
	for i, r := range p.Text {
		now := sign
		if t.word.Has(r) {
			now = word
		} else if t.space.Has(r) {
			now = none
		}
		if now == run {
			continue
		}
		if run != none {
			dst = add(dst, p, start, i)
		}
		start, run = i, now
	}
	if run != none {
		dst = add(dst, p, start, len(p.Text))
	}
	return dst
}

// bert splits at white space and sets punctuation apart.
type bert struct{ space, punctuation *unidata.Set }

func newBert() PreTokenizer { return bert{unidata.RustSpace(), unidata.Punctuation()} }

func (t bert) Split(dst []Piece, p Piece) []Piece {
	start := 0
	for i, r := range p.Text {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			continue
		}
		space := t.space.Has(r)
		if !space && !t.punctuation.Has(r) {
			continue
		}
		dst = add(dst, p, start, i)
		start = i + runeLen(p.Text[i:], r)
		if !space {
			dst = add(dst, p, i, start)
		}
	}
	return add(dst, p, start, len(p.Text))
}

// delimiter splits at one character.
type delimiter string

func delimiterFromJSON(raw []byte) (PreTokenizer, error) {
	var d struct {
		Delimiter string `json:"delimiter"`
	}
	err := component.Fields(raw, &d, "delimiter")
	if err == nil && utf8.RuneCountInString(d.Delimiter) != 1 {
		err = errors.New("its delimiter has to be one character")
	}
	return delimiter(d.Delimiter), err
}

func (t delimiter) Split(dst []Piece, p Piece) []Piece {
	start := 0
	for {
		n := strings.Index(p.Text[start:], string(t))
		if n < 0 {
			return add(dst, p, start, len(p.Text))
		}
		dst = add(dst, p, start, start+n)
		start += n + len(t)
	}
}

// fixed splits after every so many characters.
type fixed int

func fixedFromJSON(raw []byte) (PreTokenizer, error) {
	d := struct {
		Length int `json:"length"`
	}{5}
	err := component.Fields(raw, &d)
	if err == nil && d.Length <= 0 {
		err = errors.New("its length has to be above 0")
	}
	return fixed(d.Length), err
}

func (t fixed) Split(dst []Piece, p Piece) []Piece {
	start, n := 0, 0
	for i := range p.Text {
		if n == int(t) {
			dst = add(dst, p, start, i)
			start, n = i, 0
		}
		n++
	}
	return add(dst, p, start, len(p.Text))
}

// scripts splits where the script changes.
type scripts struct{ pages [][]uint8 }

// anyScript is the script of characters that stick to what is before them.
const anyScript = 255

var newScripts = sync.OnceValue(func() PreTokenizer {
	t := scripts{make([][]uint8, 0x110000>>8)}
	for i, s := range unidata.Scripts() {
		id := uint8(i)
		if s.Any {
			id = anyScript
		}
		for _, g := range s.Ranges {
			for r := g.Lo; r <= g.Hi; r++ {
				if t.pages[r>>8] == nil {
					t.pages[r>>8] = make([]uint8, 256)
				}
				t.pages[r>>8][r&255] = id
			}
		}
	}
	return t
})

// Split splits p. Characters of no script at its beginning are lost, as in the reference.
func (t scripts) Split(dst []Piece, p Piece) []Piece {
	start, last := -1, -1
	for i, r := range p.Text {
		id := uint8(anyScript)
		if page := t.pages[r>>8]; page != nil {
			id = page[r&255]
		}
		if id == anyScript || int(id) == last {
			continue
		}
		if start >= 0 {
			dst = add(dst, p, start, i)
		}
		start, last = i, int(id)
	}
	if start < 0 {
		return dst
	}
	return add(dst, p, start, len(p.Text))
}
