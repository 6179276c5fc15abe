package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// lines finds the line of a place in what was read through it.
type lines struct {
	r      io.Reader
	read   int64
	breaks []int64 // where lines end
}

func (l *lines) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i, c := range p[:n] {
		if c == '\n' {
			l.breaks = append(l.breaks, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

func (l *lines) number(offset int64) int {
	n, _ := slices.BinarySearch(l.breaks, offset)
	return n + 1
}

// Line is the number of the line of an offset.
func (s *Scanner) Line(offset int64) int { return s.lines.number(offset) }

// LineError is a fault at a line of a file.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// Scanner reads the objects of a file: JSON values one after the other, or a list of them.
type Scanner struct {
	lines *lines
	dec   *json.Decoder
	list  bool
	begun bool
}

// NewScanner reads what r gives.
func NewScanner(r io.Reader) *Scanner {
	l := &lines{r: r}
	return &Scanner{lines: l, dec: json.NewDecoder(l)}
}

// Next is the text of the next object, and where it begins; io.EOF: there is none. Nothing comes after an error.
func (s *Scanner) Next() (raw json.RawMessage, begin int64, err error) {
	if !s.begun {
		s.begun = true
		if err := s.enter(); err != nil {
			return nil, 0, s.fault(err)
		}
	}
	if s.list && !s.dec.More() {
		if _, err := s.dec.Token(); err != nil {
			return nil, 0, s.fault(unexpected(err))
		}
		return nil, 0, io.EOF
	}
	err = s.dec.Decode(&raw)
	if errors.Is(err, io.EOF) && !s.list {
		return nil, 0, io.EOF
	}
	if err != nil {
		return nil, 0, s.fault(unexpected(err))
	}
	return raw, s.dec.InputOffset() - int64(len(raw)), nil
}

// enter goes into a list, where the file is one.
func (s *Scanner) enter() error {
	// More looks at the next letter without taking it; what it saw is still buffered.
	if !s.dec.More() {
		return nil
	}
	first := make([]byte, 1)
	in := s.dec.Buffered()
	for {
		if _, err := in.Read(first); err != nil {
			return nil
		}
		if !strings.ContainsRune(" \t\r\n", rune(first[0])) {
			break
		}
	}
	if first[0] != '[' {
		return nil
	}
	s.list = true
	_, err := s.dec.Token()
	return err
}

// fault says in which line an error of the decoder is.
func (s *Scanner) fault(err error) error {
	at := s.dec.InputOffset()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = syntax.Offset - 1
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		at = s.lines.read
	}
	return &LineError{s.lines.number(at), err}
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
