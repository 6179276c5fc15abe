package tool

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/testkit/terminal"
)

// onScreen is a terminal whose lines begin at the left edge.
type onScreen struct{ *terminal.Screen }

func (s onScreen) Write(text []byte) (int, error) {
	_, err := s.Screen.Write(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")))
	return len(text), err
}

func onTerminal(io.Writer) Terminal {
	return Terminal{TTY: true, Drawn: true, ASCII: true, Width: func() int { return 80 }, Lines: func() int { return 10 }}
}

// records is a file of so many requests.
func records(t *testing.T, n int) record.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "requests.jsonl")
	text := strings.Repeat(`{"kind":"request","seq":1,"stage":0,"prompt":"0000000000000000","end":5}`+"\n", n)
	if err := os.WriteFile(path, []byte(`{"kind":"header","schema":"`+record.Schema+`"}`+"\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	return record.File{Path: path}
}

// What takes more than two seconds to read shows how far it is, and Ctrl-C ends it with the records as they are.
func TestReadingIsWatched(t *testing.T) {
	file := records(t, 100_000)
	synctest.Test(t, func(t *testing.T) {
		screen := onScreen{terminal.New(80, 10)}
		interrupts, restored := make(chan os.Signal), false
		env := Env{Stderr: screen, Interrupts: interrupts, Restore: func() { restored = true }}
		env.Terminal = onTerminal
		n := 0
		err := env.Read("runs/a", func(by *record.Reading) error {
			f := file
			f.Reading = by
			return f.Requests(func(*record.Record) error {
				switch n++; n {
				case 10_000:
					time.Sleep(patience - time.Millisecond)
					if text := strings.TrimSpace(screen.Text()); text != "" {
						t.Errorf("shown ahead of its time: %q", text)
					}
					time.Sleep(time.Second)
					if text := screen.Text(); !strings.Contains(text, "runs/a") || !strings.Contains(text, " MB read") {
						t.Errorf("after two seconds:\n%s", text)
					}
					interrupts <- os.Interrupt
					synctest.Wait()
				}
				return nil
			})
		})
		if !errors.Is(err, record.ErrStopped) || n == 100_000 {
			t.Errorf("after Ctrl-C: %v, and %d requests were read", err, n)
		}
		if code := (Env{Stderr: io.Discard}).Fail("report", err, ExitUsage); code != ExitRun {
			t.Errorf("after Ctrl-C: exit code %d", code)
		}
		if !restored {
			t.Error("a second Ctrl-C would not end the program")
		}
		if text := screen.Text(); !strings.HasPrefix(text, "Stopping: the records are kept as they are.") || strings.Contains(text, "MB") {
			t.Errorf("in the end:\n%s", text)
		}
	})
}

// What is read soon is not spoken of.
func TestReadingSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		screen := onScreen{terminal.New(80, 10)}
		env := Env{Stderr: screen, Terminal: onTerminal}
		if err := env.Read("a", func(*record.Reading) error { time.Sleep(patience / 2); return nil }); err != nil || strings.TrimSpace(screen.Text()) != "" {
			t.Errorf("%v, %q", err, screen.Text())
		}
	})
}

// Ctrl-C says what becomes of the records.
func TestStoppingSaysWhatIsKept(t *testing.T) {
	sending := &plan.Plan{Grace: plan.Duration(5 * time.Second), Drain: plan.Duration(time.Second), Output: plan.Output{Dir: "runs/a"}}
	for want, p := range map[string]*run.Progress{
		"finishing in-flight requests. Press Ctrl-C again":                       {},
		"finishing in-flight requests, 1s at most. Press Ctrl-C again":           {Plan: sending},
		"The run is over and its records are in runs/a: its report is being":     {Plan: sending, Reporting: true},
		"The run is over: its report is being made. Press Ctrl-C again to leave": {Plan: &plan.Plan{}, Reporting: true},
	} {
		if got := stoppingText(p); !strings.Contains(got, want) {
			t.Errorf("%q, want %q in it", got, want)
		}
	}
	if got := leavingText(&run.Progress{Plan: sending}); !strings.Contains(got, "inferometer report runs/a") {
		t.Error(got)
	}
}
