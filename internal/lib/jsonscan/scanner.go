// Package jsonscan reads JSON front to back without building values: the caller
// walks objects and arrays, takes the few values it wants and skips the rest.
// Nothing is allocated on the way. It accepts what encoding/json accepts, with
// one difference: bytes of strings that are not valid UTF-8 are handed over as
// they are.
//
// A Scanner stops at the first fault. From then on every method returns a zero
// value, so that a walk needs one look at Err at its end.
package jsonscan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// maxDepth bounds nesting, so that no input exhausts the stack.
const maxDepth = 10000

// Scanner walks one JSON text. Its zero value scans nothing; Reset hands it a text.
type Scanner struct {
	data  []byte
	pos   int
	depth int  // of containers that were opened and not yet left
	fresh bool // a container was opened and More has not been asked yet
	err   *SyntaxError
}

// SyntaxError says where a text stops being the JSON that was expected.
type SyntaxError struct {
	Offset int    // of the byte at fault
	Want   string // what should have been there
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("byte %d: expected %s", e.Offset, e.Want)
}

// Reset makes the scanner start at the beginning of data.
func (s *Scanner) Reset(data []byte) { *s = Scanner{data: data} }

// Err is the first fault, or nil.
func (s *Scanner) Err() error {
	if s.err == nil {
		return nil
	}
	return s.err
}

// Pos is the offset of the next byte to be read.
func (s *Scanner) Pos() int { return s.pos }

// Fail records a fault at the present position, for a caller that expected
// something else.
func (s *Scanner) Fail(want string) { s.failAt(s.pos, want) }

// failAt records the first fault. No method gets any further: none has to ask for a fault first.
func (s *Scanner) failAt(at int, want string) {
	if s.err == nil {
		s.err = &SyntaxError{Offset: at, Want: want}
	}
	s.pos = len(s.data)
}

// Peek skips white space and gives the next byte without taking it; 0 at the end or after a fault.
func (s *Scanner) Peek() byte {
	if s.pos < len(s.data) && s.data[s.pos] > ' ' {
		return s.data[s.pos]
	}
	return s.peekSpace()
}

