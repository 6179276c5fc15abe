package jsonscan

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// Int takes a number. One with a fraction loses it; one that no int64 holds is a fault.
func (s *Scanner) Int() int64 {
	s.Peek()
	n, end, ok := plainInt(s.data, s.pos)
	if ok && (end == len(s.data) || (s.data[end]|0x20 != 'e' && s.data[end] != '.')) {
		s.pos = end
		return n
	}
	return s.slowInt()
}

// OnlyInt takes an array of one integer of up to 18 digits, with no space in it. Where something else comes
// next it takes nothing.
func (s *Scanner) OnlyInt() (n int64, ok bool) {
	if s.pos >= len(s.data) || s.data[s.pos] != '[' || s.depth == maxDepth {
		return 0, false
	}
	n, end, ok := plainInt(s.data, s.pos+1)
	if !ok || end >= len(s.data) || s.data[end] != ']' {
		return 0, false
	}
	s.pos, s.fresh = end+1, false
	return n, true
}

// Ints takes the next integers of an array that was entered, as many as list has room for, and
// reports whether that was the end of the array, which is left then. It stops ahead of what is no
// integer of up to 18 digits or has more space around it than one ahead, as Python writes it: More, Int and the others
// read that.
func (s *Scanner) Ints(list []int64) (n int, left bool) {
	data, pos := s.data, s.pos
	for n < len(list) {
		i := pos
		if !s.fresh {
			if i == len(data) || data[i] != ',' {
				break
			}
			if i++; i < len(data) && data[i] == ' ' {
				i++
			}
		}
		if len(data)-i >= 8 && len(list)-n >= 4 && fourDigits(binary.LittleEndian.Uint64(data[i:]), list[n:n+4]) {
			n, pos, s.fresh = n+4, i+7, false
			continue
		}
		if len(data)-i >= 2 && data[i]-'0' <= 9 && data[i+1] == ',' { // most are small
			list[n], pos, s.fresh = int64(data[i]-'0'), i+1, false
			n++
			continue
		}
		v, end, ok := plainInt(data, i)
		if !ok || end == len(data) {
			break
		}
		if data[end] == ']' {
			list[n] = v
			s.pos, s.fresh = end+1, false
			s.depth--
			return n + 1, true
		}
		if data[end] != ',' {
			break
		}
		list[n], pos, s.fresh = v, end, false
		n++
	}
	s.pos = pos
	return n, false
}

// fourDigits reads four numbers of one digit, with a comma behind each.
func fourDigits(v uint64, list []int64) bool {
	const commas, digits, signs = 0x2c002c002c002c00, 0x0030003000300030, 0x8000800080008000
	n := v&0x00ff00ff00ff00ff - digits
	if v&0xff00ff00ff00ff00 != commas || (n|(n+0x7ff67ff67ff67ff6))&signs != 0 {
		return false
	}
	list[0], list[1], list[2], list[3] = int64(n&15), int64(n>>16&15), int64(n>>32&15), int64(n>>48&15)
	return true
}

// plainInt reads an integer of up to 18 digits at i, and gives where it ends.
func plainInt(data []byte, i int) (n int64, end int, ok bool) {
	neg := i < len(data) && data[i] == '-'
	if neg {
		i++
	}
	start := i
	for len(data)-i >= 8 {
		v := binary.LittleEndian.Uint64(data[i:])
		k := leadingDigits(v)
		n = n*powers[k] + digitsValue(v, k)
		if i += k; k < 8 || i-start > 18 {
			break
		}
	}
	for i < len(data) && i-start <= 18 && data[i]-'0' <= 9 {
		n = n*10 + int64(data[i]-'0')
		i++
	}
	if digits := i - start; digits == 0 || digits > 18 || digits > 1 && data[start] == '0' {
		return 0, i, false
	}
	if neg {
		n = -n
	}
	return n, i, true
}

var powers = [...]int64{1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000}

// leadingDigits is how many of eight bytes, the first in the lowest bits, are digits up to another.
func leadingDigits(v uint64) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	// A byte below '0' sets its high bit in the difference, one over '9' in the sum, or has it. What is
	// carried or borrowed can only reach bytes after the first hit, which do not matter.
	return bits.TrailingZeros64(((v-ones*'0')|(v+ones*(0x7f-'9'))|v)&high) / 8
}

// digitsValue is the number that the first k of eight bytes, all digits, are.
func digitsValue(v uint64, k int) int64 {
	const ones = 0x0101010101010101
	v = (v - ones*'0') << (8 * (8 - k)) // zeros in front of it
	v = v*10 + v>>8                     // pairs of digits, in every other byte
	const pairs = 0x000000ff000000ff
	return int64((v&pairs*(100+1_000_000<<32) + v>>16&pairs*(1+10_000<<32)) >> 32)
}

func (s *Scanner) slowInt() int64 {
	at := s.pos
	text := s.Number()
	if s.err != nil {
		return 0
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || f >= math.MaxInt64 || f <= math.MinInt64 {
		s.failAt(at, "a number that fits")
		return 0
	}
	return int64(f)
}
