// Package binary builds the program as it is shipped, for tests that must run it as a
// process of its own: those of memory, of signals, of kills and of what a user sees.
package binary

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Program is the path of the program, built from the source that the test was built from.
// It is built once for all tests of the machine: go's build cache holds it. It is never
// built with the race detector, whose memory and speed are not those of the program.
func Program(t testing.TB) string {
	t.Helper()
	name, err := program()
	if err != nil {
		t.Fatalf("building the program: %v", err)
	}
	return name
}

// Start starts a process that a hang-up reaches, also where this one was started with hang-ups
// ignored, as nohup does: what is ignored is so for children too, and what is caught is not.
func Start(cmd *exec.Cmd) error {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	return cmd.Start()
}

// WithoutStamps is Program where the kernel does not say when packets arrived, as on macOS and Windows.
func WithoutStamps(t testing.TB) string {
	t.Helper()
	name, err := build("-tags", "nostamps")
	if err != nil {
		t.Fatalf("building the program: %v", err)
	}
	return name
}

var program = sync.OnceValues(func() (string, error) { return build() })

func build(flags ...string) (string, error) {
	root, err := output("go", "env", "GOMOD")
	if err != nil {
		return "", err
	}
	// The cache gives the program's path to whom "go run" has run it by. The first time it
	// is run from a directory that is then removed.
	for range 2 {
		args := append([]string{"run", "-C", filepath.Dir(root), "-trimpath", "-buildvcs=false", "-exec", "echo"}, flags...)
		name, err := output("go", append(args, "./cmd/inferometer")...)
		if err != nil {
			return "", err
		}
		if _, err := os.Stat(name); err == nil {
			return name, nil
		}
	}
	return "", fmt.Errorf("go run does not keep the program in its cache")
}

// output is the last line that a command prints.
func output(name string, args ...string) (string, error) {
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1], nil
}
