package sessions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
)

// Trace plays the requests of a trace, a line each and none of them after another, at the times that they have there.
// Of a file that may be larger than memory it keeps where each line begins and when it is due; the rest is read when
// the request is made.
type Trace struct {
	prompt.RestartPerStage
	file   *os.File
	data   plan.Data
	form   traceForm
	tok    prompt.Tokenizer
	writer *writer
	output *prompt.Lengths
	rows   []traceLine // in the order of their times
	failed int
}

// traceLine is where a line begins and, counted from the first request, when it is due.
type traceLine struct {
	offset int64
	due    time.Duration
}

const (
	// mostChecked lines are read in full before the first request; those behind them when it is their turn.
	mostChecked = 20_000
	// mostTraceLine bounds a line.
	mostTraceLine = 1 << 24
	firstLines    = 20 // tell the format
)

// NewTrace reads the trace that d names. What is wrong with it is returned as plan.Faults.
func NewTrace(d plan.Data, tok prompt.Tokenizer, seed uint64, texts prompt.Factory) (*Trace, error) {
	file, err := os.Open(d.File)
	if err != nil {
		return nil, plan.Faults{{Path: "data.file", Text: err.Error(), Hint: "it must be a readable trace"}}
	}
	t := &Trace{file: file, data: d, tok: tok, output: prompt.NewLengths(d.Output, prompt.Mix(seed^'o'))}
	if err = t.open(seed, texts); err != nil {
		file.Close()
		return nil, err
	}
	runtime.AddCleanup(t, func(f *os.File) { f.Close() }, file)
	return t, nil
}

func (t *Trace) open(seed uint64, texts prompt.Factory) error {
	lines, err := t.firstLines()
	if err != nil {
		return err
	}
	if t.form, err = recogniseTrace(t.data.Trace.Format, lines); err != nil {
		return plan.Faults{{
			Where: t.data.File + ":1", Text: err.Error(),
			Hint: "mooncake, bailian, timed, burstgpt and azure are told by their fields or columns",
		}}
	}
	if err := t.index(); err != nil {
		return err
	}
	t.writer = &writer{tok: t.tok, texts: texts, seed: seed}
	if t.writer.lex, err = lexicon.New(t.tok); err != nil {
		return err
	}
	if err := t.check(); err != nil {
		return err
	}
	t.schedule()
	if len(t.rows) == 0 {
		return plan.Faults{{Path: "data.trace", Text: t.data.File + " has no requests there", Hint: "widen the window, or name another file"}}
	}
	return nil
}

// firstLines are those that tell the format.
func (t *Trace) firstLines() ([][]byte, error) {
	head := make([]byte, 1<<20)
	n, err := t.file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, plan.Faults{{Path: "data.file", Text: err.Error()}}
	}
	var list [][]byte
	for line := range bytes.Lines(bytes.TrimPrefix(head[:n], []byte("\ufeff"))) {
		whole := bytes.HasSuffix(line, []byte("\n")) || n < len(head)
		if line = bytes.TrimSpace(line); len(line) > 0 && (whole || len(list) == 0) {
			list = append(list, line)
		}
		if len(list) == firstLines {
			break
		}
	}
	return list, nil
}

// index finds where each line begins and when it is due, by all cores.
func (t *Trace) index() error {
	info, err := t.file.Stat()
	if err != nil {
		return plan.Faults{{Path: "data.file", Text: err.Error()}}
	}
	n := int64(runtime.GOMAXPROCS(0))
	const least = 1 << 22 // a part is no smaller
	n = max(min(n, info.Size()/least), 1)
	parts := make([]tracePart, n)
	var all sync.WaitGroup
	for i := range n {
		p := &parts[i]
		p.from, p.to = info.Size()*i/n, info.Size()*(i+1)/n
		all.Go(func() { p.err = p.scan(t) })
	}
	all.Wait()
	total := 0
	for i := range parts {
		if err := parts[i].err; err != nil {
			return t.fault(parts[i].bad, err)
		}
		total += len(parts[i].rows)
		t.failed += parts[i].failed
	}
	t.rows = make([]traceLine, 0, total)
	for i := range parts {
		t.rows = append(t.rows, parts[i].rows...)
		parts[i].rows = nil
	}
	byTime := func(a, b traceLine) int { return cmp.Compare(a.due, b.due) }
	if !slices.IsSortedFunc(t.rows, byTime) {
		slices.SortStableFunc(t.rows, byTime)
	}
	return nil
}

// tracePart is a part of the file: the lines that begin in it.
type tracePart struct {
	from, to int64
	rows     []traceLine
	failed   int   // requests, which are left out
	bad      int64 // where the line begins that has err
	err      error
}

func (p *tracePart) scan(t *Trace) error {
	buf := make([]byte, 1<<20)
	at, held := p.from, 0 // of the file, of buf
	if p.from > 0 {
		at-- // a line begins behind the end of another
	}
	skip := p.from > 0
	for {
		n, err := t.file.ReadAt(buf[held:], at+int64(held))
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		text, last := buf[:held+n], err != nil
		for {
			end := bytes.IndexByte(text, '\n')
			if end < 0 && !last {
				break
			}
			if end < 0 {
				end = len(text)
			}
			if !skip && at >= p.to {
				return nil
			}
			if err := p.line(t, bytes.TrimSpace(text[:end]), at, skip); err != nil {
				p.bad = at
				return err
			}
			skip = false
			at += int64(end) + 1
			if end == len(text) {
				return nil
			}
			text = text[end+1:]
		}
		if held = copy(buf, text); held == len(buf) {
			if len(buf) >= mostTraceLine {
				p.bad = at
				return errors.New("is longer than 16 MiB")
			}
			buf = append(buf, make([]byte, len(buf))...)
		}
	}
}

