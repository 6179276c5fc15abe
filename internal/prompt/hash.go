package prompt

import "math/bits"

// HashText is the hash of a prompt's text: XXH64, the same in every process and on
// every machine.
func HashText(text string) uint64 { return xxh64(text, 0) }

// HashMessages is the hash of a chat: of every role, content and tool call in order.
func HashMessages(messages []Message) uint64 {
	h := uint64(1)
	for i := range messages {
		m := &messages[i]
		h = xxh64(m.Content, xxh64(m.Role, h))
		for _, c := range m.ToolCalls {
			h = xxh64(c.Arguments, xxh64(c.Name, h))
		}
	}
	return h
}

const (
	prime1 uint64 = 0x9e3779b185ebca87
	prime2 uint64 = 0xc2b2ae3d27d4eb4f
	prime3 uint64 = 0x165667b19e3779f9
	prime4 uint64 = 0x85ebca77c2b2ae63
	prime5 uint64 = 0x27d4eb2f165667c5
)

func xxh64(s string, seed uint64) uint64 {
	size := uint64(len(s))
	h := seed + prime5
	if len(s) >= 32 {
		a, b, c, d := seed+prime1+prime2, seed+prime2, seed, seed-prime1
		for ; len(s) >= 32; s = s[32:] {
			a = round(a, word(s))
			b = round(b, word(s[8:]))
			c = round(c, word(s[16:]))
			d = round(d, word(s[24:]))
		}
		h = bits.RotateLeft64(a, 1) + bits.RotateLeft64(b, 7) + bits.RotateLeft64(c, 12) + bits.RotateLeft64(d, 18)
		for _, v := range [...]uint64{a, b, c, d} {
			h = (h^round(0, v))*prime1 + prime4
		}
	}
	h += size
	for ; len(s) >= 8; s = s[8:] {
		h = bits.RotateLeft64(h^round(0, word(s)), 27)*prime1 + prime4
	}
	if len(s) >= 4 {
		half := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
		h = bits.RotateLeft64(h^half*prime1, 23)*prime2 + prime3
		s = s[4:]
	}
	for i := range len(s) {
		h = bits.RotateLeft64(h^uint64(s[i])*prime5, 11) * prime1
	}
	h = (h ^ h>>33) * prime2
	h = (h ^ h>>29) * prime3
	return h ^ h>>32
}

func round(acc, v uint64) uint64 {
	return bits.RotateLeft64(acc+v*prime2, 31) * prime1
}

// word reads eight bytes; the compiler makes one load of it.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
