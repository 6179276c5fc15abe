package progress

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
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

// terminal understands as much of a terminal as a display uses, so that a test
// can look at the screen instead of at the sequences.
type terminal struct {
	t     *testing.T
	mu    sync.Mutex
	width int
	lines []string
	row   int
}

func (tm *terminal) Write(b []byte) (int, error) {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	tm.write(string(b))
	return len(b), nil
}

func (tm *terminal) columns() int {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	return tm.width
}

func (tm *terminal) screen() string {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	return strings.Join(tm.lines, "\n") + "\n"
}

func (tm *terminal) write(b string) {
	text := b
	for text != "" {
		switch {
		case strings.HasPrefix(text, "\x1b[J"):
			tm.lines = tm.lines[:min(tm.row, len(tm.lines))]
			text = text[3:]
		case strings.HasPrefix(text, "\x1b["):
			n, rest := 0, text[2:]
			for rest[0] >= '0' && rest[0] <= '9' {
				n, rest = n*10+int(rest[0]-'0'), rest[1:]
			}
			if rest[0] != 'A' {
				tm.t.Fatalf("unknown sequence in %q", b)
			}
			if tm.row -= n; tm.row < 0 {
				tm.t.Fatalf("cursor moved above the screen by %q", b)
			}
			text = rest[1:]
		case text[0] == '\r':
			text = text[1:]
		default:
			line, rest, ok := strings.Cut(text, "\n")
			if !ok {
				tm.t.Fatalf("line without an end in %q", b)
			}
			if tm.row != len(tm.lines) {
				tm.t.Fatalf("line %q is written over another", line)
			}
			for r := []rune(line); ; {
				n := min(len(r), tm.width)
				tm.lines = append(tm.lines, string(r[:n]))
				if r = r[n:]; len(r) == 0 {
					break
				}
			}
			tm.row = len(tm.lines)
			text = rest
		}
	}
}

// narrow makes the window narrower: lines that no longer fit wrap.
func (tm *terminal) narrow(width int) {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	old := tm.lines
	tm.lines, tm.row, tm.width = nil, 0, width
	for _, l := range old {
		tm.write(strings.TrimRight(l, " ") + "\n")
	}
}

func TestTerminalDrawsInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tm := &terminal{t: t, width: 100}
		var mu sync.Mutex
		s := openLoop()
		d := New(tm, Options{Mode: Terminal, Width: tm.columns})
		d.Print("before")
		d.Start(func() Snapshot {
			mu.Lock()
			defer mu.Unlock()
			return s
		})
		synctest.Wait()
		for range 3 {
			pass(terminalEvery)
			want := "before\n" + View(s, 99, false)
			if got := tm.screen(); got != want {
				t.Fatalf("screen:\n%s\nwant:\n%s", got, want)
			}
			mu.Lock()
			s.OK += 100
			s.Errors = s.Errors[:len(s.Errors)-1] // the view gets shorter in the end
			mu.Unlock()
		}
		d.Print("a message\n")
		if got, want := tm.screen(), "before\na message\n"+View(s, 99, false); got != want {
			t.Errorf("screen:\n%s\nwant:\n%s", got, want)
		}
		d.Aside(func() { _, _ = tm.Write([]byte("a report\n")) })
		if got, want := tm.screen(), "before\na message\na report\n"+View(s, 99, false); got != want {
			t.Errorf("screen:\n%s\nwant:\n%s", got, want)
		}
		d.Stop()
		if got := tm.screen(); got != "before\na message\na report\n" {
			t.Errorf("screen after Stop:\n%s", got)
		}
		d.Aside(func() { _, _ = tm.Write([]byte("the end\n")) })
		if got := tm.screen(); got != "before\na message\na report\nthe end\n" {
			t.Errorf("screen in the end:\n%s", got)
		}
	})
}

func TestTerminalMadeNarrower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tm := &terminal{t: t, width: 100}
		s := openLoop()
		d := New(tm, Options{Mode: Terminal, Width: tm.columns})
		d.Print("before")
		d.Start(func() Snapshot { return s })
		synctest.Wait()
		tm.narrow(40)
		pass(terminalEvery)
		if got, want := tm.screen(), "before\n"+View(s, 39, false); got != want {
			t.Errorf("screen:\n%s\nwant:\n%s", got, want)
		}
		d.Stop()
		if got := tm.screen(); got != "before\n" {
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
