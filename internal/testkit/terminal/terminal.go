// Package terminal is a small terminal for tests: what a program draws on it can be read off
// its screen, whatever sequences it was drawn with.
package terminal

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// Screen is a terminal. A window that is made narrower wraps its lines, as most do.
type Screen struct {
	mu            sync.Mutex
	columns, rows int
	lines         []line // all that was written, what has left the screen at the top too
	row, column   int    // of the cursor, among lines
	noWrap        bool
	rest          []byte // of a sequence or character whose end is to come
	faults        []string
}

type line struct {
	cells   []rune // 0: the second half of a wide character
	wrapped bool   // it goes on in the next one
}

// New makes an empty screen.
func New(columns, rows int) *Screen {
	return &Screen{columns: columns, rows: rows, lines: make([]line, 1)}
}

// Text is what is on the screen and above it, without spaces at the ends of lines and empty
// lines at the end.
func (s *Screen) Text() string { return s.text(func() int { return 0 }) }

// Visible is what is on the screen.
func (s *Screen) Visible() string { return s.text(s.top) }

func (s *Screen) text(from func() int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, l := range s.lines[from():] {
		b.WriteString(strings.TrimRight(l.text(), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Faults are what a program should not have done: lines that wrapped or were cut off, and
// unknown sequences.
func (s *Screen) Faults() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults
}

func (l *line) text() string {
	var b strings.Builder
	for _, r := range l.cells {
		if r != 0 {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (s *Screen) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// Write draws.
func (s *Screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = append(s.rest, text...)
	for len(s.rest) > 0 {
		n := s.step(s.rest)
		if n == 0 {
			break
		}
		s.rest = s.rest[n:]
	}
	return len(text), nil
}

// step obeys the first character or sequence of a text and gives its length; 0: its end is
// to come.
func (s *Screen) step(text []byte) int {
	switch text[0] {
	case '\r':
		s.column = 0
		return 1
	case '\n':
		s.down()
		return 1
	case '\x1b':
		return s.sequence(text)
	}
	if !utf8.FullRune(text) {
		return 0
	}
	r, n := utf8.DecodeRune(text)
	if r < ' ' {
		s.fault("control character %q", r)
		return n
	}
	s.put(r)
	return n
}

func (s *Screen) sequence(text []byte) int {
	end := 2
	for end < len(text) && (text[end] < '@' || text[end] > '~') {
		end++
	}
	if end >= len(text) {
		return 0
	}
	count := 1
	switch name := string(text[:end+1]); {
	case name == "\x1b[?7l" || name == "\x1b[?7h":
		s.noWrap = name == "\x1b[?7l"
	case name == "\x1b[J":
		s.line().cells = s.line().cells[:min(s.column, len(s.line().cells))]
		s.lines = s.lines[:s.row+1]
		s.line().wrapped = false
	case text[end] == 'm':
	case text[end] == 'A':
		_, _ = fmt.Sscanf(name, "\x1b[%dA", &count)
		s.row = max(s.row-count, s.top())
	default:
		s.fault("unknown sequence %q", name)
	}
	return end + 1
}

func (s *Screen) line() *line { return &s.lines[s.row] }

// top is the first line that is on the screen: the cursor cannot go beyond.
func (s *Screen) top() int { return max(len(s.lines)-s.rows, 0) }

func (s *Screen) down() {
	s.row++
	if s.row == len(s.lines) {
		s.lines = append(s.lines, line{})
	}
}

func (s *Screen) put(r rune) {
	w := width(r)
	if w == 0 {
		return
	}
	if s.column+w > s.columns {
		if s.noWrap {
			s.fault("cut off at %d columns: %q", s.columns, s.line().text())
			return
		}
		s.fault("wrapped at %d columns: %q", s.columns, s.line().text())
		s.line().wrapped = true
		s.down()
		s.column = 0
	}
	l := s.line()
	for len(l.cells) < s.column+w {
		l.cells = append(l.cells, ' ')
	}
	l.cells[s.column] = r
	if w == 2 {
		l.cells[s.column+1] = 0
	}
	s.column += w
}

// width is how many columns a character takes.
func width(r rune) int {
	switch {
	case r >= 0x300 && r < 0x370 || r == 0x200d || r == 0xfe0f:
		return 0
	case r >= 0x1100 && r < 0x1160, r >= 0x2e80 && r < 0xa4d0, r >= 0xac00 && r < 0xd7a4, r >= 0xff00 && r < 0xff61, r >= 0x1f300 &&
		r < 0x1fb00:
		return 2
	}
	return 1
}

// Resize changes the window. What was one line before it wrapped is one line again, as far as
// it fits.
func (s *Screen) Resize(columns, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, row := s.lines, s.row
	s.lines, s.columns, s.rows = nil, columns, rows
	for i := 0; i < len(old); i++ {
		whole := old[i].cells
		for here := i == row; ; i++ {
			if i == row || here {
				s.row, here = len(s.lines), false
			}
			if !old[i].wrapped || i+1 == len(old) {
				break
			}
			whole = append(whole, old[i+1].cells...)
		}
		for {
			n := min(len(whole), columns)
			if n < len(whole) && whole[n] == 0 {
				n-- // a wide character does not fit
			}
			s.lines = append(s.lines, line{cells: whole[:n:n], wrapped: n < len(whole)})
			if whole = whole[n:]; len(whole) == 0 {
				break
			}
		}
	}
	s.column = min(s.column, columns)
}
