package progress

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/testkit/terminal"
)

// pass lets time go by in a bubble, until all that it brings about is done.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// pieces keeps each write apart.
type pieces struct {
	mu  sync.Mutex
	all []string
}

func (p *pieces) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, string(b))
	return len(b), nil
}

func (p *pieces) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all)
}

// window is a screen whose size a display asks for.
type window struct {
	*terminal.Screen
	columns atomic.Int64
}

func newWindow(columns int) *window {
	w := &window{Screen: terminal.New(columns, 40)}
	w.columns.Store(int64(columns))
	return w
}

func (w *window) size() (int, int) { return int(w.columns.Load()), 40 }

// Write has a line begin at its left edge, as the system does for a terminal.
func (w *window) Write(text []byte) (int, error) {
	_, err := w.Screen.Write(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")))
	return len(text), err
}

func (w *window) resize(columns int) {
	w.columns.Store(int64(columns))
	w.Resize(columns, 40)
}

func TestTerminalDrawsInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tm := newWindow(100)
		var mu sync.Mutex
		s := openLoop()
		d := New(tm, Options{Mode: Terminal, Size: tm.size})
		d.Print("before")
		d.Start(func() Snapshot {
			mu.Lock()
			defer mu.Unlock()
			return s
		})
		synctest.Wait()
		for range 3 {
			pass(terminalEvery)
			want := "before\n" + View(s, Screen{Width: 99})
			if got := tm.Text(); got != want {
				t.Fatalf("screen:\n%s\nwant:\n%s", got, want)
			}
			mu.Lock()
			s.OK += 100
			s.Errors = s.Errors[:len(s.Errors)-1] // the view gets shorter in the end
			mu.Unlock()
		}
		d.Print("a message\n")
		if got, want := tm.Text(), "before\na message\n"+View(s, Screen{Width: 99}); got != want {
			t.Errorf("screen:\n%s\nwant:\n%s", got, want)
		}
		out := d.Writer(tm)
		for _, part := range []string{"a ", "report\nand", " so", " on"} { // the last is not the end of a line
			fmt.Fprint(out, part)
		}
		if got, want := tm.Text(), "before\na message\na report\n"+View(s, Screen{Width: 99}); got != want {
			t.Errorf("screen:\n%s\nwant:\n%s", got, want)
		}
		d.Stop()
		if got := tm.Text(); got != "before\na message\na report\nand so on\n" {
			t.Errorf("screen after Stop:\n%s", got)
		}
		fmt.Fprint(out, ": the end\n")
		if got := tm.Text(); got != "before\na message\na report\nand so on: the end\n" {
			t.Errorf("screen in the end:\n%s", got)
		}
	})
}

func TestTerminalMadeNarrower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tm := newWindow(100)
		s := openLoop()
		d := New(tm, Options{Mode: Terminal, Size: tm.size})
		d.Print("before")
		d.Start(func() Snapshot { return s })
		synctest.Wait()
		tm.resize(40)
		pass(terminalEvery)
		if got, want := tm.Text(), "before\n"+View(s, Screen{Width: 39}); got != want {
			t.Errorf("screen:\n%s\nwant:\n%s", got, want)
		}
		d.Stop()
		if got := tm.Text(); got != "before\n" {
			t.Errorf("screen after Stop:\n%s", got)
		}
	})
}

func TestTerminalCadence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pieces{}
		d := New(p, Options{Mode: Terminal})
		d.Start(openLoop)
		pass(10*terminalEvery + terminalEvery/2)
		if got := p.count(); got != 11 { // one at once, then one per tick
			t.Errorf("%d writes, want 11", got)
		}
		d.Stop()
		n := p.count()
		if n != 12 { // the erasure
			t.Errorf("%d writes after Stop, want 12", n)
		}
		pass(time.Minute)
		if p.count() != n {
			t.Error("the display writes after Stop")
		}
	})
}

