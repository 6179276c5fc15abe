package filelock

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// asChild is the environment variable that makes the test a process that owns a directory and does
// not remove it.
const asChild = "FILELOCK_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(asChild) != "" {
		d, err := NewDir("kind-")
		if err != nil {
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString(d.Path)
		_ = os.WriteFile(filepath.Join(d.Path, "data"), []byte("x"), 0o600)
		_ = os.Stdout.Close()
		_, _ = os.Stdin.Read(make([]byte, 1)) // until it is killed
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func temporary(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	return dir
}

func mustDir(t *testing.T) *Dir {
	t.Helper()
	d, err := NewDir("kind-")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// What a killed process left is removed by the next, and what a living one has is not.
func TestDeadOnesAreRemoved(t *testing.T) {
	temp := temporary(t)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), asChild+"=1")
	hold, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 4096)
	n, _ := out.Read(text)
	path := string(text[:n])
	if !there(path) {
		t.Fatalf("the other process has made no directory: %q", path)
	}
	stranger, foreign := filepath.Join(temp, "kind-without-lock"), filepath.Join(temp, "other-1")
	for _, dir := range []string{stranger, foreign} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(foreign, lockFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mine := mustDir(t)
	if !there(path) || !there(mine.Path) {
		t.Fatal("a directory of a living process was removed")
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	second := mustDir(t)
	if there(path) {
		t.Error("the directory of a dead process is still there")
	}
	if !there(mine.Path) || !there(stranger) || !there(foreign) {
		t.Error("a directory was removed that is in use, without a lock, or of another kind")
	}
	for _, d := range []*Dir{mine, second} {
		if err := errors.Join(d.Remove(), d.Remove()); err != nil || there(d.Path) {
			t.Errorf("%s is still there: %v", d.Path, err)
		}
	}
}

// Many at a time do not take one another's.
func TestManyAtATime(t *testing.T) {
	temporary(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				d, err := NewDir("kind-")
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(d.Path, "data"), nil, 0o600); err != nil {
					t.Errorf("the directory went while it was in use: %v", err)
				}
				if err := d.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
