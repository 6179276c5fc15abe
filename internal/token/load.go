package token

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/token/bpe"
	"github.com/inferometer/inferometer/internal/token/decoder"
	"github.com/inferometer/inferometer/internal/token/normalizer"
	"github.com/inferometer/inferometer/internal/token/pretokenizer"
	"github.com/inferometer/inferometer/internal/token/scan"
	"github.com/inferometer/inferometer/internal/token/unigram"
	"github.com/inferometer/inferometer/internal/token/wordlevel"
	"github.com/inferometer/inferometer/internal/token/wordpiece"
)

// file is a tokenizer.json cut into its components.
type file struct {
	normalizer, pretokenizer, post, decoder, model []byte
	added                                          []byte
	notes                                          []string
}

// FromJSON makes the tokenizer of a tokenizer.json.
func FromJSON(name string, data []byte) (*Pipeline, error) {
	p, err := parts(name, data)
	if err != nil {
		return nil, fmt.Errorf("load the tokenizer %s: %w", name, err)
	}
	return New(p)
}

func parts(name string, data []byte) (Parts, error) {
	if f, ok := cutEarly(data); ok {
		if p, err := assemble(name, f); err == nil {
			return p, nil
		}
	}
	f, err := cut(data)
	if err != nil {
		return Parts{}, err
	}
	return assemble(name, f)
}

func assemble(name string, f file) (Parts, error) {
	var err error
	p := Parts{Name: name, Notes: f.notes}
	if p.Normalizer, err = normalizer.FromJSON(f.normalizer); err != nil {
		return Parts{}, err
	}
	kind, err := kindOf(f.model)
	if err != nil {
		return Parts{}, err
	}
	raw := false
	if kind == "BPE" {
		if raw, err = byteLevel(&p, f); err != nil {
			return Parts{}, err
		}
	}
	if p.Model, err = model(kind, f.model, raw); err != nil {
		return Parts{}, err
	}
	if !raw {
		if p.PreTokenizer, err = pretokenizer.FromJSON(f.pretokenizer); err != nil {
			return Parts{}, err
		}
		if p.Decoder, err = decoder.FromJSON(f.decoder); err != nil {
			return Parts{}, err
		}
	}
	if p.Before, p.After, err = postProcessor(f.post); err != nil {
		return Parts{}, err
	}
	p.Added, err = readAdded(f.added, p.Model)
	return p, err
}

// cutEarly is cut for a file whose last component is the model, as those that the
// reference writes. It does not look for the end of the model but takes it to be
// there: what reads the model finds out. So large files are read once and not twice.
func cutEarly(data []byte) (file, bool) {
	var s jsonscan.Scanner
	s.Reset(data)
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if string(key) != "model" {
			s.Skip()
			continue
		}
		start := s.Pos()
		end := len(bytes.TrimRight(data, " \t\r\n")) - 1
		if end <= start || data[end] != '}' {
			return file{}, false
		}
		head := append(append([]byte(nil), data[:start]...), "{}}"...)
		f, err := cut(head)
		f.model = data[start:end]
		return f, err == nil
	}
	return file{}, false
}

// cut finds the components of a tokenizer.json.
func cut(data []byte) (file, error) {
	var f file
	var s jsonscan.Scanner
	s.Reset(data)
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		s.Peek()
		start := s.Pos()
		null := s.Null()
		if !null {
			s.Skip()
		}
		value := data[start:s.Pos()]
		switch string(key) {
		case "normalizer":
			f.normalizer = value
		case "pre_tokenizer":
			f.pretokenizer = value
		case "post_processor":
			f.post = value
		case "decoder":
			f.decoder = value
		case "model":
			f.model = value
		case "added_tokens":
			f.added = value
		case "truncation", "padding":
			if !null {
				f.notes = append(f.notes, "its "+string(key)+" setting is not applied: every token of a text is counted, and no padding")
			}
		}
	}
	if !s.End() {
		return file{}, fmt.Errorf("it is not a tokenizer.json: %w", s.Err())
	}
	if f.model == nil {
		return file{}, errors.New("it is not a tokenizer.json: it has no model")
	}
	return f, nil
}

// kindOf is the type of a model. Old files do not say it.
func kindOf(data []byte) (string, error) {
	var s jsonscan.Scanner
	s.Reset(data)
	s.Object()
	kind := ""
	has := map[string]bool{}
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		has[string(key)] = true
		if string(key) == "type" {
			kind = string(s.Quoted())
			break
		}
		s.Skip()
	}
	switch {
	case s.Err() != nil:
		return "", fmt.Errorf("the model: %w", s.Err())
	case kind != "":
		return kind, nil
	case has["merges"]:
		return "BPE", nil
	case has["max_input_chars_per_word"]:
		return "WordPiece", nil
	case has["unk_id"]:
		return "Unigram", nil
	}
	return "WordLevel", nil
}

