// Package normalizer changes text before it is split into tokens, as the normalizers of
// a tokenizer.json say.
package normalizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

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

// FromJSON makes the normalizer that a tokenizer.json describes. It is nil where the
// description is null.
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
