// Package decoder turns tokens' texts back into text, as a tokenizer.json's decoders say.
package decoder

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/component"
	"github.com/inferometer/inferometer/internal/token/normalizer"
	"github.com/inferometer/inferometer/internal/token/unidata"
)

// Decoder turns tokens' texts into pieces of text to join. It is safe for concurrent use.
type Decoder interface {
	// Decode returns the pieces. It may change tokens, and return them. It panics with a
	// *regex.LimitError where a regular expression goes beyond its bound of steps.
	Decode(tokens []string) []string
}

// FromJSON makes the decoder that a tokenizer.json describes; nil for null.
func FromJSON(raw []byte) (Decoder, error) {
	return component.Read("a decoder", raw, map[string]func([]byte) (Decoder, error){
		"ByteLevel":    component.Plain(func() Decoder { return byteLevel{} }),
		"ByteFallback": component.Plain(func() Decoder { return byteFallback{} }),
		"Fuse":         component.Plain(func() Decoder { return fuse{} }),
		"WordPiece":    wordPieceFromJSON,
		"Metaspace":    metaspaceFromJSON,
		"BPEDecoder":   bpeFromJSON,
		"Strip":        stripFromJSON,
		"Replace":      replaceFromJSON,
		"CTC":          ctcFromJSON,
		"Sequence":     sequenceFromJSON,
	})
}

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

type fuse struct{}

// Decode joins them.
func (fuse) Decode(tokens []string) []string { return []string{strings.Join(tokens, "")} }

// byteLevel reads the characters of the byte-level alphabet as bytes.
type byteLevel struct{}

// Decode joins the bytes. A token with other characters stays as it is.
func (byteLevel) Decode(tokens []string) []string {
	var b []byte
	for _, t := range tokens {
		var ok bool
		if b, ok = unidata.AppendRaw(b, []byte(t)); !ok {
			b = append(b, t...)
		}
	}
	return []string{Valid(b)}
}

// Valid is b as text, with U+FFFD in place of what is not valid UTF-8: one for each character that
// breaks off, and for each byte that begins none, as in most servers.
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
		n := 1
		for n < len(b) && !utf8.FullRune(b[:n+1]) { // the character may still go on
			n++
		}
		b = b[n:]
	}
	return string(out)
}

// byteFallback makes text of tokens such as <0x61>.
type byteFallback struct{}

// Decode joins runs of bytes. One that is not UTF-8 becomes U+FFFD for each of its bytes.
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

// byteToken is the byte of a token such as <0x61>. A sign before a digit counts as in the
// reference.
func byteToken(t string) (byte, bool) {
	if len(t) != 6 || t[:3] != "<0x" || t[5] != '>' {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(t[3:5], "+"), 16, 8)
	return byte(n), err == nil
}

// replace replaces a text or the matches of a regular expression in each token.
type replace struct{ normalizer.Normalizer }

func replaceFromJSON(raw []byte) (Decoder, error) {
	n, err := normalizer.Replace(raw)
	return replace{n}, err
}

// Decode replaces in each token.
func (t replace) Decode(tokens []string) []string {
	for i, s := range tokens {
		tokens[i] = t.Normalize(s)
	}
	return tokens
}
