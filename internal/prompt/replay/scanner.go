package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// LineError is a fault at a line of a file.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// RawValue is a JSON value of a file as it stands there, and the line that it begins in. It ends where its brackets do:
// what is wrong within them is for those who read it.
type RawValue struct {
	Raw  json.RawMessage
	line int
}

// Line is the number of the line of an offset in the value.
func (v *RawValue) Line(offset int64) int {
	return v.line + bytes.Count(v.Raw[:min(max(offset, 0), int64(len(v.Raw)))], []byte("\n"))
}

// chunkBytes are read at a time.
const chunkBytes = 1 << 20

// Scanner reads the values of a file: JSON values one after the other, or a list of them.
type Scanner struct {
	r     io.Reader
	buf   []byte // what has been read and not been taken
	space []byte // that buf lies in
	ended error  // of the reader
	line  int    // of the first byte of buf
	begun bool
	list  bool // the file is a list
	more  bool // an element of it has been read
}

// NewScanner reads what r gives.
func NewScanner(r io.Reader) *Scanner {
	return &Scanner{r: r, space: make([]byte, chunkBytes), line: 1}
}

// Next is the next value; io.EOF: there is none. Nothing comes after an error.
func (s *Scanner) Next() (RawValue, error) {
	c, err := s.peek()
	if first := !s.begun; first && err == nil {
		s.begun = true
		if s.list = c == '['; s.list {
			s.skip(1)
			c, err = s.peek()
		}
	}
	switch {
	case errors.Is(err, io.EOF) && s.list:
		return RawValue{}, s.fault(io.ErrUnexpectedEOF)
	case errors.Is(err, io.EOF):
		return RawValue{}, io.EOF
	case err != nil:
		return RawValue{}, s.fault(err)
	case s.list && c == ']':
		return RawValue{}, io.EOF
	case s.list && s.more && c != ',':
		return RawValue{}, s.fault(fmt.Errorf("%q stands behind an element of a list, not a comma", c))
	case s.list && s.more:
		s.skip(1)
		if _, err = s.peek(); err != nil {
			return RawValue{}, s.fault(unexpected(err))
		}
	}
	s.more = true
	return s.value()
}

// peek is the next byte that is no space.
func (s *Scanner) peek() (byte, error) {
	for {
		rest := bytes.TrimLeft(s.buf, " \t\r\n")
		s.skip(len(s.buf) - len(rest))
		if len(s.buf) > 0 {
			return s.buf[0], nil
		}
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
}

// skip takes so many bytes of what has been read.
func (s *Scanner) skip(n int) {
	s.line += bytes.Count(s.buf[:n], []byte("\n"))
	s.buf = s.buf[n:]
}

// fill reads more, when all has been taken.
func (s *Scanner) fill() error {
	for len(s.buf) == 0 {
		if s.ended != nil {
			return s.ended
		}
		var n int
		n, s.ended = s.r.Read(s.space)
		s.buf = s.space[:n]
	}
	return nil
}

// value takes the value that begins here.
func (s *Scanner) value() (RawValue, error) {
	v, in := RawValue{line: s.line}, brackets{}
	for {
		n, done := in.end(s.buf)
		v.Raw = append(v.Raw, s.buf[:n]...)
		s.skip(n)
		if done {
			return v, nil
		}
		switch err := s.fill(); {
		case errors.Is(err, io.EOF) && in.depth == 0 && !in.quoted:
			return v, nil
		case err != nil:
			return v, s.fault(unexpected(err))
		}
	}
}

// brackets finds the end of a value.
type brackets struct {
	begun           bool
	depth           int
	quoted, escaped bool // within a string, behind a backslash
}

// end is how many bytes of a text belong to the value, and whether it ends there. A sign that no value begins with is a
// value of its own.
func (b *brackets) end(text []byte) (n int, done bool) {
	for i := 0; i < len(text); i++ {
		if b.quoted {
			if i += b.string(text[i:]); i == len(text) {
				break
			}
			if b.depth == 0 {
				return i + 1, true
			}
			continue
		}
		for b.depth > 0 && !structural(text[i]) {
			if i++; i == len(text) {
				return i, false
			}
		}
		first := !b.begun
		b.begun = true
		switch c := text[i]; {
		case c == '"' && (first || b.depth > 0):
			b.quoted = true
		case (c == '{' || c == '[') && (first || b.depth > 0):
			b.depth++
		case (c == '}' || c == ']') && b.depth > 0:
			if b.depth--; b.depth == 0 {
				return i + 1, true
			}
		case !structural(c) && !strings.ContainsRune(", \t\r\n", rune(c)):
		case first:
			return i + 1, true
		default:
			return i, true
		}
	}
	return len(text), false
}

// string is where the string ends that a text begins in.
func (b *brackets) string(text []byte) int {
	for i := 0; i < len(text); i++ {
		if b.escaped {
			b.escaped = false
			continue
		}
		rest := text[i:]
		if end := bytes.IndexByte(rest, '"'); end >= 0 {
			rest = rest[:end]
		}
		slash := bytes.IndexByte(rest, '\\')
		if slash < 0 {
			i += len(rest)
			b.quoted = i == len(text)
			return i
		}
		i += slash
		b.escaped = true
	}
	return len(text)
}

// structural reports whether a byte is a quote or a bracket.
func structural(c byte) bool { return c == '"' || c|0x20 == '{' || c|0x20 == '}' }

// fault is an error in the line up to which the file has been taken.
func (s *Scanner) fault(err error) error { return &LineError{s.line, err} }

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
