// Package tiktoken reads rank files: one token a line, its bytes in base64 and its
// rank, which is its id. They come as .tiktoken files, and as the tokenizer.model of
// Llama 3 and 4.
//
// A rank file says neither how text is split nor which special tokens there are. The
// encodings that are known are told apart by the number of their ranks, or are
// asked for by name. The literals of special tokens are found in texts, as
// tiktoken does when all of them are allowed.
package tiktoken

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/bpe"
	"github.com/inferometer/inferometer/internal/token/normalizer"
)

// Options say what a rank file does not. The zero value leaves it to the number of
// ranks.
type Options struct {
	// Encoding is the name of a known encoding.
	Encoding string
	// Hint may be the name of one, such as the file's. It counts if that has as many ranks as the
	// file.
	Hint string
	// Pattern is the regular expression that splits text, and Special are the special tokens, of an
	// unknown encoding. Empty: those of the known one.
	Pattern string
	Special map[string]int32
	// Added are texts of special tokens by id, as the model's tokenizer_config.json has them.
	// They take the place of what the encoding calls these ids.
	Added map[int32]string
}

// Read makes the tokenizer of a rank file's content.
func Read(name string, data []byte, o Options) (*token.Pipeline, error) {
	fail := func(err error) (*token.Pipeline, error) { return nil, fmt.Errorf("the rank file %s: %w", name, err) }
	tokens, count, err := ranks(data)
	if err != nil {
		return fail(err)
	}
	enc, err := choose(count, o)
	if err != nil {
		return fail(err)
	}
	m, err := bpe.FromRanks(tokens)
	if err != nil {
		return fail(err)
	}
	p := token.Parts{Name: name, Model: m, Pattern: enc.pattern, Before: enc.before}
	if enc.nfc {
		p.Normalizer = normalizer.Newer()
	}
	for text, id := range renamed(enc.special, o.Added, tokens) {
		if int(id) < len(tokens) && tokens[id] != "" {
			return fail(fmt.Errorf("the special token %s has the id %d, which is also a rank", text, id))
		}
		p.Added = append(p.Added, token.Added{ID: id, Content: text, Special: true})
	}
	slices.SortFunc(p.Added, func(a, b token.Added) int { return int(a.ID) - int(b.ID) })
	return token.New(p)
}

// renamed are special tokens with the names that a model has for ids that are no ranks.
func renamed(special map[string]int32, own map[int32]string, ranks []string) map[string]int32 {
	out := map[string]int32{}
	for text, id := range special {
		if own[id] == "" {
			out[text] = id
		}
	}
	for id, text := range own {
		if free := int(id) >= len(ranks) || id >= 0 && ranks[id] == ""; free && text != "" {
			out[text] = id
		}
	}
	return out
}

// Is reports whether data looks like a rank file.
func Is(data []byte) bool {
	line, _, _ := bytes.Cut(data[:min(len(data), 1024)], []byte("\n"))
	_, _, err := rank(bytes.TrimRight(line, "\r"))
	return err == nil
}

// maxRank bounds the ids, which index a table.
const maxRank = 1 << 20

// ranks reads the tokens by id, and how many there are.
func ranks(data []byte) ([]string, int, error) {
	var tokens []string
	count := 0
	for n := 1; len(data) > 0; n++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		line = bytes.TrimRight(line, "\r")
		if len(line) == 0 {
			continue
		}
		text, id, err := rank(line)
		if err != nil {
			return nil, 0, fmt.Errorf("line %d: %w", n, err)
		}
		for len(tokens) <= id {
			tokens = append(tokens, "")
		}
		if tokens[id] != "" {
			return nil, 0, fmt.Errorf("line %d: the rank %d is given twice", n, id)
		}
		tokens[id] = text
		count++
	}
	if count == 0 {
		return nil, 0, errors.New("it is empty")
	}
	return tokens, count, nil
}

func rank(line []byte) (string, int, error) {
	code, number, ok := bytes.Cut(line, []byte(" "))
	if !ok {
		return "", 0, errors.New("expected a token in base64, a space and a rank")
	}
	text, err := base64.StdEncoding.DecodeString(string(code))
	if err != nil || len(text) == 0 {
		return "", 0, errors.New("the token is not base64")
	}
	id, err := strconv.Atoi(string(number))
	if err != nil || id < 0 || id > maxRank {
		return "", 0, fmt.Errorf("%q is not a rank", number)
	}
	return string(text), id, nil
}

// choose finds the encoding that the options name, or else the one with so many ranks.
func choose(count int, o Options) (encoding, error) {
	if o.Pattern != "" {
		return encoding{pattern: o.Pattern, special: o.Special}, nil
	}
	all := encodings()
	if o.Encoding == "" && slices.ContainsFunc(all, func(e encoding) bool { return e.name == o.Hint && e.ranks == count }) {
		o.Encoding = o.Hint
	}
	var known []string
	for _, e := range all {
		if o.Encoding == e.name || (o.Encoding == "" && e.ranks == count && !e.second) {
			if e.ranks != count {
				return e, fmt.Errorf("it has %d ranks; the encoding %s has %d", count, e.name, e.ranks)
			}
			return e, nil
		}
		known = append(known, fmt.Sprintf("%s (%d)", e.name, e.ranks))
	}
	if o.Encoding != "" {
		return encoding{}, fmt.Errorf("unknown encoding %q; known: %s", o.Encoding, strings.Join(known, ", "))
	}
	return encoding{}, fmt.Errorf("no known encoding has %d ranks; known: %s. Use the model's tokenizer.json", count, strings.Join(known, ", "))
}
