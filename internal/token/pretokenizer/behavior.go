package pretokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/inferometer/inferometer/internal/token/component"
	"github.com/inferometer/inferometer/internal/token/regex"
)

// behavior says what becomes of what text is split at.
type behavior uint8

const (
	removed behavior = iota
	isolated
	mergedWithPrevious
	mergedWithNext
	contiguous
)

// UnmarshalJSON reads the name of a behaviour.
func (b *behavior) UnmarshalJSON(raw []byte) error {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	for i, name := range []string{"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"} {
		if s == name {
			*b = behavior(i)
			return nil
		}
	}
	return fmt.Errorf("unknown behavior %q", s)
}

// span is part of a text, a match or between matches. A text's spans lie side by side.
type span struct {
	start, end int
	match      bool
}

// cut appends the pieces that spans leave under a behaviour. It changes spans.
func cut(dst []Piece, p Piece, spans []span, b behavior) []Piece {
	switch b {
	case removed:
		for _, s := range spans {
			if !s.match {
				dst = add(dst, p, s.start, s.end)
			}
		}
		return dst
	case isolated:
	case contiguous:
		spans = merge(spans, func(match, before bool) bool { return match == before })
	case mergedWithPrevious:
		spans = merge(spans, func(match, before bool) bool { return match && !before })
	case mergedWithNext:
		spans = mergeNext(spans)
	}
	for _, s := range spans {
		dst = add(dst, p, s.start, s.end)
	}
	return dst
}

// merge makes one of a span and the one before it where with says so, in place.
func merge(spans []span, with func(match, before bool) bool) []span {
	out := spans[:0]
	before := false
	for _, s := range spans {
		match := s.match
		if with(match, before) && len(out) > 0 {
			out[len(out)-1].end = s.end
		} else {
			out = append(out, s)
		}
		before = match
	}
	return out
}

// mergeNext joins a match and the span behind it, unless that is a match too, in place.
func mergeNext(spans []span) []span {
	at := len(spans)
	after := false
	for i := len(spans) - 1; i >= 0; i-- {
		s := spans[i]
		if s.match && !after && at < len(spans) {
			spans[at].start = s.start
		} else {
			at--
			spans[at] = s
		}
		after = s.match
	}
	return spans[at:]
}

// where finds the spans of single characters.
func where(spans []span, s string, is func(rune) bool) []span {
	last := 0
	for i, r := range s {
		if !is(r) {
			continue
		}
		if last < i {
			spans = append(spans, span{last, i, false})
		}
		last = i + runeLen(s[i:], r)
		spans = append(spans, span{i, last, true})
	}
	if last < len(s) {
		spans = append(spans, span{last, len(s), false})
	}
	return spans
}

type finder struct {
	text string // what to look for; "": re
	re   *regex.Regexp
}

// newFinder reads the pattern of a Split.
func newFinder(raw json.RawMessage) (finder, error) {
	var d struct{ String, Regex *string }
	if err := json.Unmarshal(raw, &d); err != nil {
		return finder{}, err
	}
	if (d.String == nil) == (d.Regex == nil) {
		return finder{}, errors.New("its pattern has to be either a String or a Regex")
	}
	pattern := ""
	if d.Regex != nil {
		pattern = *d.Regex
	} else if *d.String != "" {
		return finder{text: *d.String}, nil
	}
	re, err := regex.Compile(pattern)
	return finder{re: re}, err
}

func (f finder) find(spans []span, s string, invert bool) []span {
	last := 0
	match := func(start, end int) {
		if last != start {
			spans = append(spans, span{last, start, invert})
		}
		spans = append(spans, span{start, end, !invert})
		last = end
	}
	if f.re == nil {
		for {
			i := strings.Index(s[last:], f.text)
			if i < 0 {
				break
			}
			match(last+i, last+i+len(f.text))
		}
	} else {
		for _, m := range f.re.MustFindAll(s) {
			match(m.Start, m.End)
		}
	}
	if last != len(s) {
		spans = append(spans, span{last, len(s), invert})
	}
	return spans
}

type split struct {
	finder
	behavior behavior
	invert   bool
}

func splitFromJSON(raw []byte) (PreTokenizer, error) {
	var d struct {
		Pattern  json.RawMessage `json:"pattern"`
		Behavior behavior        `json:"behavior"`
		Invert   bool            `json:"invert"`
	}
	if err := component.Fields(raw, &d, "pattern", "behavior", "invert"); err != nil {
		return nil, err
	}
	f, err := newFinder(d.Pattern)
	return split{f, d.Behavior, d.Invert}, err
}

// Split splits at the pattern.
func (t split) Split(dst []Piece, p Piece) []Piece {
	if p.Text == "" {
		return dst
	}
	return cut(dst, p, t.find(nil, p.Text, t.invert), t.behavior)
}
