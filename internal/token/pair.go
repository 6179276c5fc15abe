package token

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/token/bpe"
	"github.com/inferometer/inferometer/internal/token/scan"
)

// FromPair makes the tokenizer of a GPT-2 vocabulary: vocab.json with ids, and merges.txt with a
// merge a line. It splits text as GPT-2 does. <|endoftext|> is special, if there.
func FromPair(name string, vocab, merges []byte) (*Pipeline, error) {
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
