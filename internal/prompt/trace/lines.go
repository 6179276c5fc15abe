package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/blocktext"
)

// Lines plays the requests of a trace, a line each and none of them after another, at the times that they have there.
// The file may be larger than memory: it is read as it is played. What is kept is where the next few lines begin and
// when they are due; the rest of a line is read when its request is made.
type Lines struct {
	prompt.RestartPerStage
	file   *os.File
	data   plan.Data
	form   requestForm
	tok    prompt.Tokenizer
	maker  *blocktext.Composer
	output *prompt.Lengths
	ahead  int // lines that are put in order
	block  int // bytes that are read at a time

	begin int64         // where the window begins, or a little before
	first time.Duration // of the whole trace
	head  []lineAt      // the first of the window, which are kept
	whole int           // requests of the window, where they were all read at the beginning; else 0

	pages   atomic.Pointer[pages]
	reading atomic.Bool // the next page is being read ahead of its time
	mu      sync.Mutex  // of what follows
	sorter  *sorter
	pace    pace
}

// pages are the lines that are known, in the order of their times.
type pages struct {
	list  []page
	total uint64 // lines up to here
	all   bool   // there are no more
}

// page is a run of lines, the first of which has that place.
type page struct {
	first uint64
	rows  []lineAt
}

const (
	// mostChecked lines are read in full before the first request; those behind them when it is their turn.
	mostChecked = 20_000
	keptRows    = 4096 // of the beginning
	keptPages   = 3
)

func newLines(d plan.Data, tok prompt.Tokenizer, seed uint64, l layout, texts prompt.Factory) (prompt.Source, error) {
	file, err := os.Open(d.File)
	if err != nil {
		return nil, plan.Faults{{Path: "data.file", Text: err.Error()}}
	}
	t := &Lines{file: file, data: d, tok: tok, ahead: sortedAhead, block: blockBytes}
	t.output = prompt.NewLengths(d.Output, prompt.Mix(seed^'o'))
	if t.maker, err = blocktext.NewComposer(tok, texts, seed, l.block > 0); err == nil {
		err = t.open(l)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	runtime.AddCleanup(t, func(f *os.File) { f.Close() }, file)
	return t, nil
}

func (t *Lines) open(l layout) error {
	head := make([]byte, 1<<16)
	n, err := t.file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return plan.Faults{{Path: "data.file", Text: err.Error()}}
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	t.form = formOf(l, string(line))
	t.rewind()
	rows, err := t.sorter.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return t.fault(err)
	}
	if len(rows) > 0 {
		t.first = rows[0].due
	}
	if t.data.Trace.From > 0 && !t.sorter.done {
		if t.begin, err = t.seek(t.first+time.Duration(t.data.Trace.From), rows); err != nil {
			return t.fault(err)
		}
		t.rewind()
	} else {
		t.sorter.pending, t.sorter.last = append(rows, t.sorter.pending...), 0
	}
	if _, ok, err := t.line(0); err != nil || !ok {
		if err == nil {
			err = plan.Faults{{Path: "data.trace", Text: t.data.File + " has no requests there", Hint: "widen the window, or name another file"}}
		}
		return t.fault(err)
	}
	known := t.pages.Load()
	t.head = known.list[0].rows[:min(keptRows, len(known.list[0].rows))]
	if known.all {
		t.whole = int(known.total)
	}
	for _, l := range known.list[0].rows[:min(mostChecked, len(known.list[0].rows))] {
		if _, err := t.request(l); err != nil {
			return t.fault(err)
		}
	}
	return nil
}

// rewind begins again at the beginning of the window. Of what was read nothing is left.
func (t *Lines) rewind() {
	t.sorter = &sorter{scanner: scanner{file: t.file, form: t.form, size: t.block, at: t.begin}, ahead: t.ahead}
	t.pace = pace{Trace: t.data.Trace}
	t.pages.Store(&pages{})
}

