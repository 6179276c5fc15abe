package bpe

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/token/unidata"
)

// maxID bounds ids, so that a faulty file does not ask for all memory.
const maxID = 1 << 22

// FromJSON reads the model of a tokenizer.json. With raw, its tokens are texts in the byte-level
// alphabet, which stand for bytes, and pieces are not.
func FromJSON(data []byte, raw bool) (*Model, error) {
	f := file{Config: Config{Raw: raw}}
	var s jsonscan.Scanner
	s.Reset(data)
	s.Object()
	merges := -1 // where they begin, if they were not read yet
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		var err error
		switch string(key) {
		case "vocab":
			err = f.readVocab(&s)
		case "merges":
			s.Peek()
			merges = s.Pos()
			if f.Tokens == nil {
				s.Skip()
			} else if err = f.readMerges(&s, data); err == nil {
				merges = -1
			}
		case "continuing_subword_prefix":
			if f.Merges != nil {
				return nil, fmt.Errorf("the BPE model has continuing_subword_prefix after its merges, which depend on it")
			}
			err = f.field(&s, string(key))
		default:
			err = f.field(&s, string(key))
		}
		if err != nil {
			return nil, err
		}
	}
	if !s.End() {
		return nil, fmt.Errorf("the BPE model: %w", s.Err())
	}
	if merges >= 0 && f.Tokens != nil {
		s.Reset(data[merges:])
		if err := f.readMerges(&s, data[merges:]); err != nil {
			return nil, err
		}
	}
	if f.Tokens == nil || f.Merges == nil {
		return nil, fmt.Errorf("the BPE model has no vocab or no merges")
	}
	return f.finish()
}

type file struct {
	Config
	ix      index
	odd     map[string]int32 // tokens of a raw model that are not in the alphabet
	entries int
}

// field reads a value other than the vocabulary and the merges.
func (f *file) field(s *jsonscan.Scanner, key string) error {
	if s.Null() {
		return nil
	}
	switch key {
	case "dropout":
		if n, err := strconv.ParseFloat(string(s.Number()), 64); s.Err() == nil && (err != nil || n != 0) {
			return fmt.Errorf("the BPE model has a dropout of %v: its tokens are random and cannot be counted", n)
		}
	case "unk_token":
		f.Unknown = string(s.Quoted())
	case "continuing_subword_prefix":
		f.Prefix = string(s.Quoted())
	case "end_of_word_suffix":
		f.Suffix = string(s.Quoted())
	case "fuse_unk":
		f.FuseUnknown = s.Bool()
	case "byte_fallback":
		f.ByteFallback = s.Bool()
	case "ignore_merges":
		f.IgnoreMerges = s.Bool()
	default:
		s.Skip()
	}
	return nil
}

func (f *file) finish() (*Model, error) {
	m, err := build(f.Config, f.ix)
	if err != nil {
		return nil, err
	}
	m.entries, m.odd, m.alphabet = f.entries, f.odd, f.Raw
	return m, nil
}

// word is a token before its text is in place.
type word struct {
	from, to uint32
	id       int32
	odd      bool
}

// wordList is a list that is not copied as it grows.
type wordList struct {
	parts [][]word
	n     int
}

func (l *wordList) add(w word) {
	const size = 8192
	if l.n%size == 0 {
		l.parts = append(l.parts, make([]word, 0, size))
	}
	last := &l.parts[len(l.parts)-1]
	*last = append(*last, w)
	l.n++
}

func (l *wordList) all(yield func(word) bool) {
	for _, part := range l.parts {
		for _, w := range part {
			if !yield(w) {
				return
			}
		}
	}
}

func (f *file) readVocab(s *jsonscan.Scanner) error {
	s.Object()
	var arena []byte
	var words wordList
	top := int64(-1)
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		id := s.Int()
		if s.Err() == nil && (id < 0 || id >= maxID) {
			return fmt.Errorf("the vocabulary: the token %q has the id %d; ids are between 0 and %d", key, id, maxID-1)
		}
		w := word{from: uint32(len(arena)), id: int32(id)}
		if f.Raw {
			arena, ok = unidata.AppendRaw(arena, key)
			w.odd = !ok
		}
		if !f.Raw || w.odd {
			arena = append(arena, key...)
		}
		w.to = uint32(len(arena))
		words.add(w)
		top = max(top, id)
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("the vocabulary: %w", err)
	}
	text := string(arena)
	f.entries = words.n
	f.Tokens = make([]string, top+1)
	f.ix = newIndex(words.n)
	f.odd = map[string]int32{}
	for w := range words.all {
		f.Tokens[w.id] = text[w.from:w.to]
	}
	for w := range words.all {
		switch token := text[w.from:w.to]; {
		case w.odd:
			f.odd[token] = w.id
		case token != "" && f.Tokens[w.id] == token:
			f.ix.add(f.Tokens, w.id)
		}
	}
	return nil
}

func (f *file) readMerges(s *jsonscan.Scanner, data []byte) error {
	s.Array()
	start := s.Pos()
	f.Merges = make([]Merge, 0, len(f.Tokens))
	q := newQueue(f)
	for rank := uint32(0); s.More(); rank++ {
		left, right, err := readMerge(s, rank)
		if err != nil {
			return err
		}
		if s.Err() != nil {
			break
		}
		if len(f.Merges)+batch > cap(f.Merges) {
			// As many again for each byte as up to here.
			rest := float64(len(data)-s.Pos()) / float64(s.Pos()-start)
			f.Merges = slices.Grow(f.Merges, batch+int(rest*float64(rank+1)))
		}
		if err := q.add(left, right, rank); err != nil {
			return err
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("the merges: %w", err)
	}
	return q.flush()
}

// readMerge reads a merge: a pair of texts, or one text with a space between.
func readMerge(s *jsonscan.Scanner, rank uint32) (left, right []byte, err error) {
	if left, right, ok := s.Pair(); ok {
		return left, right, nil
	}
	if s.Peek() == '[' {
		s.Array()
		if s.More() {
			left = s.Quoted()
		}
		if s.More() {
			right = s.Quoted()
		}
		if s.More() {
			s.Fail("a pair of tokens")
		}
		return left, right, nil
	}
	both := s.Quoted()
	at := bytes.IndexByte(both, ' ')
	if s.Err() == nil && (at < 0 || bytes.IndexByte(both[at+1:], ' ') >= 0) {
		return nil, nil, fmt.Errorf("merge %d is %q; it should be two tokens with a space between", rank, both)
	}
	return both[:max(at, 0)], both[min(at+1, len(both)):], nil
}

// FromPair reads the model of a vocab.json and a merges.txt, as GPT-2's, in the byte-level
// alphabet.
func FromPair(vocab, merges []byte) (*Model, error) {
	f := file{Config: Config{Raw: true}}
	var s jsonscan.Scanner
	s.Reset(vocab)
	if err := f.readVocab(&s); err != nil {
		return nil, err
	}
	if !s.End() {
		return nil, fmt.Errorf("the vocabulary: %w", s.Err())
	}
	q := newQueue(&f)
	rank := uint32(0)
	for line := range bytes.Lines(merges) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 || bytes.HasPrefix(line, []byte("#version")) {
			continue
		}
		left, right, ok := bytes.Cut(line, []byte(" "))
		if !ok || bytes.IndexByte(right, ' ') >= 0 {
			return nil, fmt.Errorf("line %q of merges.txt should be two tokens with a space between", line)
		}
		if err := q.add(left, right, rank); err != nil {
			return nil, err
		}
		rank++
	}
	if err := q.flush(); err != nil {
		return nil, err
	}
	return f.finish()
}
