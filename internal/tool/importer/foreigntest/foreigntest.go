// Package foreigntest checks readers of other tools' files: that the figures of what was
// imported are those that the tool itself has worked out, and that no input breaks a reader.
package foreigntest

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/tool"
)

// Env is the world of a reader.
func Env() tool.Env {
	return tool.Env{Stdout: os.Stdout, Stderr: os.Stderr, Build: tool.Build{Version: "test"}, Getenv: func(string) string { return "" }}
}

// Import reads a file, and gives what was imported and the result of that.
func Import(t *testing.T, of tool.Tool, path string) (*tool.Imported, *saved.Run) {
	t.Helper()
	dir := t.TempDir()
	read, err := of.Import(Env(), tool.From{Path: path}, dir)
	if err != nil || read == nil {
		t.Fatalf("%s: %v, %v", path, read, err)
	}
	return read, Read(t, dir)
}

// Read reads an output directory that was made of an import.
func Read(t *testing.T, dir string) *saved.Run {
	t.Helper()
	saved, err := saved.Read(dir, saved.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if saved.Result.Incomplete {
		t.Error("the import is not complete")
	}
	return saved
}

// Figures reads a file's own figures.
func Figures(t *testing.T, of tool.Tool, path string) *tool.Figures {
	t.Helper()
	f, err := of.Figures(Env(), tool.From{Path: path})
	if err != nil || f == nil {
		t.Fatalf("%s: %v, %v", path, f, err)
	}
	if len(f.Plan.Stages) != len(f.Loads) {
		t.Fatalf("%s: %d stages and %d loads", path, len(f.Plan.Stages), len(f.Loads))
	}
	return f
}

// Same compares the figures of what was imported with the tool's own, of all metrics but
// those that are named, whose definitions differ. It gives how many were compared.
func Same(t *testing.T, res *result.Result, own *tool.Figures, but ...string) int {
	t.Helper()
	n := 0
	for i, load := range own.Loads {
		st := &res.Stages[i]
		if st.Counts.OK != load.OK || st.Counts.Failed != load.Failed {
			t.Errorf("stage %d: %d ok and %d failed, want %d and %d", i, st.Counts.OK, st.Counts.Failed, load.OK, load.Failed)
		}
		for id, of := range load.Metrics {
			for name, want := range of {
				got, ok := Stat(st, id, name)
				if !ok || slices.Contains(but, id) || slices.Contains(but, id+"."+name) {
					if !ok && !slices.Contains(but, id) {
						t.Errorf("stage %d: no %s.%s, want %v", i, id, name, want)
					}
					continue
				}
				n++
				// Moments are whole nanoseconds here, and pieces of seconds there.
				if math.Abs(got-want) > 2e-6*max(math.Abs(want), 1) {
					t.Errorf("stage %d: %s.%s is %v, want %v", i, id, name, got, want)
				}
			}
		}
	}
	return n
}

// Stat is a figure of a stage.
func Stat(st *result.Stage, id, name string) (float64, bool) {
	s, ok := st.Metrics[id]
	switch {
	case !ok:
		return 0, false
	case name == "avg":
		return s.Avg, true
	case s.Distribution == nil:
		return 0, false
	}
	return s.Quantile(name), true
}

// Broken feeds a reader any bytes as a file of a name: it may refuse them, and must neither
// panic nor make an output directory that cannot be read.
func Broken(t *testing.T, of tool.Tool, name string, text []byte) {
	t.Helper()
	dir := t.TempDir()
	path, out := filepath.Join(dir, name), filepath.Join(dir, "out")
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := of.Import(Env(), tool.From{Path: path}, out)
	if read != nil && err == nil {
		if _, err := saved.Read(out, saved.Options{}); err != nil {
			t.Errorf("what was imported cannot be read: %v", err)
		}
	}
	if of.Figures == nil {
		return
	}
	f, err := of.Figures(Env(), tool.From{Path: path})
	if err != nil || f == nil {
		return
	}
	if len(f.Plan.Stages) != len(f.Loads) || len(f.Loads) == 0 {
		t.Errorf("%d stages and %d loads", len(f.Plan.Stages), len(f.Loads))
	}
}

// NoSecrets looks for a text in the files of an output directory, and in notes.
func NoSecrets(t *testing.T, saved *saved.Run, read *tool.Imported, secret string) {
	t.Helper()
	for _, n := range read.Notes {
		if strings.Contains(n, secret) {
			t.Errorf("a note has it: %s", n)
		}
	}
	names, err := filepath.Glob(filepath.Join(filepath.Dir(saved.Records.Path), "*"))
	if err != nil || len(names) < 2 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), secret) {
			t.Errorf("%s has it", name)
		}
	}
}
