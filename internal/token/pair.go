package token

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"inferometer/internal/token/bpe"
	"inferometer/internal/token/scan"
)

// loadPair reads vocab.json and merges.txt in a folder.
func loadPair(dir string) (*Engine, error) {
	vocab, err := os.ReadFile(filepath.Join(dir, "vocab.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("load the tokenizer %s: it has no tokenizer.json and no vocab.json: %w", dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("load the tokenizer %s: %w", dir, err)
	}
	merges, err := os.ReadFile(filepath.Join(dir, "merges.txt"))
	if err != nil {
		return nil, fmt.Errorf("load the tokenizer %s: vocab.json needs merges.txt next to it: %w", dir, err)
	}
	return FromPair(dir, vocab, merges)
}

// FromPair makes the tokenizer of a GPT-2 vocabulary: vocab.json with the ids of tokens,
// and merges.txt with one merge a line. It splits text as GPT-2 does. The token
// <|endoftext|> is special where the vocabulary has it.
func FromPair(name string, vocab, merges []byte) (*Engine, error) {
	m, err := bpe.FromPair(vocab, merges)
	if err != nil {
		return nil, fmt.Errorf("load the tokenizer %s: %w", name, err)
	}
	return New(gpt2Parts(name, m))
}

// gpt2Parts is how GPT-2 uses its model.
func gpt2Parts(name string, m *bpe.Model) Parts {
	p := Parts{Name: name, Model: m, Scanner: scan.ByteLevel()}
	if id, ok := m.ID("<|endoftext|>"); ok {
		p.Added = []Added{{ID: id, Content: "<|endoftext|>", Special: true}}
	}
	return p
}
