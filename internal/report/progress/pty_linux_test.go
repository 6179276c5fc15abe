package progress

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/inferometer/inferometer/internal/testkit/terminal"
)

// pty is a terminal of the system with a screen behind it.
type pty struct {
	t         *testing.T
	near, far *os.File
	screen    *terminal.Screen
}

func newPTY(t *testing.T, columns, rows int) *pty {
	t.Helper()
	near, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { near.Close() })
	n, err := unix.IoctlGetInt(int(near.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(near.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	far, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { far.Close() })
	p := &pty{t: t, near: near, far: far, screen: terminal.New(columns, rows)}
	p.resize(columns, rows)
	return p
}

// resize changes the window, as its user does.
func (p *pty) resize(columns, rows int) {
	p.t.Helper()
	if err := unix.IoctlSetWinsize(int(p.near.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(columns)}); err != nil {
		p.t.Fatal(err)
	}
	p.screen.Resize(columns, rows)
}

func (p *pty) size() (columns, lines int) {
	w, err := unix.IoctlGetWinsize(int(p.far.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		p.t.Error(err)
		return 80, 24
	}
	return int(w.Col), int(w.Row)
}

// Write hands text to the system, and what comes out at the other end to the screen: the
// system puts a return before each line feed.
func (p *pty) Write(text []byte) (int, error) {
	written := make(chan error, 1)
	go func() {
		_, err := p.far.Write(text)
		written <- err
	}()
	if _, err := io.CopyN(p.screen, p.near, int64(len(text)+bytes.Count(text, []byte("\n")))); err != nil {
		p.t.Error(err)
	}
	return len(text), <-written
}

// However a window is resized: no line of a view wraps, and nothing of it stays when the
// next one is drawn.
func TestPTY(t *testing.T) {
	s := openLoop()
	s.Name = "モデル 🚀 with a long name"
	s.Stages, s.Stage = 5, 4
	s.Earlier = []Past{{Stage: 1, Load: "10/s", Rate: 10}, {Stage: 2, Load: "20/s", Rate: 20}, {Stage: 3, Load: "30/s", Rate: 30}}
	for _, color := range []bool{false, true} {
		p := newPTY(t, 100, 40)
		d := New(p, Options{Mode: Terminal, Color: color, Size: p.size, Every: time.Hour})
		d.Print("before")
		first := make(chan struct{}, 1000)
		d.Start(func() Snapshot {
			first <- struct{}{}
			return s
		})
		<-first
		said := "before\n"
		for i, to := range [][2]int{{100, 40}, {80, 40}, {60, 40}, {61, 40}, {20, 90}, {80, 40}, {200, 50}, {40, 50}, {80, 50}} {
			p.resize(to[0], to[1])
			text := fmt.Sprintf("message %d", i)
			d.Print(text)
			said += text + "\n"
			want := said + View(s, Screen{Width: to[0] - 1, Height: to[1] - 1})
			if got := p.screen.Text(); got != want {
				t.Fatalf("%v, colour %v: screen:\n%s\nwant:\n%s", to, color, got, want)
			}
		}
		d.Stop()
		if got := p.screen.Text(); got != said {
			t.Errorf("screen after Stop:\n%s\nwant:\n%s", got, said)
		}
		// What is pushed over the upper edge is out of reach; what is on the screen is not.
		d.Start(func() Snapshot {
			first <- struct{}{}
			return s
		})
		<-first
		for _, lines := range []int{10, 6, 3, 2, 1} {
			p.resize(80, lines)
			d.Print("a message")
			want := "a message\n" + View(s, Screen{Width: 79, Height: max(lines-1, 1)})
			all := strings.SplitAfter(want, "\n") // the last is the line of the cursor
			if got, want := p.screen.Visible(), strings.Join(all[max(len(all)-lines, 0):], ""); strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Fatalf("%d lines: screen:\n%s\nwant:\n%s", lines, got, want)
			}
		}
		d.Stop()
		if faults := p.screen.Faults(); faults != nil {
			t.Errorf("%q", faults)
		}
	}
}
