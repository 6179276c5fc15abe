// Package sse splits the body of a response into server-sent events, as the HTML
// standard frames them: lines end in CR LF, LF or CR; a blank line ends an event;
// lines of data are joined by a newline; one space after the colon is not part of
// a value; a line that begins with a colon is a comment; a byte-order mark at the
// start is skipped.
//
// It works on the whole body after the response has ended, so an event is the same
// however the network cut it up. Two things go beyond the standard, because an
// instrument wants to know of them: blocks without data (comments, keep-alives) are
// returned, and so is a last event that the body ends in the middle of.
package sse

import "bytes"

// Event is one block of lines. Its slices point into the body, but for joined data.
type Event struct {
	Type  []byte // value of the last event field; nil when there was none
	ID    []byte // value of the last id field; nil when there was none
	Retry []byte // value of the last retry field, when it is a number; else nil
	Data  []byte // lines of data, joined by "\n"

	HasData bool // there was a data field, even if it was empty
	Comment bool // there was a comment
	// Joined: Data came from several lines. It is a copy, valid until the next event.
	Joined bool
	// Unterminated: the body ended before the blank line.
	Unterminated bool

	Start int // offset of the block's first byte in the body
	// End is the offset just after the byte that completes the event: the line
	// ending of its blank line. Where that is CR LF, the LF belongs to it.
	End int
}

// Scanner yields the events of a body. Its zero value is ready for Reset.
type Scanner struct {
	body []byte
	pos  int
	// Offsets of the next LF and CR at or after pos, or len(body): no byte is searched twice.
	lf, cr int
	joined []byte
}

// Reset makes the scanner start at the beginning of body. It keeps its buffer.
func (s *Scanner) Reset(body []byte) {
	s.body, s.pos, s.lf, s.cr = body, 0, -1, -1
	if bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) {
		s.pos = 3
	}
}

// Next writes the next event into e and reports whether there was one.
func (s *Scanner) Next(e *Event) bool {
	s.skipBlank()
	if s.pos >= len(s.body) {
		return false
	}
	*e = Event{Start: s.pos}
	for s.pos < len(s.body) {
		line, terminated := s.line()
		if len(line) == 0 && terminated {
			e.End = s.pos
			return true
		}
		s.field(e, line)
	}
	e.Unterminated = true
	e.End = s.pos
	return true
}

// skipBlank skips line endings in front of a block.
func (s *Scanner) skipBlank() {
	for s.pos < len(s.body) && (s.body[s.pos] == '\n' || s.body[s.pos] == '\r') {
		s.pos++
	}
}

// line takes the next line, without its ending. The last one may have none.
func (s *Scanner) line() (line []byte, terminated bool) {
	start := s.pos
	switch {
	case s.lf >= start:
	case start < len(s.body) && s.body[start] == '\n': // every other line is blank
		s.lf = start
	default:
		s.lf = s.find('\n')
	}
	if s.cr < start {
		s.cr = s.find('\r')
	}
	end := min(s.lf, s.cr)
	line = s.body[start:end]
	if end == len(s.body) {
		s.pos = end
		return line, false
	}
	s.pos = end + 1
	if end == s.cr && s.pos < len(s.body) && s.body[s.pos] == '\n' {
		s.pos++
	}
	return line, true
}

// find is the offset of the first c at or after pos.
func (s *Scanner) find(c byte) int {
	if i := bytes.IndexByte(s.body[s.pos:], c); i >= 0 {
		return s.pos + i
	}
	return len(s.body)
}

// field takes a line that is not blank into e.
func (s *Scanner) field(e *Event, line []byte) {
	if len(line) > 5 && string(line[:5]) == "data:" { // nearly all lines
		s.data(e, trimSpace(line[5:]))
		return
	}
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = trimSpace(value)
	switch string(name) {
	case "":
		e.Comment = true
	case "data":
		s.data(e, value)
	case "event":
		e.Type = value
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			e.ID = value
		}
	case "retry":
		if isNumber(value) {
			e.Retry = value
		}
	}
}

func (s *Scanner) data(e *Event, value []byte) {
	switch {
	case !e.HasData:
		e.HasData, e.Data = true, value
		return
	case !e.Joined:
		e.Joined = true
		s.joined = append(s.joined[:0], e.Data...)
	}
	s.joined = append(s.joined, '\n')
	s.joined = append(s.joined, value...)
	e.Data = s.joined
}

// trimSpace removes the one space that may stand before a value.
func trimSpace(b []byte) []byte {
	if len(b) > 0 && b[0] == ' ' {
		return b[1:]
	}
	return b
}

func isNumber(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}