// model reads a model; raw: one of BPE works on bytes.
func model(kind string, data []byte, raw bool) (Model, error) {
	switch kind {
	case "BPE":
		return bpe.FromJSON(data, raw)
	case "Unigram":
		return unigram.FromJSON(data)
	case "WordPiece":
		return wordpiece.FromJSON(data)
	case "WordLevel":
		return wordlevel.FromJSON(data)
	}
	return nil, fmt.Errorf("unknown model type %q: BPE, Unigram, WordPiece and WordLevel are supported", kind)
}

// component is what a recognised pre-tokenizer or decoder says.
type component struct {
	Type             string            `json:"type"`
	Pretokenizers    []json.RawMessage `json:"pretokenizers"`
	Pattern          map[string]string `json:"pattern"`
	Behavior         string            `json:"behavior"`
	Invert           bool              `json:"invert"`
	AddPrefixSpace   bool              `json:"add_prefix_space"`
	UseRegex         *bool             `json:"use_regex"`
	IndividualDigits bool              `json:"individual_digits"`
}

// flatten lists the pre-tokenizers of a sequence, which may hold others.
func flatten(dst []json.RawMessage, raw json.RawMessage, depth int) []json.RawMessage {
	var c component
	if json.Unmarshal(raw, &c) != nil || c.Type != "Sequence" || depth > 8 {
		return append(dst, raw)
	}
	for _, r := range c.Pretokenizers {
		dst = flatten(dst, r, depth+1)
	}
	return dst
}

// byteLevel reports whether a tokenizer is a byte-level one, and how it splits text then: its model
// can work on bytes in place of characters that stand for them.
func byteLevel(p *Parts, f file) (bool, error) {
	if len(f.pretokenizer) == 0 {
		return false, nil
	}
	var d component
	if json.Unmarshal(f.decoder, &d) != nil || d.Type != "ByteLevel" {
		return false, nil
	}
	list := flatten(nil, f.pretokenizer, 0)
	if len(list) == 0 {
		return false, nil
	}
	all := make([]component, len(list))
	for i := range all {
		if json.Unmarshal(list[i], &all[i]) != nil {
			return false, nil // the package that knows it says what is wrong
		}
	}
	front, last := all[:len(all)-1], all[len(all)-1]
	if last.Type != "ByteLevel" {
		return false, nil
	}
	regex := last.UseRegex == nil || *last.UseRegex
	p.PrefixSpace = last.AddPrefixSpace
	if sc, ok := known(front, regex, last.AddPrefixSpace); ok {
		p.Scanner = sc
		return true, nil
	}
	seq, err := json.Marshal(map[string]any{"type": "Sequence", "pretokenizers": list[:len(list)-1]})
	if err != nil {
		return false, fmt.Errorf("the pre-tokenizer: %w", err)
	}
	if p.PreTokenizer, err = pretokenizer.FromJSON(seq); err != nil {
		return false, err
	}
	if regex {
		p.Scanner = scan.ByteLevel()
	}
	return true, nil
}

// known is the scanner for pre-tokenizers followed by ByteLevel; false where there is
// none.
func known(front []component, regex, prefix bool) (*scan.Scanner, bool) {
	if len(front) == 0 {
		if regex {
			return scan.ByteLevel(), true
		}
		return scan.NoSplit(), true
	}
	if prefix {
		return nil, false
	}
	if len(front) == 1 && front[0].Type == "Digits" && regex {
		return scan.Digits(front[0].IndividualDigits), true
	}
	if regex {
		return nil, false
	}
	var patterns []string
	for _, c := range front {
		plain := c.Behavior == "Isolated" && !c.Invert
		matches := c.Behavior == "Removed" && c.Invert && len(front) == 1 // each expression that scan.Find knows matches any text
		regex, ok := c.Pattern["Regex"]
		if c.Type != "Split" || !ok || !plain && !matches {
			return nil, false
		}
		patterns = append(patterns, regex)
	}
	return scan.FindSequence(patterns)
}

func readAdded(data []byte, m Model) ([]Added, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var added []Added
	if err := json.Unmarshal(data, &added); err != nil {
		return nil, fmt.Errorf("the added tokens: %w", err)
	}
	if sized, ok := m.(interface{ Size() int }); ok {
		added = numbered(added, m, sized.Size())
	}
	return added, nil
}
