package progress

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/lib/aside"
	"github.com/inferometer/inferometer/internal/report/screen"
)

// Mode is the kind of place that a display writes to.
type Mode int

// The modes of a display.
const (
	Quiet    Mode = iota // nothing is written
	Plain                // a line every few seconds
	Terminal             // a view that is drawn again in place
)

// How often a display writes unless it is told.
const (
	terminalEvery = 150 * time.Millisecond
	plainEvery    = 5 * time.Second
	// A plain display looks this often whether the stage or its phase is
	// another, which is worth a line at once.
	plainLook = 500 * time.Millisecond
)

// Options say how a display behaves.
type Options struct {
	Mode  Mode
	Color bool
	ASCII bool // the terminal may show no other characters
	// Size gives the columns and lines of the terminal; it is asked before each view, since a
	// window can be resized. Nil: 80 columns, and as many lines as it takes.
	Size func() (columns, lines int)
	// Cuts: the terminal cuts lines off where its window is made narrower, and does not wrap
	// them.
	Cuts  bool
	Every time.Duration // between views or lines; 0: the mode's usual
}

// Display shows a run while it goes on. Its methods may be called from any
// goroutine. Failed writes are ignored: a run does not end because nobody
// watches it. Nor does it where a snapshot cannot be taken or drawn: the display says
// so once, and shows no more of them.
type Display struct {
	w       io.Writer
	opts    Options
	watcher *aside.Watcher // takes snapshots and draws them

	mu       sync.Mutex // guards all below, and the order of writes
	snapshot func() Snapshot
	drawn    []int  // widths of the lines of the view on the screen
	failed   string // what is still to be said of why there is no view
	others   []*through
	last     Snapshot
	lastAt   time.Time
	quit     chan struct{}
	done     chan struct{}
}

// New gives a display that writes to w. It shows nothing before Start.
func New(w io.Writer, o Options) *Display {
	if o.Size == nil {
		o.Size = func() (int, int) { return 80, 0 }
	}
	if o.Every <= 0 {
		o.Every = plainEvery
		if o.Mode == Terminal {
			o.Every = terminalEvery
		}
	}
	d := &Display{w: w, opts: o}
	d.watcher = aside.New("The live view", func(text string) { d.failed = "warning: " + text + "\n" })
	return d
}

// Start shows what snapshot gives, now and then, until Stop. The snapshot is
// taken from another goroutine, one call at a time. A display that runs already
// goes on with the new one.
func (d *Display) Start(snapshot func() Snapshot) {
	if d.opts.Mode == Quiet {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.snapshot = snapshot
	if d.quit != nil {
		return
	}
	d.quit, d.done = make(chan struct{}), make(chan struct{})
	d.lastAt = time.Time{}
	go d.loop(d.quit, d.done)
}

// Stop ends the display and takes the view off the screen. It returns when
// nothing more will be written. Stop without Start does nothing.
func (d *Display) Stop() {
	d.mu.Lock()
	quit, done := d.quit, d.done
	d.quit, d.done = nil, nil
	d.mu.Unlock()
	if quit == nil {
		return
	}
	close(quit)
	<-done
	d.mu.Lock()
	defer d.mu.Unlock()
	d.write(d.erase())
	for _, t := range d.others {
		t.release()
	}
}

// Print writes a line of text that stays: above the view on a terminal.
func (d *Display) Print(text string) {
	if d.opts.Mode == Quiet {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.erase() + strings.TrimRight(text, "\n") + "\n"
	if d.opts.Mode == Terminal && d.quit != nil {
		out += d.view()
	}
	d.write(out)
}

// Writer is a writer to w, which may lead to the same terminal: while a view is drawn it is
// taken away before each line and drawn again below it.
func (d *Display) Writer(w io.Writer) io.Writer {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := &through{display: d, to: w}
	d.others = append(d.others, t)
	return t
}

// through holds an unfinished line back while a view is drawn, which would stand behind it.
// The display's lock guards it.
type through struct {
	display *Display
	to      io.Writer
	held    []byte
}

// Write implements io.Writer.
func (t *through) Write(text []byte) (int, error) {
	d := t.display
	d.mu.Lock()
	defer d.mu.Unlock()
	drawing := d.opts.Mode == Terminal && d.quit != nil
	t.held = append(t.held, text...)
	if drawing && !bytes.ContainsRune(text, '\n') {
		return len(text), nil
	}
	d.write(d.erase())
	end := len(t.held)
	if drawing {
		end = bytes.LastIndexByte(t.held, '\n') + 1
	}
	_, err := t.to.Write(t.held[:end])
	t.held = append(t.held[:0], t.held[end:]...)
	if drawing {
		d.write(d.view())
	}
	if err != nil {
		return 0, err
	}
	return len(text), nil
}

func (t *through) release() {
	if len(t.held) > 0 {
		_, _ = t.to.Write(t.held)
		t.held = nil
	}
}

func (d *Display) loop(quit, done chan struct{}) {
	defer close(done)
	every := d.opts.Every
	if d.opts.Mode == Plain {
		every = min(every, plainLook)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		d.show()
		select {
		case <-quit:
			return
		case <-tick.C:
		}
	}
}

// show writes a view, or a line when one is due.
func (d *Display) show() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opts.Mode == Terminal {
		d.write(d.erase() + d.view())
		return
	}
	text := ""
	if !d.watcher.Do(func() { text = d.line() }) {
		text = d.excuse()
	}
	d.write(text)
}

// line is a line where one is due; empty: none is.
func (d *Display) line() string {
	s, now := d.snapshot(), time.Now()
	news := d.lastAt.IsZero() || s.Run != d.last.Run || s.Stage != d.last.Stage || s.Phase != d.last.Phase
	if !news && now.Sub(d.lastAt) < d.opts.Every {
		return ""
	}
	d.last, d.lastAt = s, now
	return Line(s) + "\n"
}

// excuse says why there is no view any more, once.
func (d *Display) excuse() string {
	text := d.failed
	d.failed = ""
	return text
}

// view gives the text of the next view and remembers its shape. The last column stays free: a
// character there makes some terminals start a new line. So does the last line, where the
// cursor is. Should the terminal take a character for wider than it is, its line is cut and not wrapped.
func (d *Display) view() string {
	columns, lines := d.opts.Size()
	if lines > 0 {
		lines = max(lines-1, 1)
	}
	text := ""
	if !d.watcher.Do(func() {
		text = View(d.snapshot(), Screen{Width: columns - 1, Height: lines, Color: d.opts.Color, ASCII: d.opts.ASCII})
	}) {
		return d.excuse()
	}
	d.drawn = d.drawn[:0]
	for line := range strings.Lines(text) {
		d.drawn = append(d.drawn, screen.Width(strings.TrimSuffix(line, "\n")))
	}
	return "\x1b[?7l" + text + "\x1b[?7h"
}

// erase gives what takes the last view off the screen: back to its first line,
// and erase from there to the end. In a window that was made narrower the lines
// of that view have wrapped, so they are counted at the width of now.
func (d *Display) erase() string {
	if len(d.drawn) == 0 {
		return ""
	}
	columns, _ := d.opts.Size()
	up := 0
	for _, w := range d.drawn {
		if d.opts.Cuts {
			w = 0
		}
		up += max(1, (w+columns-1)/max(columns, 1))
	}
	d.drawn = d.drawn[:0]
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", up)
}

// write hands text over in one piece, so that no half view is seen.
func (d *Display) write(text string) {
	if text != "" {
		_, _ = io.WriteString(d.w, text)
	}
}
