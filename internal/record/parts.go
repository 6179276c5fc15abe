package record

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Spread has the requests of a file read by several goroutines, in parts of some hundred of them that stand
// one after the other. A read is told which of the goroutines it is on. What is made of each part is handed to
// then, in the order of the file, by one goroutine. The requests that were under way where a file ends are a
// part of their own, which the first goroutine reads when the others are done.
func Spread[T any](f File, goroutines int, read func(i int, requests iter.Seq[*Record]) (T, error), then func(T) error) error {
	return inParts(f, readBytes, goroutines, read, then)
}

// InParts is Spread on all cores, with parts of about so many bytes of lines.
func InParts[T any](f File, bytes int, read func(requests iter.Seq[*Record]) (T, error), then func(T) error) error {
	return inParts(f, bytes, runtime.GOMAXPROCS(0), func(_ int, requests iter.Seq[*Record]) (T, error) { return read(requests) }, then)
}

func inParts[T any](f File, bytes, n int, read func(i int, requests iter.Seq[*Record]) (T, error), then func(T) error) error {
	for _, path := range append([]string{f.Path}, f.Also...) {
		one := f
		one.Path = path
		if err := fileInParts(one, bytes, n, read, then); err != nil {
			return err
		}
	}
	return nil
}

// part is lines of a file, one after the other.
type part[T any] struct {
	lines []byte
	first int    // number of the first of them
	made  chan T // of its requests
	err   error  // why nothing is
	panic string // what read has panicked with, and where; empty: it has not
}

// dealer takes a file apart.
type dealer[T any] struct {
	file    File
	reader  *Reader
	order   chan *part[T] // as they stand in the file
	todo    chan *part[T] // the same, to be read
	stop    chan struct{} // nobody wants more
	stopped bool
	buffers sync.Pool
	dealt   int   // lines
	headed  bool  // the header was read
	end     error // what ended the file

	mu     sync.Mutex
	latest time.Duration // end of a request
}

func fileInParts[T any](f File, bytes, n int, read func(int, iter.Seq[*Record]) (T, error), then func(T) error) error {
	r, err := f.open("")
	if err != nil {
		return err
	}
	defer r.Close()
	d := &dealer[T]{file: f, reader: r, order: make(chan *part[T], n), todo: make(chan *part[T]), stop: make(chan struct{})}
	r.atOnce, r.spare = bytes, d.spare
	var running sync.WaitGroup
	running.Go(d.deal)
	for i := range n {
		running.Go(func() {
			d.read(func(requests iter.Seq[*Record]) (T, error) { return read(i, requests) })
		})
	}
	panicked := ""
	for p := range d.order {
		made, ok := <-p.made
		switch {
		case err != nil || panicked != "":
			continue
		case ok:
			err = then(made)
		default:
			err, panicked = p.err, p.panic
		}
		if err != nil || panicked != "" {
			close(d.stop)
		}
	}
	running.Wait()
	switch {
	case panicked != "": // here, where who called can recover from it
		panic(panicked)
	case err != nil:
		return err
	}
	if _, _, err := f.ended(Line{}, d.end, d.headed); err != nil {
		return err
	}
	left := d.left()
	if len(left) == 0 {
		return nil
	}
	made, err := read(0, slices.Values(left))
	if err != nil {
		return err
	}
	return then(made)
}

// deal goes through the lines of the file: it reads those that are about no finished request, and hands
// on all of them.
func (d *dealer[T]) deal() {
	defer close(d.todo)
	defer close(d.order)
	r := d.reader
	first, err := r.next()
	if d.end, d.headed = err, err == nil && first.Header != nil; !d.headed {
		return
	}
	for !d.stopped {
		text, err := r.line()
		if err != nil {
			d.end = err
			break
		}
		if seq, ok := sequence(text); ok {
			r.open.end(seq, 0)
		} else if _, err := r.parse(text); err != nil {
			d.end = fmt.Errorf("line %d: %w", r.lineNumber, err)
			break
		}
	}
	d.hand(r.buf[:r.start])
}

// spare hands lines on, and gives a buffer for others.
func (d *dealer[T]) spare(lines []byte) []byte {
	d.hand(lines)
	if b, ok := d.buffers.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return make([]byte, 0, d.reader.atOnce)
}

func (d *dealer[T]) hand(lines []byte) {
	if d.stopped {
		return
	}
	p := &part[T]{lines: lines, first: d.dealt + 1, made: make(chan T, 1)}
	select {
	case d.order <- p:
		d.dealt = d.reader.lineNumber
		d.todo <- p
	case <-d.stop:
		d.stopped = true
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

// read has parts read, one after the other.
func (d *dealer[T]) read(read func(iter.Seq[*Record]) (T, error)) {
	in := parser{bounds: d.file.Bounds}
	in.lines.most = d.file.Most
	for p := range d.todo {
		d.readPart(&in, p, read)
		d.buffers.Put(&p.lines)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.latest = max(d.latest, in.open.at)
}

func (d *dealer[T]) readPart(in *parser, p *part[T], read func(iter.Seq[*Record]) (T, error)) {
	defer close(p.made)
	defer func() {
		if v := recover(); v != nil {
			p.panic = fmt.Sprintf("%v\n%s", v, debug.Stack())
		}
	}()
	made, err := read(func(yield func(*Record) bool) { p.err = d.requests(in, p, yield) })
	if p.err = cmp.Or(p.err, err); p.err == nil {
		p.made <- made
	}
}

// requests gives the requests of a part, up to a line that cannot be read.
func (d *dealer[T]) requests(in *parser, p *part[T], yield func(*Record) bool) error {
	rest := p.lines
	for n := p.first; len(rest) > 0; n++ {
		var text []byte
		text, rest, _ = bytes.Cut(rest, []byte("\n"))
		if kind, _ := kindOf(text); kind != kindRequest { // of others the dealer knows
			continue
		}
		line, err := in.parse(text)
		if err != nil {
			return fmt.Errorf("%s: line %d: %w", d.file.Path, n, err)
		}
		if d.file.Edit != nil {
			edited := line // what is pointed at needs memory of its own
			d.file.Edit(&edited)
			line = edited
		}
		if !yield(line.Request) {
			return nil
		}
	}
	return nil
}

// left are the requests that were under way where the file ends.
func (d *dealer[T]) left() []*Record {
	o := &d.reader.open
	o.at = max(o.at, d.latest)
	o.finish()
	var left []*Record
	for rec, ok := o.next(d.end); ok; rec, ok = o.next(d.end) {
		if d.file.Edit != nil {
			d.file.Edit(&Line{Request: rec})
		}
		left = append(left, rec)
	}
	return left
}