// line takes a line, unless it is the end of one that belongs to the part before, or names columns.
func (p *tracePart) line(t *Trace, line []byte, at int64, skip bool) error {
	if skip || len(line) == 0 || at == 0 && t.form.head {
		return nil
	}
	if t.form.head { // a table is read as fast as its times are
		r, err := t.form.row(line)
		if r.failed {
			p.failed++
		} else if err == nil {
			p.rows = append(p.rows, traceLine{at, r.due})
		}
		return err
	}
	due, err := t.form.due(line)
	if err != nil {
		return err
	}
	p.rows = append(p.rows, traceLine{at, due})
	return nil
}

// fault is what is wrong with the line that begins at an offset.
func (t *Trace) fault(offset int64, err error) error {
	number := 1
	in := io.NewSectionReader(t.file, 0, offset)
	buf := make([]byte, 1<<16)
	for {
		n, err := in.Read(buf)
		number += bytes.Count(buf[:n], []byte("\n"))
		if err != nil {
			break
		}
	}
	return plan.Faults{{Where: fmt.Sprintf("%s:%d", t.data.File, number), Text: err.Error(), Hint: "it is read as a " + t.form.name + " trace; --trace-format names another"}}
}

// check reads the first lines in full.
func (t *Trace) check() error {
	for _, l := range t.rows[:min(len(t.rows), mostChecked)] {
		if _, err := t.row(l); err != nil {
			return t.fault(l.offset, err)
		}
	}
	return nil
}

// schedule picks the requests of the window, and counts their times from the first of them at the speed of the plan.
func (t *Trace) schedule() {
	w := t.data.Trace
	if len(t.rows) == 0 {
		return
	}
	first := t.rows[0].due
	from, _ := slices.BinarySearchFunc(t.rows, first+time.Duration(w.From),
		func(l traceLine, at time.Duration) int { return cmp.Compare(l.due, at) })
	to := len(t.rows)
	if w.To > 0 {
		to, _ = slices.BinarySearchFunc(t.rows, first+time.Duration(w.To),
			func(l traceLine, at time.Duration) int { return cmp.Compare(l.due, at) })
	}
	t.rows = t.rows[from:max(from, to)]
	speed := w.Speed
	if speed == 0 {
		speed = 1
	}
	var now, before time.Duration
	for i := range t.rows {
		due := t.rows[i].due
		if i > 0 {
			gap := due - before
			if most := time.Duration(w.CapGaps); most > 0 {
				gap = min(gap, most)
			}
			now += gap
		}
		before = due
		t.rows[i].due = now
		if speed != 1 {
			t.rows[i].due = time.Duration(float64(now) / speed)
		}
	}
}

// row reads the line of a request.
func (t *Trace) row(l traceLine) (traceRow, error) {
	for size := 1 << 12; ; size *= 8 {
		buf := make([]byte, size)
		n, err := t.file.ReadAt(buf, l.offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return traceRow{}, err
		}
		end := bytes.IndexByte(buf[:n], '\n')
		if end < 0 && err == nil && size < mostTraceLine {
			continue
		}
		if end < 0 {
			end = n
		}
		r, err := t.form.row(bytes.TrimSpace(bytes.TrimPrefix(buf[:end], []byte("\ufeff"))))
		if err == nil && len(r.hashes) > 0 {
			err = (&coded{length: r.input, hashes: r.hashes, block: t.form.block}).fits()
		}
		return r, err
	}
}

// Notes say what the file is taken for.
func (t *Trace) Notes() []string {
	text := fmt.Sprintf("%s is a %s trace", t.data.File, t.form.name)
	if t.form.block > 0 {
		text += fmt.Sprintf(", in which a hash is a block of %d tokens", t.form.block)
	}
	span := t.rows[len(t.rows)-1].due
	notes := []string{fmt.Sprintf("%s: %d requests in %s.", text, len(t.rows), plan.Duration(span.Round(time.Millisecond)))}
	if t.failed > 0 {
		notes = append(notes, fmt.Sprintf("%d of its requests have no tokens, which stands for a failure: they are left out.", t.failed))
	}
	return notes
}

// Sessions implements prompt.Finite.
func (t *Trace) Sessions() int { return len(t.rows) }

// Schedule implements prompt.Scheduler.
func (t *Trace) Schedule() []time.Duration {
	list := make([]time.Duration, len(t.rows))
	for i := range t.rows {
		list[i] = t.rows[i].due
	}
	return list
}

// Prompt implements prompt.Source. It never ends: the trace begins again.
func (t *Trace) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	i := at.I % uint64(len(t.rows))
	r, err := t.row(t.rows[i])
	if err != nil {
		return prompt.Prompt{}, t.fault(t.rows[i].offset, err)
	}
	p := prompt.Prompt{Text: r.text, Output: r.output, Session: r.session}
	if p.Output == 0 {
		p.Output = t.output.At(i)
	}
	if r.text != "" {
		p.Measure(t.tok)
		return p, nil
	}
	return t.writer.fill(&turn{prompt: p, coded: &coded{length: r.input, number: i + 1, hashes: r.hashes, block: t.form.block}})
}
