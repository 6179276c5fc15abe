package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/inferometer/inferometer/internal/tool"
)

// onTerminal calls a command whose output goes to a terminal, and returns what that got.
func onTerminal(t *testing.T, env map[string]string, args ...string) string {
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
	Main(tool.Env{Args: args, Stdout: far, Stderr: io.Discard, Getenv: func(name string) string { return env[name] }, Restore: func() {}})
	far.Close()
	<-read
	return got.String()
}

func TestColor(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if code, out := call("run", serve(t), "--requests", "3", "--out", dir); code > tool.ExitRun {
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
