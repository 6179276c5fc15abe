// Package tekken reads tekken.json, the tokenizer file of Mistral Nemo and later
// Mistral models.
//
// As in mistral-common, the reference for these files, no text is ever taken for a
// special token: "[INST]" in a text is six characters.
package tekken

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/bpe"
)

type file struct {
	pattern, version string
	size, special    int // of the vocabulary, and of the special tokens in it
	ranks            []string
	names            []named // of special tokens; nil means the file does not say them
}

type named struct {
	rank int
	text string
}

// maxSize bounds vocabularies, which are tables.
const maxSize = 1 << 20

// Read makes the tokenizer of a tekken.json's content.
func Read(name string, data []byte) (*token.Pipeline, error) {
	fail := func(err error) (*token.Pipeline, error) { return nil, fmt.Errorf("the tokenizer %s: %w", name, err) }
	f, err := parse(data)
	if err != nil {
		return fail(err)
	}
	if f.special < 1 || f.size <= f.special || f.size > maxSize || f.size-f.special > len(f.ranks) {
		return fail(fmt.Errorf("a vocabulary of %d tokens, %d of them special, does not match its %d ranks", f.size, f.special, len(f.ranks)))
	}
	tokens := make([]string, f.size)
	copy(tokens[f.special:], f.ranks) // the file may hold more than the tokenizer uses
	m, err := bpe.FromRanks(tokens)
	if err != nil {
		return fail(err)
	}
	p := token.Parts{Name: name, Model: m, Pattern: f.pattern}
	if p.Known, err = f.known(); err != nil {
		return fail(err)
	}
	for _, k := range p.Known {
		if k.Content == "<s>" {
			p.Before = []int32{k.ID}
		}
	}
	return token.New(p)
}

func parse(data []byte) (*file, error) {
	f := &file{}
	var s jsonscan.Scanner
	var err error
	s.Reset(data)
	s.Object()
	for key, ok := s.Key(); ok && err == nil; key, ok = s.Key() {
		switch string(key) {
		case "config":
			f.config(&s)
		case "vocab":
			err = f.vocab(&s)
		case "special_tokens":
			if !s.Null() {
				f.readNames(&s)
			}
		default:
			s.Skip()
		}
	}
	if err == nil && !s.End() {
		err = fmt.Errorf("it is not a tekken.json: %w", s.Err())
	}
	if err == nil && (f.pattern == "" || len(f.ranks) == 0) {
		err = errors.New("it is not a tekken.json: it has no config, pattern or vocab")
	}
	return f, err
}

func (f *file) config(s *jsonscan.Scanner) {
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "pattern":
			f.pattern = string(s.Quoted())
		case "version":
			f.version = string(s.Quoted())
		case "default_vocab_size":
			f.size = int(s.Int())
		case "default_num_special_tokens":
			f.special = int(s.Int())
		default:
			s.Skip()
		}
	}
}

func (f *file) vocab(s *jsonscan.Scanner) error {
	s.Array()
	for i := 0; s.More(); i++ {
		rank, text := int64(-1), ""
		s.Object()
		for key, ok := s.Key(); ok; key, ok = s.Key() {
			switch string(key) {
			case "rank":
				rank = s.Int()
			case "token_bytes":
				b, err := base64.StdEncoding.AppendDecode(nil, s.Quoted())
				if err != nil || len(b) == 0 {
					return fmt.Errorf("the bytes of token %d are not base64, or empty", i)
				}
				text = string(b)
			default:
				s.Skip()
			}
		}
		if s.Err() != nil {
			return nil // which the caller sees
		}
		if rank < 0 || rank > maxSize {
			return fmt.Errorf("token %d has the invalid rank %d", i, rank)
		}
		for int64(len(f.ranks)) <= rank {
			f.ranks = append(f.ranks, "")
		}
		if text == "" || f.ranks[rank] != "" {
			return fmt.Errorf("the token of rank %d has no bytes or appears twice", rank)
		}
		f.ranks[rank] = text
	}
	return nil
}

func (f *file) readNames(s *jsonscan.Scanner) {
	f.names = []named{}
	s.Array()
	for s.More() {
		n := named{rank: -1}
		s.Object()
		for key, ok := s.Key(); ok; key, ok = s.Key() {
			switch string(key) {
			case "rank":
				n.rank = int(s.Int())
			case "token_str":
				n.text = string(s.Quoted())
			default:
				s.Skip()
			}
		}
		f.names = append(f.names, n)
	}
}

// known are the special tokens, those of old files among them, which do not say them.
func (f *file) known() ([]token.Added, error) {
	names := make([]string, f.special)
	if f.names == nil {
		switch f.version {
		case "v1", "v2", "v3", "v7":
		default:
			return nil, fmt.Errorf("its version is %q, and it has no special_tokens", f.version)
		}
		copy(names, []string{
			"<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]",
			"[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
		})
	}
	for _, n := range f.names {
		if n.rank < 0 || n.rank >= len(names) || names[n.rank] != "" {
			return nil, fmt.Errorf("the special token %q has the rank %d, which is taken or out of range", n.text, n.rank)
		}
		names[n.rank] = n.text
	}
	out := make([]token.Added, len(names))
	for id, text := range names {
		if text == "" {
			text = fmt.Sprintf("<SPECIAL_%d>", id)
		}
		out[id] = token.Added{ID: int32(id), Content: text, Special: true}
	}
	return out, nil
}
