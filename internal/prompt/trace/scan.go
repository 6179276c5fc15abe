package trace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// lineAt is where a line begins and when it is due, on the clock of its trace.
type lineAt struct {
	offset int64
	due    time.Duration
}

func byTime(a, b lineAt) int { return cmp.Compare(a.due, b.due) }

const (
	// blockBytes are read at a time, and shared out among all cores.
	blockBytes = 32 << 20
	// mostLine bounds a line.
	mostLine = 1 << 24
	// sortedAhead lines are put in the order of their times before the first of them is played: a line that stands
	// further from its place ends the run.
	sortedAhead = 1 << 20
)

// scanner reads where the lines of a file begin and when they are due, from a place on.
type scanner struct {
	file   *os.File
	form   requestForm
	size   int   // bytes that are read at a time
	at     int64 // next byte
	failed int   // requests that were recorded as failures
	buf    []byte
}

// lineError is a fault of a line that begins at an offset.
type lineError struct {
	offset int64
	err    error
}

func (e *lineError) Error() string { return e.err.Error() }

// next gives the lines of the next block, in the order of the file; io.EOF: there are no more.
func (s *scanner) next() ([]lineAt, error) {
	if s.buf == nil {
		info, err := s.file.Stat()
		if err != nil {
			return nil, err
		}
		s.buf = make([]byte, min(int64(s.size), max(info.Size()-s.at, 0)+1))
	}
	n, err := s.file.ReadAt(s.buf, s.at)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	text, last := s.buf[:n], err != nil
	if n == 0 {
		return nil, io.EOF
	}
	if !last {
		end := bytes.LastIndexByte(text, '\n')
		if end < 0 {
			return nil, &lineError{s.at, errors.New("is longer than 16 MiB")}
		}
		text = text[:end+1]
	}
	parts := split(text, max(min(runtime.GOMAXPROCS(0), len(text)>>16), 1))
	var all sync.WaitGroup
	for i := range parts {
		p := &parts[i]
		p.at += s.at
		all.Go(func() { p.err = p.scan(&s.form) })
	}
	all.Wait()
	var rows []lineAt
	for i := range parts {
		rows = append(rows, parts[i].rows...)
		s.failed += parts[i].failed
		if parts[i].err != nil {
			return rows, parts[i].err
		}
	}
	s.at += int64(len(text))
	return rows, nil
}

// blockPart is a part of a block: whole lines.
type blockPart struct {
	text   []byte
	at     int64 // of the file
	rows   []lineAt
	failed int
	err    error
}

// split cuts a block into about equal parts, behind ends of lines.
func split(text []byte, n int) []blockPart {
	var parts []blockPart
	for from := 0; from < len(text); {
		to := min(from+len(text)/n+1, len(text))
		if end := bytes.IndexByte(text[to-1:], '\n'); end >= 0 {
			to += end
		} else {
			to = len(text)
		}
		parts = append(parts, blockPart{text: text[from:to], at: int64(from)})
		from = to
	}
	return parts
}

func (p *blockPart) scan(f *requestForm) error {
	text, at := p.text, p.at
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			end = len(text)
		}
		if err := p.line(f, bytes.TrimSpace(text[:end]), at); err != nil {
			return &lineError{at, err}
		}
		at += int64(end) + 1
		text = text[min(end+1, len(text)):]
	}
	return nil
}

// line takes a line, unless it names columns.
func (p *blockPart) line(f *requestForm, line []byte, at int64) error {
	switch {
	case len(line) == 0 || at == 0 && f.head:
		return nil
	case len(line) > mostLine:
		return errors.New("is longer than 16 MiB")
	case f.head: // a table is read as fast as its times are
		r, err := f.row(line)
		if r.failed {
			p.failed++
		} else if err == nil {
			p.rows = append(p.rows, lineAt{at, r.due})
		}
		return err
	}
	due, err := f.due(line)
	if err == nil {
		p.rows = append(p.rows, lineAt{at, due})
	}
	return err
}

// sorter gives lines in the order of their times, where none stands further than sortedAhead lines from its place.
type sorter struct {
	scanner
	pending []lineAt // in order
	done    bool     // all have been read
	last    time.Duration
	ahead   int
}

// next gives the next lines, at least one; io.EOF: there are no more.
func (s *sorter) next() ([]lineAt, error) {
	for !s.done && len(s.pending) < 2*s.ahead {
		rows, err := s.scanner.next()
		s.pending = append(s.pending, rows...)
		if errors.Is(err, io.EOF) {
			s.done = true
		} else if err != nil {
			return nil, err
		}
	}
	if !slices.IsSortedFunc(s.pending, byTime) {
		slices.SortStableFunc(s.pending, byTime)
	}
	if len(s.pending) == 0 {
		return nil, io.EOF
	}
	if first := s.pending[0]; first.due < s.last {
		return nil, &lineError{first.offset, fmt.Errorf(
			"is due %v before a line that has been played: of a trace this long, lines are put in order %d ahead, so sort the file", s.last-first.due, s.ahead)}
	}
	n := len(s.pending)
	if !s.done {
		n -= s.ahead
	}
	out := s.pending[:n:n]
	s.pending = append([]lineAt(nil), s.pending[n:]...)
	s.last = out[n-1].due
	return out, nil
}

// pace is when what was recorded is played: the window, the pauses and the speed that a plan asks for.
type pace struct {
	plan.Trace
	begun       bool
	now, before time.Duration
}

// speed is a factor.
func (p *pace) speed() float64 {
	if p.Speed == 0 {
		return 1
	}
	return p.Speed
}

// within reports whether a moment is in the window, which is counted from the first of the trace; more: later ones may be.
func (p *pace) within(at, first time.Duration) (in, more bool) {
	at -= first
	return at >= time.Duration(p.From) && (p.To == 0 || at < time.Duration(p.To)), p.To == 0 || at < time.Duration(p.To)
}

// play is when a moment of the window comes, counted from the first. They are given in order.
func (p *pace) play(at time.Duration) time.Duration {
	if p.begun {
		p.now += p.wait(at - p.before)
	}
	p.begun, p.before = true, at
	return p.scale(p.now)
}

// wait is a recorded pause, shortened.
func (p *pace) wait(pause time.Duration) time.Duration {
	if most := time.Duration(p.CapGaps); most > 0 {
		return min(pause, most)
	}
	return pause
}

func (p *pace) scale(d time.Duration) time.Duration {
	if s := p.speed(); s != 1 {
		return time.Duration(float64(d) / s)
	}
	return d
}
