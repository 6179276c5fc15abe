// Package normalizer changes text before it is split, as a tokenizer.json's normalizers say.
package normalizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/component"
	"github.com/inferometer/inferometer/internal/token/regex"
	"github.com/inferometer/inferometer/internal/token/unidata"
)

// Normalizer changes text. It is safe for concurrent use.
type Normalizer interface {
	// Normalize returns what s becomes. It panics with a *regex.LimitError where a
	// regular expression goes beyond its bound of steps.
	Normalize(s string) string
}

// FromJSON makes the normalizer that a tokenizer.json describes; nil for null.
func FromJSON(raw []byte) (Normalizer, error) {
	return component.Read("a normalizer", raw, map[string]func([]byte) (Normalizer, error){
		"NFC":            component.Plain(nfc),
		"NFD":            component.Plain(nfd),
		"NFKC":           component.Plain(nfkc),
		"NFKD":           component.Plain(nfkd),
		"Lowercase":      component.Plain(func() Normalizer { return lowercase{lowerPages()} }),
		"StripAccents":   component.Plain(func() Normalizer { return stripAccents{unidata.CombiningMark()} }),
		"Nmt":            component.Plain(func() Normalizer { return nmt{} }),
		"ByteLevel":      component.Plain(func() Normalizer { return byteLevel{} }),
		"Strip":          stripFromJSON,
		"Replace":        Replace,
		"Prepend":        prependFromJSON,
		"Precompiled":    precompiledFromJSON,
		"BertNormalizer": bertFromJSON,
		"Sequence":       sequenceFromJSON,
	})
}

type sequence []Normalizer

func sequenceFromJSON(raw []byte) (Normalizer, error) {
	list, err := component.List(raw, "normalizers", FromJSON)
	if err != nil {
		return nil, err
	}
	var seq sequence
	for _, n := range list {
		if more, ok := n.(sequence); ok {
			seq = append(seq, more...)
		} else {
			seq = append(seq, n)
		}
	}
	// The reference fails where one of other kinds follows.
	for i, n := range seq {
		r, ok := n.(*replace)
		if !ok || !r.re.MatchesEmpty() {
			continue
		}
		for _, next := range seq[i+1:] {
			switch next.(type) {
			case *replace, replaceString, prepend:
			default:
				return nil, fmt.Errorf("the Replace of %q, which can match the empty string, comes before normalizers of other kinds; the result of that is undefined", r.re)
			}
		}
	}
	return seq, nil
}

// Normalize runs them all.
func (q sequence) Normalize(s string) string {
	for _, n := range q {
		s = n.Normalize(s)
	}
	return s
}

// prepend puts text before what is not empty.
type prepend string

func prependFromJSON(raw []byte) (Normalizer, error) {
	var d struct {
		Prepend string `json:"prepend"`
	}
	err := component.Fields(raw, &d, "prepend")
	return prepend(d.Prepend), err
}

func (p prepend) Normalize(s string) string {
	if s == "" {
		return s
	}
	return string(p) + s
}

type replaceString struct{ old, new string }

func (r replaceString) Normalize(s string) string { return strings.ReplaceAll(s, r.old, r.new) }

type replace struct {
	re      *regex.Regexp
	content string
}

// Replace makes a normalizer, or a decoder, that replaces a text or the matches of a pattern.
func Replace(raw []byte) (Normalizer, error) {
	var d struct {
		Pattern *struct{ String, Regex *string } `json:"pattern"`
		Content *string                          `json:"content"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	if d.Pattern == nil || d.Content == nil || (d.Pattern.String == nil) == (d.Pattern.Regex == nil) {
		return nil, errors.New("it needs content, and a pattern that is either a String or a Regex")
	}
	pattern := ""
	if s := d.Pattern.String; s != nil {
		if *s != "" {
			return replaceString{*s, *d.Content}, nil
		}
	} else {
		pattern = *d.Pattern.Regex
	}
	re, err := regex.Compile(pattern)
	if err != nil {
		return nil, err
	}
	return &replace{re, *d.Content}, nil
}

func (r *replace) Normalize(s string) string {
	if s == "" {
		return s
	}
	spans := r.re.MustFindAll(s)
	if len(spans) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, m := range spans {
		b.WriteString(s[at:m.Start])
		b.WriteString(r.content)
		at = m.End
	}
	b.WriteString(s[at:])
	return b.String()
}

// Expansion is how many times longer a normalizer can make a text, at the worst. What it
// adds once, whatever the text, does not count.
func Expansion(n Normalizer) float64 {
	switch n := n.(type) {
	case nil, lowercase, nmt, prepend:
		return 1
	case sequence:
		times := 1.0
		for _, part := range n {
			times *= Expansion(part)
		}
		return times
	case replaceString:
		return max(1, float64(len(n.new))/float64(len(n.old)))
	case *replace:
		if n.re.MatchesEmpty() {
			return float64(len(n.content)) + 1
		}
		return max(1, float64(len(n.content)))
	case interface{ longest() int }:
		return max(1, float64(n.longest()))
	}
	return 1
}

// longest is the length of the longest text that it puts in place of another.
func (p *precompiled) longest() int {
	longest := 0
	for text := range strings.SplitSeq(p.texts, "\x00") {
		longest = max(longest, len(text))
	}
	return longest
}

// Begins reports whether what s becomes begins with what its first character becomes: only then the
// pre-tokenizer Metaspace puts its sign first.
func Begins(n Normalizer, s string) bool {
	if s == "" {
		return true
	}
	r, size := utf8.DecodeRuneInString(s)
	switch n := n.(type) {
	case sequence:
		for _, each := range n {
			if !Begins(each, s) {
				return false
			}
			s = each.Normalize(s)
		}
	case strip:
		return !n.left || !n.space.Has(r)
	case stripAccents:
		return !n.marks.Has(r)
	case nmt:
		return n.Normalize(s[:size]) != ""
	case *bert:
		if n.clean && n.dropped.Has(r) {
			return false
		}
		first, _ := utf8.DecodeRuneInString(n.nfd.Normalize(s))
		return !n.accents || !n.accent.Has(first)
	case replaceString:
		return !strings.HasPrefix(s, n.old) || n.new != "" && len(n.old) == size
	case *replace:
		spans := n.re.MustFindAll(s)
		if len(spans) == 0 || spans[0].Start > 0 || spans[0].End == 0 {
			return true
		}
		return n.content != "" && spans[0].End == size
	}
	return true
}
