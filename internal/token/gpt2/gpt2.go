// Package gpt2 is the vocabulary of GPT-2, compiled in: a run needs neither files nor the network.
// Its origin and licence: the file LICENSE beside this one.
package gpt2

import (
	"bytes"
	"compress/flate"
	_ "embed" // for the merges
	"fmt"
	"io"

	"github.com/inferometer/inferometer/internal/token/bpe"
	"github.com/inferometer/inferometer/internal/token/unidata"
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
	c := bpe.Config{Raw: true, Merges: make([]bpe.Merge, merges)}
	// All texts lie in one string, each merge's behind those before it.
	ends := make([]int32, 1, EndID+2)
	var arena []byte
	for _, printable := range []bool{true, false} {
		for b := range 256 {
			if printable == (unidata.ByteRune(byte(b)) == rune(b)) {
				arena = append(arena, byte(b))
				ends = append(ends, int32(len(arena)))
			}
		}
	}
	for i := range c.Merges {
		left := int32(columns[i]) | int32(columns[merges+i])<<8
		right := int32(columns[2*merges+i]) | int32(columns[3*merges+i])<<8
		c.Merges[i] = bpe.Merge{Left: left, Right: right, New: int32(256 + i), Rank: uint32(i)}
		arena = append(arena, arena[ends[left]:ends[left+1]]...)
		arena = append(arena, arena[ends[right]:ends[right+1]]...)
		ends = append(ends, int32(len(arena)))
	}
	arena = append(arena, End...)
	ends = append(ends, int32(len(arena)))
	text := string(arena)
	c.Tokens = make([]string, EndID+1)
	for i := range c.Tokens {
		c.Tokens[i] = text[ends[i]:ends[i+1]]
	}
	return bpe.New(c)
}