func (s *Scanner) peekSpace() byte {
	if s.pos = s.space(s.pos); s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// space is the offset after the white space at i.
func (s *Scanner) space(i int) int {
	for i < len(s.data) {
		switch s.data[i] {
		case '\n': // what is indented has as many spaces as it is deep
			i++
			if len(s.data)-i >= 8 {
				i += leadingSpaces(binary.LittleEndian.Uint64(s.data[i:]))
			}
		case ' ', '\t', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

// leadingSpaces is how many of eight bytes, the first in the lowest bits, are spaces up to another.
func leadingSpaces(v uint64) int {
	const spaces = 0x2020202020202020
	return bits.TrailingZeros64(v^spaces) / 8
}

// End reports whether nothing but white space is left; anything else is a fault.
func (s *Scanner) End() bool {
	c := s.Peek()
	if s.err == nil && (c != 0 || s.pos < len(s.data)) {
		s.Fail("end of text")
	}
	return s.err == nil
}

// Object enters the object that comes next.
func (s *Scanner) Object() bool { return s.open('{', "an object") }

// Array enters the array that comes next.
func (s *Scanner) Array() bool { return s.open('[', "an array") }

func (s *Scanner) open(c byte, want string) bool {
	if s.Peek() != c {
		s.Fail(want)
		return false
	}
	if s.depth++; s.depth > maxDepth {
		s.Fail("less nesting")
		return false
	}
	s.pos++
	s.fresh = true
	return true
}

// Key goes to the next member of an object. It returns the member's name, with
// its escapes resolved, and leaves the scanner at the value; false leaves the object.
func (s *Scanner) Key() ([]byte, bool) {
	if !s.more('}') {
		return nil, false
	}
	if key := s.plainKey(); key != nil {
		return key, true
	}
	key, escaped := s.String()
	if s.Peek() != ':' {
		s.Fail("':'")
		return nil, false
	}
	s.pos++
	if escaped {
		key = AppendUnescaped(nil, key)
	}
	return key, true
}

// plainKey takes a key as nearly all are: without an escape, with its colon right behind it and eight
// bytes more. It takes nothing where it is none, and gives nil.
func (s *Scanner) plainKey() []byte {
	rest := s.data[s.pos:]
	if len(rest) == 0 || rest[0] != '"' {
		return nil
	}
	for i := 1; i+8 <= len(rest); i += 8 {
		n := plainBytes(binary.LittleEndian.Uint64(rest[i:]))
		if n == 8 {
			continue
		}
		if end := i + n; end+1 < len(rest) && rest[end] == '"' && rest[end+1] == ':' {
			s.pos += end + 2
			return rest[1:end]
		}
		return nil
	}
	return nil
}

// Fields reads an object and calls field for each key, which must read the value. Others are
// skipped.
func (s *Scanner) Fields(field func(key []byte)) {
	if s.Peek() != '{' {
		s.Skip()
		return
	}
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		field(key)
	}
}

// More goes to the next element of an array; false leaves the array.
func (s *Scanner) More() bool { return s.more(']') }

func (s *Scanner) more(end byte) bool {
	c := s.Peek()
	switch {
	case c == ',' && !s.fresh:
		s.pos++
		return true
	case c == end:
		s.pos++
		s.depth--
		s.fresh = false
		return false
	case s.fresh:
		s.fresh = false
		return true
	case end == '}':
		s.Fail("',' or '}'")
	default:
		s.Fail("',' or ']'")
	}
	return false
}

// String takes a string and returns the bytes between its quotes, a part of the
// scanned text, and whether they hold escapes (see AppendUnescaped).
func (s *Scanner) String() (body []byte, escaped bool) {
	if s.Peek() != '"' {
		s.Fail("a string")
		return nil, false
	}
	start := s.pos + 1
	end, escaped, ok := StringEnd(s.data, start)
	if !ok {
		s.failAt(end, "the rest of a string")
		return nil, false
	}
	s.pos = end + 1
	return s.data[start:end], escaped
}

// IsPlain takes a string if it is this one, which needs no escape, and reports whether it did.
func (s *Scanner) IsPlain(text string) bool {
	end := s.pos + 1 + len(text)
	if end >= len(s.data) || s.data[s.pos] != '"' || s.data[end] != '"' || string(s.data[s.pos+1:end]) != text {
		return false
	}
	s.pos = end + 1
	return true
}

// Same takes text, where the values that come next in an object are written just like it.
func (s *Scanner) Same(text []byte) bool {
	end := s.pos + len(text)
	if len(text) == 0 || end >= len(s.data) || s.data[end] != ',' && s.data[end] != '}' || !bytes.Equal(s.data[s.pos:end], text) {
		return false
	}
	s.pos = end
	return true
}

// From is what was read since a position.
func (s *Scanner) From(pos int) []byte { return s.data[pos:s.pos] }

// Bool takes true or false.
func (s *Scanner) Bool() bool {
	if s.Peek() == 't' {
		return s.literal("true")
	}
	s.literal("false")
	return false
}

// Null takes a null if one comes next, and reports whether it did.
func (s *Scanner) Null() bool { return s.Peek() == 'n' && s.literal("null") }

func (s *Scanner) literal(word string) bool {
	if len(s.data)-s.pos < len(word) || string(s.data[s.pos:s.pos+len(word)]) != word {
		s.Fail(word)
		return false
	}
	s.pos += len(word)
	return true
}

// Number takes a number of any form and returns its text.
func (s *Scanner) Number() []byte {
	c := s.Peek()
	start, i := s.pos, s.pos
	if c == '-' {
		i++
	}
	if i < len(s.data) && s.data[i] == '0' {
		i++
	} else {
		i = s.digits(i)
	}
	if i > 0 && i < len(s.data) && s.data[i] == '.' {
		i = s.digits(i + 1)
	}
	if i > 0 && i < len(s.data) && s.data[i]|0x20 == 'e' {
		i++
		if i < len(s.data) && (s.data[i] == '+' || s.data[i] == '-') {
			i++
		}
		i = s.digits(i)
	}
	if s.err != nil {
		return nil
	}
	s.pos = i
	return s.data[start:i]
}

// digits returns the offset after the digits at i; none there is a fault.
func (s *Scanner) digits(i int) int {
	start := i
	for i < len(s.data) && s.data[i]-'0' <= 9 {
		i++
	}
	if i == start {
		s.failAt(min(i, len(s.data)), "a digit")
		return 0
	}
	return i
}

// Skip takes a value of any kind, checking it on the way.
func (s *Scanner) Skip() {
	switch s.Peek() {
	case '{':
		s.Object()
		for _, ok := s.Key(); ok; _, ok = s.Key() {
			s.Skip()
		}
	case '[':
		s.Array()
		for s.More() {
			s.Skip()
		}
	case '"':
		s.String()
	case 't', 'f':
		s.Bool()
	case 'n':
		s.Null()
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		s.Number()
	default:
		s.Fail("a value")
	}
}

// IsNumber reports whether a number comes next.
func (s *Scanner) IsNumber() bool {
	c := s.Peek()
	return c == '-' || c-'0' <= 9
}

// Quoted takes a string that holds no escapes in most cases: it returns the
// bytes meant, which are part of the scanned text unless there are escapes.
func (s *Scanner) Quoted() []byte {
	body, escaped := s.String()
	if escaped {
		return AppendUnescaped(nil, body)
	}
	return body
}

// Pair takes an array of two strings without escapes, faster than element by element. false:
// something else comes next, and nothing was taken.
func (s *Scanner) Pair() (a, b []byte, ok bool) {
	if s.depth == maxDepth {
		return nil, nil, false // for the others to refuse
	}
	i := s.pos
	for _, sign := range [...]byte{'[', ',', ']'} {
		if i = s.space(i); i >= len(s.data) || s.data[i] != sign {
			return nil, nil, false
		}
		i++
		if sign == ']' {
			break
		}
		if i = s.space(i); i >= len(s.data) || s.data[i] != '"' {
			return nil, nil, false
		}
		end, escaped, ok := StringEnd(s.data, i+1)
		if escaped || !ok {
			return nil, nil, false
		}
		a, b = b, s.data[i+1:end]
		i = end + 1
	}
	s.pos, s.fresh = i, false
	return a, b, true
}
