package body

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// maxDepth bounds nested values, as encoding/json does.
const maxDepth = 10000

// scanner walks over JSON text in place. It accepts what encoding/json accepts
// and keeps nothing, so that a large prompt costs one pass.
type scanner struct {
	b     []byte
	i     int
	depth int
}

func (s *scanner) fail(what string) error {
	if s.i >= len(s.b) {
		return fmt.Errorf("JSON ends at byte %d where %s is expected", s.i, what)
	}
	return fmt.Errorf("JSON at byte %d: found %q where %s is expected", s.i, s.b[s.i], what)
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

// peek returns the first byte of the next value, 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *scanner) expect(c byte, what string) error {
	if s.peek() != c {
		return s.fail(what)
	}
	s.i++
	return nil
}

// end checks that only white space is left.
func (s *scanner) end() error {
	if s.peek(); s.i < len(s.b) {
		return s.fail("the end")
	}
	return nil
}

// object calls f for each member with its raw key; f must consume the value.
func (s *scanner) object(f func(key []byte) error) error {
	if err := s.open('{', "an object"); err != nil {
		return err
	}
	if s.peek() == '}' {
		s.close()
		return nil
	}
	for {
		key, err := s.str()
		if err != nil {
			return err
		}
		if err := s.expect(':', "':'"); err != nil {
			return err
		}
		if err := f(key); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.i++
		case '}':
			s.close()
			return nil
		default:
			return s.fail("',' or '}'")
		}
	}
}

// array calls f for each element; f must consume it.
func (s *scanner) array(f func() error) error {
	if err := s.open('[', "an array"); err != nil {
		return err
	}
	if s.peek() == ']' {
		s.close()
		return nil
	}
	for {
		if err := f(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.i++
		case ']':
			s.close()
			return nil
		default:
			return s.fail("',' or ']'")
		}
	}
}

func (s *scanner) open(c byte, what string) error {
	if err := s.expect(c, what); err != nil {
		return err
	}
	if s.depth++; s.depth > maxDepth {
		return fmt.Errorf("JSON at byte %d: nested more than %d deep", s.i, maxDepth)
	}
	return nil
}

func (s *scanner) close() {
	s.i++
	s.depth--
}

// str returns the next string as it stands between its quotes.
func (s *scanner) str() ([]byte, error) {
	if err := s.expect('"', "a string"); err != nil {
		return nil, err
	}
	from := s.i
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return s.b[from : s.i-1], nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return nil, err
			}
		case c < ' ':
			return nil, s.fail("a string without control characters")
		default:
			s.i++
		}
	}
	return nil, s.fail("the end of a string")
}

func (s *scanner) escape() error {
	s.i++
	if s.i >= len(s.b) {
		return s.fail("an escape")
	}
	switch s.b[s.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.i++
		return nil
	case 'u':
		s.i++
		for range 4 {
			if s.i >= len(s.b) || unhex(s.b[s.i]) < 0 {
				return s.fail("a hexadecimal digit")
			}
			s.i++
		}
		return nil
	}
	return s.fail("an escape")
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// skip consumes any value and returns its text.
func (s *scanner) skip() ([]byte, error) {
	c := s.peek()
	from := s.i
	var err error
	switch {
	case c == '{':
		err = s.object(s.skipMember)
	case c == '[':
		err = s.array(s.skipElement)
	case c == '"':
		_, err = s.str()
	case c == 't':
		err = s.word("true")
	case c == 'f':
		err = s.word("false")
	case c == 'n':
		err = s.word("null")
	default:
		err = s.number()
	}
	return s.b[from:s.i], err
}

func (s *scanner) skipMember([]byte) error { return s.skipElement() }

func (s *scanner) skipElement() error {
	_, err := s.skip()
	return err
}

func (s *scanner) word(w string) error {
	if !bytes.HasPrefix(s.b[s.i:], []byte(w)) {
		return s.fail("a value")
	}
	s.i += len(w)
	return nil
}

func (s *scanner) number() error {
	if s.i < len(s.b) && s.b[s.i] == '-' {
		s.i++
	}
	switch {
	case s.i >= len(s.b):
		return s.fail("a value")
	case s.b[s.i] == '0':
		s.i++
	case !s.digits():
		return s.fail("a value")
	}
	if s.i < len(s.b) && s.b[s.i] == '.' {
		s.i++
		if !s.digits() {
			return s.fail("a digit")
		}
	}
	if s.i < len(s.b) && (s.b[s.i] == 'e' || s.b[s.i] == 'E') {
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		if !s.digits() {
			return s.fail("a digit")
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	from := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > from
}

// Unquote decodes the inside of a JSON string.
func Unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	var v string
	if err := json.Unmarshal(append(append([]byte{'"'}, raw...), '"'), &v); err != nil {
		return string(raw)
	}
	return v
}

// AppendQuoted writes a JSON string.
func AppendQuoted(b []byte, v string) []byte {
	plain := true
	for i := 0; i < len(v); i++ {
		plain = plain && v[i] >= ' ' && v[i] < 0x7f && v[i] != '"' && v[i] != '\\'
	}
	if plain {
		b = append(b, '"')
		b = append(b, v...)
		return append(b, '"')
	}
	q, err := json.Marshal(v)
	if err != nil {
		return append(b, `""`...)
	}
	return append(b, q...)
}