// seek finds a line from which on those of a time are found, in a trace that is in order but for some lines. first are
// its first lines.
func (t *Lines) seek(at time.Duration, first []lineAt) (int64, error) {
	info, err := t.file.Stat()
	if err != nil {
		return 0, err
	}
	one := scanner{file: t.file, form: t.form, buf: make([]byte, min(t.block, 2*mostLine))}
	low, high := int64(0), info.Size() // the first line that is due then begins between them
	for high-low > int64(t.block) {
		middle := low + (high-low)/2
		line, due, err := one.lineAfter(middle)
		switch {
		case err != nil:
			return 0, err
		case line >= high || due >= at:
			high = middle
		default:
			low = line
		}
	}
	last := first[len(first)-1]
	back := low - last.offset/int64(len(first))*int64(t.ahead)
	if back <= 0 {
		return 0, nil
	}
	line, _, err := one.lineAfter(back)
	return line, err
}

// lineAfter is the first line that begins behind a place, and when it is due.
func (s *scanner) lineAfter(at int64) (int64, time.Duration, error) {
	n, err := s.file.ReadAt(s.buf, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, 0, err
	}
	text := s.buf[:n]
	for from := 0; ; {
		end := bytes.IndexByte(text[from:], '\n')
		if end < 0 {
			return at + int64(n), 0, nil
		}
		from += end + 1
		line, _, whole := bytes.Cut(text[from:], []byte("\n"))
		if line = bytes.TrimSpace(line); len(line) == 0 && whole {
			continue
		}
		if len(line) == 0 {
			return at + int64(n), 0, nil
		}
		due, err := s.form.due(line)
		if err != nil {
			return 0, 0, &lineError{at + int64(from), err}
		}
		return at + int64(from), due, nil
	}
}

// line is the i-th line of the window, and when it is played; false: there are fewer.
func (t *Lines) line(i uint64) (lineAt, bool, error) {
	if i < uint64(len(t.head)) {
		return t.head[i], true, nil
	}
	for {
		known := t.pages.Load()
		for k := len(known.list) - 1; k >= 0; k-- {
			if p := &known.list[k]; i >= p.first && i-p.first < uint64(len(p.rows)) {
				t.readAhead(known, k, i)
				return p.rows[i-p.first], true, nil
			}
		}
		if known.all && i >= known.total {
			return lineAt{}, false, nil
		}
		if err := t.reach(i); err != nil {
			return lineAt{}, false, err
		}
	}
}

// readAhead reads the next page when the last is half played, so that nobody waits for it.
func (t *Lines) readAhead(known *pages, k int, i uint64) {
	last := &known.list[k]
	if known.all || k+1 < len(known.list) || i-last.first < uint64(len(last.rows)/2) || !t.reading.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer t.reading.Store(false)
		_ = t.reach(known.total) // who needs the page finds the fault again
	}()
}

// reach reads up to a line that is not known.
func (t *Lines) reach(i uint64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.pages.Load()
	if len(known.list) > 0 && i < known.list[0].first {
		t.rewind()
		known = t.pages.Load()
	}
	for !known.all && i >= known.total {
		more, err := t.read(known)
		if err != nil {
			return err
		}
		t.pages.Store(more)
		known = more
	}
	return nil
}

// read reads a page more.
func (t *Lines) read(known *pages) (*pages, error) {
	next := &pages{list: known.list[max(len(known.list)-keptPages+1, 0):], total: known.total}
	rows, err := t.sorter.next()
	if errors.Is(err, io.EOF) {
		next.all = true
		return next, nil
	}
	if err != nil {
		return nil, err
	}
	next.all = t.sorter.done && len(t.sorter.pending) == 0
	p := page{first: known.total, rows: rows[:0]}
	for _, l := range rows {
		in, more := t.pace.within(l.due, t.first)
		if !more {
			next.all = true
			break
		}
		if in {
			p.rows = append(p.rows, lineAt{l.offset, t.pace.play(l.due)})
		}
	}
	if len(p.rows) > 0 {
		next.list, next.total = append(next.list[:len(next.list):len(next.list)], p), known.total+uint64(len(p.rows))
	}
	return next, nil
}

