// Package pyhash is Python's hash of texts, by which programs in Python seed what they draw.
package pyhash

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// Text is hash(text) of CPython since 3.11 with PYTHONHASHSEED set, of a text in ASCII. Without a seed,
// where Python's differs from process to process, it is that of seed 0.
func Text(text, hashSeed string) uint64 {
	k0, k1 := key(hashSeed)
	h := state{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573}
	last := uint64(len(text)) << 56
	for ; len(text) >= 8; text = text[8:] {
		h.add(binary.LittleEndian.Uint64([]byte(text[:8])))
	}
	for i := range len(text) {
		last |= uint64(text[i]) << (8 * i)
	}
	h.add(last)
	h[2] ^= 0xff
	h.round()
	h.round()
	h.round()
	return h[0] ^ h[1] ^ h[2] ^ h[3]
}

// key is made of the seed by a linear congruence; a seed of 0 is a key of zeros.
func key(hashSeed string) (k0, k1 uint64) {
	seed, err := strconv.ParseUint(hashSeed, 10, 32)
	if err != nil || seed == 0 {
		return 0, 0
	}
	var b [16]byte
	x := uint32(seed)
	for i := range b {
		x = x*214013 + 2531011
		b[i] = byte(x >> 16)
	}
	return binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])
}

// state is that of SipHash-1-3.
type state [4]uint64

func (h *state) add(m uint64) {
	h[3] ^= m
	h.round()
	h[0] ^= m
}

func (h *state) round() {
	h.half(0, 1, 2, 3, 13, 16)
	h.half(2, 1, 0, 3, 17, 21)
}

func (h *state) half(a, b, c, d, s, t int) {
	h[a] += h[b]
	h[c] += h[d]
	h[b] = bits.RotateLeft64(h[b], s) ^ h[a]
	h[d] = bits.RotateLeft64(h[d], t) ^ h[c]
	h[a] = bits.RotateLeft64(h[a], 32)
}
