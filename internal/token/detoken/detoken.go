// Package detoken turns the texts of tokens back into text, as the decoders of a
// tokenizer.json say.
package detoken

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/component"
	"github.com/inferometer/inferometer/internal/token/normal"
)

// Decoder turns the texts of tokens into pieces of text, which are joined. It is safe
// for use from many goroutines.
type Decoder interface {
	// Decode returns the pieces. It may change tokens, and return them. It panics with a
	// *regex.LimitError where a regular expression goes beyond its bound of steps.
	Decode(tokens []string) []string
}

// FromJSON makes the decoder that a tokenizer.json describes. It is nil where the
// description is null.
func FromJSON(raw []byte) (Decoder, error) {
	return component.Read("a decoder", raw, build)
}

// build makes a decoder of a type.
func build(kind string, raw []byte) (Decoder, error) {
	switch kind {
	case "ByteLevel":
		return byteLevel{}, nil
	case "ByteFallback":
		return byteFallback{}, nil
	case "Fuse":
		return fuse{}, nil
	case "WordPiece":
		return wordPieceFromJSON(raw)
	case "Metaspace":
		return metaspaceFromJSON(raw)
	case "BPEDecoder":
		return bpeFromJSON(raw)
	case "Strip":
		return stripFromJSON(raw)
	case "Replace":
		return replaceFromJSON(raw)
	case "CTC":
		return ctcFromJSON(raw)
	case "Sequence":
		return sequenceFromJSON(raw)
	}
	return nil, errors.New("this type is not known")
}

// sequence is decoders one after the other.
type sequence []Decoder

func sequenceFromJSON(raw []byte) (Decoder, error) {
	list, err := component.List(raw, "decoders", FromJSON)
	return sequence(list), err
}

// Decode runs them all.
func (q sequence) Decode(tokens []string) []string {
	for _, t := range q {
		tokens = t.Decode(tokens)
	}
	return tokens
}

// fuse joins all tokens.
type fuse struct{}

// Decode joins them.
func (fuse) Decode(tokens []string) []string { return []string{strings.Join(tokens, "")} }

// byteLevel reads the characters of the byte-level alphabet as bytes.
type byteLevel struct{}

// Decode joins the bytes. A token with other characters stays as it is.
func (byteLevel) Decode(tokens []string) []string {
	var b []byte
	for _, t := range tokens {
		from := len(b)
		for _, r := range t {
			c, ok := runeByte(r)
			if !ok {
				b = append(b[:from], t...)
				break
			}
			b = append(b, c)
		}
	}
	return []string{Valid(b)}
}

// runeByte is the byte that a character of the byte-level alphabet stands for.
func runeByte(r rune) (byte, bool) {
	switch {
	case '!' <= r && r <= '~', 0xa1 <= r && r <= 0xff && r != 0xad:
		return byte(r), true
	case 0x100 <= r && r <= 0x120:
		return byte(r - 0x100), true
	case 0x121 <= r && r <= 0x142:
		return byte(r - 0x121 + 0x7f), true
	case r == 0x143:
		return 0xad, true
	}
	return 0, false
}

// Valid is b as text, with U+FFFD in place of what is not valid UTF-8: one for each
// beginning of a character that breaks off, and one for each byte that begins none.
func Valid(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	out := make([]byte, 0, len(b)+8)
	for len(b) > 0 {
		if r, size := utf8.DecodeRune(b); r != utf8.RuneError || size > 1 {
			out = append(out, b[:size]...)
			b = b[size:]
			continue
		}
		out = append(out, "\uFFFD"...)
		b = b[brokenOff(b):]
	}
	return string(out)
}

// brokenOff is how many bytes at the beginning of b, which is not valid, could begin
// a character; at least 1.
func brokenOff(b []byte) int {
	lo, hi, n := byte(0x80), byte(0xbf), 0
	switch c := b[0]; {
	case 0xc2 <= c && c <= 0xdf:
		n = 1
	case c == 0xe0:
		lo, n = 0xa0, 2
	case 0xe1 <= c && c <= 0xec, c == 0xee, c == 0xef:
		n = 2
	case c == 0xed:
		hi, n = 0x9f, 2
	case c == 0xf0:
		lo, n = 0x90, 3
	case 0xf1 <= c && c <= 0xf3:
		n = 3
	case c == 0xf4:
		hi, n = 0x8f, 3
	}
	i := 1
	for ; i <= n && i < len(b) && lo <= b[i] && b[i] <= hi; i++ {
		lo, hi = 0x80, 0xbf
	}
	return i
}

// byteFallback makes text of tokens such as <0x61>.
type byteFallback struct{}

// Decode joins runs of bytes. A run that is not valid UTF-8 becomes one U+FFFD for
// each of its bytes.
func (byteFallback) Decode(tokens []string) []string {
	out := make([]string, 0, len(tokens))
	var run []byte
	flush := func() {
		if len(run) == 0 {
			return
		}
		if utf8.Valid(run) {
			out = append(out, string(run))
		} else {
			for range run {
				out = append(out, "\uFFFD")
			}
		}
		run = run[:0]
	}
	for _, t := range tokens {
		if c, ok := byteToken(t); ok {
			run = append(run, c)
			continue
		}
		flush()
		out = append(out, t)
	}
	flush()
	return out
}

// byteToken is the byte that a token such as <0x61> stands for. A sign before a
// single digit counts as it does in the reference.
func byteToken(t string) (byte, bool) {
	if len(t) != 6 || t[:3] != "<0x" || t[5] != '>' {
		return 0, false
	}
	hi, ok := digit(t[3])
	if t[3] == '+' {
		hi, ok = 0, true
	}
	lo, ok2 := digit(t[4])
	return hi<<4 | lo, ok && ok2
}

// digit reads a hexadecimal digit.
func digit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// replace replaces a text or the matches of a regular expression in each token.
type replace struct{ normal.Normalizer }

func replaceFromJSON(raw []byte) (Decoder, error) {
	n, err := normal.Replace(raw)
	return replace{n}, err
}

// Decode replaces in each token.
func (t replace) Decode(tokens []string) []string {
	for i, s := range tokens {
		tokens[i] = t.Normalize(s)
	}
	return tokens
}