// request reads the whole of a line.
func (t *Lines) request(l lineAt) (request, error) {
	for size := 1 << 12; ; size *= 8 {
		buf := make([]byte, size)
		n, err := t.file.ReadAt(buf, l.offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return request{}, err
		}
		end := bytes.IndexByte(buf[:n], '\n')
		if end < 0 && err == nil && size < mostLine {
			continue
		}
		if end < 0 {
			end = n
		}
		r, err := t.form.row(bytes.TrimSpace(bytes.TrimPrefix(buf[:end], []byte("\ufeff"))))
		if err == nil && len(r.hashes) > 0 {
			err = r.fits(t.form.block)
		}
		if err != nil {
			err = &lineError{l.offset, err}
		}
		return r, err
	}
}

// fault tells what is wrong with a line with its number.
func (t *Lines) fault(err error) error {
	var at *lineError
	if !errors.As(err, &at) {
		return err
	}
	number := 1
	in := io.NewSectionReader(t.file, 0, at.offset)
	buf := make([]byte, 1<<16)
	for {
		n, err := in.Read(buf)
		number += bytes.Count(buf[:n], []byte("\n"))
		if err != nil {
			break
		}
	}
	return plan.Faults{{
		Where: fmt.Sprintf("%s:%d", t.data.File, number), Text: at.Error(),
		Hint: "it is read as " + t.form.article() + " trace; --trace-format names another",
	}}
}

// Notes say what the file is taken for.
func (t *Lines) Notes() []string {
	text := fmt.Sprintf("%s is %s trace", t.data.File, t.form.article())
	if t.form.block > 0 {
		text += fmt.Sprintf(", in which a hash is a block of %d tokens", t.form.block)
	}
	if t.whole == 0 {
		return []string{text + ". It is read as it is played."}
	}
	span, _, _ := t.line(uint64(t.whole - 1))
	notes := []string{fmt.Sprintf("%s: %d requests in %s.", text, t.whole, plan.Duration(span.due.Round(time.Millisecond)))}
	if n := t.sorter.failed; n > 0 {
		notes = append(notes, fmt.Sprintf("%d of its requests have no tokens, which stands for a failure: they are left out.", n))
	}
	return notes
}

// Sessions implements prompt.Finite; 0: how many there are is not known.
func (t *Lines) Sessions() int { return t.whole }

// Schedule implements prompt.Scheduler.
func (t *Lines) Schedule() prompt.Moments {
	i := uint64(0)
	return func() (time.Duration, bool) {
		l, ok, err := t.line(i)
		if err != nil || !ok { // who makes the prompt tells what is wrong
			return 0, false
		}
		i++
		return l.due, true
	}
}

// Prompt implements prompt.Source. It never ends: the trace begins again.
func (t *Lines) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	i := at.I
	l, ok, err := t.line(i)
	if !ok && err == nil {
		i %= t.pages.Load().total
		l, _, err = t.line(i)
	}
	var r request
	if err == nil {
		r, err = t.request(l)
	}
	if err != nil {
		return prompt.Prompt{}, t.fault(err)
	}
	p := prompt.Prompt{Text: r.text, Output: r.output, Session: strings.TrimSpace(r.session)}
	if p.Output == 0 {
		p.Output = t.output.At(i)
	}
	if r.text != "" {
		p.Measure(t.tok)
		return p, nil
	}
	if p.Text, err = t.maker.Text(r.coded(t.form.block, i+1)); err != nil {
		return p, err
	}
	p.Tokens, p.Hash = r.input, prompt.HashText(p.Text)
	return p, nil
}