func TestPlainCadence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pieces{}
		begin := time.Now()
		phase := func(at time.Duration) Phase {
			if at < 7*time.Second {
				return WarmingUp
			}
			return Measuring
		}
		d := New(p, Options{Mode: Plain})
		d.Start(func() Snapshot {
			at := time.Since(begin)
			return Snapshot{Stage: 1, Stages: 1, Load: "L", Phase: phase(at), Elapsed: at}
		})
		pass(18 * time.Second)
		d.Stop()
		var got []string
		for _, l := range p.all {
			if strings.Count(l, "\n") != 1 || strings.Contains(l, "\x1b") {
				t.Errorf("not one plain line: %q", l)
			}
			got = append(got, strings.Split(l, " | ")[1])
		}
		// At once, after 5 s, at the change of phase, and 5 s after each.
		want := "warm-up 0.0 s, warm-up 5.0 s, measuring 7.0 s, measuring 12.0 s, measuring 17.0 s"
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("got  %s\nwant %s", s, want)
		}
	})
}

func TestQuiet(t *testing.T) {
	var buf bytes.Buffer
	d := New(&buf, Options{Mode: Quiet})
	d.Start(func() Snapshot {
		t.Error("a quiet display takes a snapshot")
		return Snapshot{}
	})
	d.Print("message")
	d.Stop()
	if buf.Len() != 0 {
		t.Errorf("a quiet display wrote %q", buf.String())
	}
}

func TestStartStopAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pieces{}
		d := New(p, Options{Mode: Plain})
		d.Stop()
		d.Start(func() Snapshot { return Snapshot{Load: "first", Phase: Measuring} })
		synctest.Wait()
		d.Start(func() Snapshot { return Snapshot{Load: "second", Phase: Measuring} })
		pass(plainEvery)
		d.Stop()
		d.Stop()
		d.Start(func() Snapshot { return Snapshot{Load: "third", Phase: Measuring} })
		synctest.Wait()
		d.Stop()
		var got []string
		for _, l := range p.all {
			got = append(got, strings.Split(l, " | ")[0])
		}
		if s := strings.Join(got, " "); s != "first second third" {
			t.Errorf("got %s", s)
		}
	})
}

// broken refuses every write.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestBrokenWriterEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(broken{}, Options{Mode: Terminal})
		d.Start(openLoop)
		pass(time.Second)
		d.Print("message")
		d.Stop()
	})
}

// A view that cannot be drawn is told of once, also where somebody else is about to write: messages
// come on, and the display ends as ever.
func TestViewThatPanics(t *testing.T) {
	for _, mode := range []Mode{Terminal, Plain} {
		for name, first := range map[string]func(d *Display){
			"in its own time":   func(*Display) { pass(time.Minute) },
			"while it is asked": func(d *Display) { d.Print("a message") },
		} {
			t.Run(fmt.Sprint(mode, " ", name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					tm := newWindow(200)
					var broken atomic.Bool
					d := New(tm, Options{Mode: mode, Size: tm.size})
					d.Start(func() Snapshot {
						if broken.Load() {
							panic("no snapshot")
						}
						return Snapshot{Stage: 1, Stages: 1, Load: "a load", Phase: Measuring}
					})
					synctest.Wait()
					broken.Store(true)
					first(d)
					pass(time.Minute)
					if _, err := d.Writer(tm).Write([]byte("a result\n")); err != nil {
						t.Error(err)
					}
					d.Print("the end")
					d.Stop()
					text := tm.Text()
					if n := strings.Count(text, "warning: The live view has failed by a mistake of this program: no snapshot ("); n != 1 {
						t.Errorf("told %d times:\n%s", n, text)
					}
					if !strings.Contains(text, "a result") || !strings.Contains(text, "the end") || mode == Terminal && strings.Contains(text, "a load") {
						t.Errorf("%s", text)
					}
				})
			})
		}
	}
}
