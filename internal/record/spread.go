package record

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"
	"time"
)

// Spread gives the file's requests to several goroutines, as far as they go: each request to one
// of them. What each is given has the order of the file, but for those that were under way where a
// file ends: the first gets them, when the others are done. Where there is one alone, Spread is
// Requests.
func (f File) Spread(to []func(*Record)) error {
	if len(to) == 1 {
		return f.Requests(func(rec *Record) error { to[0](rec); return nil })
	}
	for _, path := range append([]string{f.Path}, f.Also...) {
		one := f
		one.Path = path
		if err := one.spread(to); err != nil {
			return err
		}
	}
	return nil
}

// spreader hands the lines of a file to several goroutines, which find the requests in them.
type spreader struct {
	file    File
	batches chan batch
	buffers sync.Pool

	mu     sync.Mutex
	fault  error         // why the first line cannot be read of those that cannot
	at     int           // its number
	latest time.Duration // end of a request
}

// batch is lines of a file, one after the other.
type batch struct {
	lines []byte
	first int // number of the first of them
}

func (f File) spread(to []func(*Record)) error {
	r, err := f.open("")
	if err != nil {
		return err
	}
	defer r.Close()
	s := &spreader{file: f, batches: make(chan batch, len(to))}
	var readers sync.WaitGroup
	for _, add := range to {
		readers.Go(func() { s.read(add) })
	}
	headed, end := s.deal(r)
	close(s.batches)
	readers.Wait()
	if s.fault != nil { // in a line before the one that has ended it
		end = s.fault
	}
	if _, _, err := f.ended(Line{}, end, headed); err != nil {
		return err
	}
	r.open.at = max(r.open.at, s.latest)
	r.open.finish()
	for rec, ok := r.open.next(end); ok; rec, ok = r.open.next(end) {
		if f.Edit != nil {
			f.Edit(&Line{Request: rec})
		}
		to[0](rec)
	}
	return nil
}

// deal goes through the lines of a file, and says what ended it: it reads those that are about no
// finished request, and hands all of them on.
func (s *spreader) deal(r *Reader) (headed bool, end error) {
	handed := 0 // lines
	hand := func(lines []byte) {
		s.batches <- batch{lines, handed + 1}
		handed = r.lineNumber
	}
	r.spare = func(lines []byte) []byte {
		hand(lines)
		if b, ok := s.buffers.Get().(*[]byte); ok {
			return (*b)[:0]
		}
		return make([]byte, 0, readBytes)
	}
	first, err := r.next()
	if err != nil || first.Header == nil {
		return false, err
	}
	defer func() { hand(r.buf[:r.start]) }()
	for {
		text, err := r.line()
		if err != nil {
			return true, err
		}
		if seq, ok := sequence(text); ok {
			r.open.end(seq, 0)
		} else if _, err := r.parse(text); err != nil {
			return true, fmt.Errorf("line %d: %w", r.lineNumber, err)
		}
	}
}

// sequence is the number of a request, from the beginning of its line.
func sequence(line []byte) (int64, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"kind":"request","seq":`))
	if !ok {
		return 0, false
	}
	digits, _, _ := bytes.Cut(rest, []byte(","))
	n, err := strconv.ParseInt(string(digits), 10, 64)
	return n, err == nil
}

// read gives the requests among the lines that it is handed to add.
func (s *spreader) read(add func(*Record)) {
	p := parser{bounds: s.file.Bounds}
	p.lines.most = s.file.Most
	for b := range s.batches {
		n := b.first
		for rest := b.lines; len(rest) > 0; n++ {
			var text []byte
			text, rest, _ = bytes.Cut(rest, []byte("\n"))
			if kind, _ := kindOf(text); kind != kindRequest {
				continue
			}
			line, err := p.parse(text)
			if err != nil {
				s.failed(n, err)
				break
			}
			if s.file.Edit != nil {
				s.file.Edit(&line)
			}
			add(line.Request)
		}
		s.buffers.Put(&b.lines)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = max(s.latest, p.open.at)
}

// failed notes that a line cannot be read.
func (s *spreader) failed(line int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil || line < s.at {
		s.fault, s.at = fmt.Errorf("line %d: %w", line, err), line
	}
}
