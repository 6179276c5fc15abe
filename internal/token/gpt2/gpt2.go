// Package gpt2 is the vocabulary of GPT-2, compiled in, so that a run needs neither
// files nor the network. Where it comes from and its licence: the file LICENSE beside
// this one.
package gpt2

import (
	"bytes"
	"compress/flate"
	_ "embed" // for the merges
	"fmt"
	"io"

	"inferometer/internal/token/bpe"
)

// packed holds the ids that each merge joins, in four columns of bytes, deflated. The
// tokens follow from them: token 256+i is what merge i makes.
//
//go:embed merges.bin
var packed []byte

const (
	merges = 50000
	// End is the text of the only special token, which ends a document.
	End = "<|endoftext|>"
	// EndID is its id.
	EndID = 256 + merges
)

// Model unpacks the vocabulary. It takes some milliseconds, so callers keep it.
func Model() (*bpe.Model, error) {
	columns, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil || len(columns) != 4*merges {
		return nil, fmt.Errorf("unpack the vocabulary of GPT-2: %d bytes, %w", len(columns), err)
	}
	c := bpe.Config{Raw: true, Tokens: make([]string, 0, EndID+1), Merges: make([]bpe.Merge, merges)}
	var rest []byte
	for b := range 256 {
		if b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae {
			c.Tokens = append(c.Tokens, string([]byte{byte(b)}))
		} else {
			rest = append(rest, byte(b))
		}
	}
	for _, b := range rest {
		c.Tokens = append(c.Tokens, string([]byte{b}))
	}
	for i := range c.Merges {
		left := int32(columns[i]) | int32(columns[merges+i])<<8
		right := int32(columns[2*merges+i]) | int32(columns[3*merges+i])<<8
		c.Merges[i] = bpe.Merge{Left: left, Right: right, New: int32(256 + i), Rank: uint32(i)}
		c.Tokens = append(c.Tokens, c.Tokens[left]+c.Tokens[right])
	}
	c.Tokens = append(c.Tokens, End)
	return bpe.New(c)
}
