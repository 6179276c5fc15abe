package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/inferometer/inferometer/internal/testkit/terminal"
	"github.com/inferometer/inferometer/internal/tool"
)

// onTerminal calls a command whose output goes to a terminal, and returns what that got.
func onTerminal(t *testing.T, env map[string]string, args ...string) string {
	t.Helper()
	return atTerminal(t, func(far *os.File) {
		Main(tool.Env{Args: args, Stdout: far, Stderr: io.Discard, Getenv: func(name string) string { return env[name] }, Restore: func() {}})
	})
}

// atTerminal returns what a terminal of 100 columns and 40 lines gets.
func atTerminal(t *testing.T, write func(far *os.File)) string {
	t.Helper()
	near, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	defer near.Close()
	if err := unix.IoctlSetPointerInt(int(near.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(near.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	far, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	if err := unix.IoctlSetWinsize(int(far.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100}); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&got, near) // ends with an error once the far end is closed
	}()
	write(far)
	far.Close()
	<-read
	return got.String()
}

func TestColor(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if code, out := call("run", serve(t), "--requests", "3", "--out", dir); code != tool.ExitRun && code != tool.ExitInconclusive {
		t.Fatalf("exit code %d: %s", code, out)
	}
	for _, tc := range []struct {
		name  string
		env   map[string]string
		color bool
	}{
		{"a terminal", map[string]string{"TERM": "xterm"}, true},
		{"NO_COLOR", map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, false},
		{"NO_COLOR that is empty", map[string]string{"TERM": "xterm", "NO_COLOR": ""}, true},
		{"a dumb terminal", map[string]string{"TERM": "dumb"}, false},
	} {
		out := onTerminal(t, tc.env, "report", dir)
		if !strings.Contains(out, "3 ok") || strings.Contains(out, "\x1b[") != tc.color {
			t.Errorf("%s: colour should be %v:\n%q", tc.name, tc.color, out)
		}
		all := onTerminal(t, tc.env, "report", dir, "--all")
		if !strings.Contains(all, "clock step") || strings.Contains(out, "clock step") || strings.Contains(all, "\x1b[") != tc.color {
			t.Errorf("%s, with --all:\n%q", tc.name, all)
		}
	}
}

// The live view leaves nothing of itself on the screen, and shows what the terminal can.
func TestLiveViewOnATerminal(t *testing.T) {
	url := serve(t)
	for _, tc := range []struct {
		name         string
		env          map[string]string
		drawn, ascii bool
	}{
		{"a terminal", map[string]string{"TERM": "xterm", "LANG": "en_US.UTF-8"}, true, false},
		{"another locale", map[string]string{"TERM": "xterm", "LANG": "en_US.UTF-8", "LC_ALL": "C"}, true, true},
		{"a dumb terminal", map[string]string{"TERM": "dumb", "LANG": "en_US.UTF-8"}, false, false},
	} {
		out := atTerminal(t, func(far *os.File) {
			Main(tool.Env{
				Args:   []string{"run", url, "--requests", "4", "--concurrency", "2", "--output-tokens", "3", "--seed", "5", "--name", "模型", "--warmup", "2"},
				Stdout: io.Discard, Stderr: far, Getenv: func(name string) string { return tc.env[name] }, Restore: func() {},
			})
		})
		if strings.Contains(out, "\x1b[") != tc.drawn || !strings.Contains(out, "in flight") {
			t.Errorf("%s: drawn should be %v:\n%q", tc.name, tc.drawn, out)
		}
		if i := strings.IndexFunc(out, func(r rune) bool { return r > unicode.MaxASCII }); tc.ascii && i >= 0 {
			t.Errorf("%s: not ASCII: %q", tc.name, out[i:])
		}
		if !tc.drawn {
			continue
		}
		screen := terminal.New(100, 40)
		_, _ = screen.Write([]byte(out))
		if left := screen.Text(); strings.Contains(left, "in flight") || len(screen.Faults()) > 0 {
			t.Errorf("%s: left on the screen: %s\nfaults: %q", tc.name, left, screen.Faults())
		}
	}
}
