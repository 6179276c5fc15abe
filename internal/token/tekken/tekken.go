// Package tekken reads tekken.json, the tokenizer file of Mistral Nemo and later
// Mistral models.
//
// As in mistral-common, the reference for these files, no text is ever taken for a
// special token: "[INST]" in a text is six characters.
package tekken

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"inferometer/internal/token"
	"inferometer/internal/token/bpe"
)

// file is a tekken.json.
type file struct {
	Config *struct {
		Pattern           string `json:"pattern"`
		DefaultVocabSize  int    `json:"default_vocab_size"`
		DefaultNumSpecial int    `json:"default_num_special_tokens"`
		Version           string `json:"version"`
	} `json:"config"`
	Vocab []struct {
		Rank  int    `json:"rank"`
		Bytes string `json:"token_bytes"`
	} `json:"vocab"`
	Special []struct {
		Rank int    `json:"rank"`
		Text string `json:"token_str"`
	} `json:"special_tokens"`
}

// Load reads a tekken.json.
func Load(path string) (*token.Engine, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load a tekken.json: %w", err)
	}
	return Read(path, data)
}

// maxSize bounds vocabularies, which are tables.
const maxSize = 1 << 20

// Read makes the tokenizer of a tekken.json's content.
func Read(name string, data []byte) (*token.Engine, error) {
	fail := func(err error) (*token.Engine, error) { return nil, fmt.Errorf("the tokenizer %s: %w", name, err) }
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return fail(fmt.Errorf("it is not a tekken.json: %w", err))
	}
	if f.Config == nil || f.Config.Pattern == "" || len(f.Vocab) == 0 {
		return fail(errors.New("it is not a tekken.json: it has no config, pattern or vocab"))
	}
	special, size := f.Config.DefaultNumSpecial, f.Config.DefaultVocabSize
	if special < 1 || size <= special || size > maxSize || size-special > len(f.Vocab) {
		return fail(fmt.Errorf("a vocabulary of %d with %d special tokens does not fit its %d ranks", size, special, len(f.Vocab)))
	}
	tokens := make([]string, size)
	for i, v := range f.Vocab {
		if v.Rank < 0 || v.Rank >= len(f.Vocab) {
			return fail(fmt.Errorf("token %d has the rank %d", i, v.Rank))
		}
		if v.Rank >= size-special {
			continue // the file holds more than the tokenizer uses
		}
		text, err := base64.StdEncoding.DecodeString(v.Bytes)
		if err != nil || len(text) == 0 || tokens[special+v.Rank] != "" {
			return fail(fmt.Errorf("the token of rank %d is not base64, empty, or there twice", v.Rank))
		}
		tokens[special+v.Rank] = string(text)
	}
	m, err := bpe.FromRanks(tokens)
	if err != nil {
		return fail(err)
	}
	p := token.Parts{Name: name, Model: m, Pattern: f.Config.Pattern}
	if p.Known, err = f.known(special); err != nil {
		return fail(err)
	}
	for _, k := range p.Known {
		if k.Content == "<s>" {
			p.Before = []int32{k.ID}
		}
	}
	return token.New(p)
}

// known are the special tokens, those of old files among them, which do not say them.
func (f *file) known(n int) ([]token.Added, error) {
	names := make([]string, n)
	if f.Special == nil {
		switch f.Config.Version {
		case "v1", "v2", "v3", "v7":
		default:
			return nil, fmt.Errorf("it is of version %q and has no special_tokens", f.Config.Version)
		}
		copy(names, []string{
			"<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]",
			"[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
		})
	}
	for _, s := range f.Special {
		if s.Rank < 0 || s.Rank >= n || names[s.Rank] != "" {
			return nil, fmt.Errorf("the special token %q has the rank %d, which is taken or out of range", s.Text, s.Rank)
		}
		names[s.Rank] = s.Text
	}
	var out []token.Added
	for id, text := range names {
		if text == "" {
			text = fmt.Sprintf("<SPECIAL_%d>", id)
		}
		out = append(out, token.Added{ID: int32(id), Content: text, Special: true})
	}
	return out, nil
}
