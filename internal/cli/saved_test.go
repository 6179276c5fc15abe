package cli

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/repeat"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/testkit/schema"
	"github.com/inferometer/inferometer/internal/tool"
)

// Runs that earlier versions wrote are read, and have the figures that they had then. What is
// in testdata/saved is never written again: scripts/saved-runs.sh adds to it.
func TestSavedRuns(t *testing.T) {
	saved, err := filepath.Glob("testdata/saved/*/*")
	if err != nil || len(saved) < 9 {
		t.Fatalf("%d saved runs: %v", len(saved), err)
	}
	for _, from := range saved {
		t.Run(strings.TrimPrefix(filepath.ToSlash(from), "testdata/saved/"), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			unpack(t, from, dir)
			code, out, errs := here(t, "report", dir, "--format", "json")
			if code == tool.ExitUsage {
				t.Fatalf("exit %d: %s", code, errs)
			}
			name, published := "result.json", result.JSONSchema()
			if filepath.Base(from) == "repeated" {
				name, published = "repeats.json", repeat.JSONSchema()
			}
			then, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.New(published).Check(t, []byte(out)); err != nil {
				t.Errorf("the document does not fit its schema: %v", err)
			}
			if n := sameFigures(t, then, []byte(out)); n < 100 {
				t.Errorf("only %d figures were compared", n)
			}
		})
	}
}

// unpack copies a directory, with what is compressed in it as it was.
func unpack(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		name := filepath.Join(to, strings.TrimPrefix(path, from))
		if err != nil || d.IsDir() {
			return os.MkdirAll(name, 0o755)
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		r := io.Reader(f)
		if plain, packed := strings.CutSuffix(name, ".gz"); packed {
			name = plain
			if r, err = gzip.NewReader(f); err != nil {
				return err
			}
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		return os.WriteFile(name, text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sameFigures makes sure that every figure of a document is in another, and counts them: those
// of stages and their metrics, whatever has been added to them since.
func sameFigures(t *testing.T, then, now []byte) int {
	t.Helper()
	var documents [2]struct {
		Stages []map[string]any
		Runs   []map[string]any
	}
	for i, text := range [][]byte{then, now} {
		if err := json.Unmarshal(text, &documents[i]); err != nil {
			t.Fatal(err)
		}
	}
	old, today := documents[0], documents[1]
	if len(old.Stages) != len(today.Stages) || len(old.Runs) != len(today.Runs) {
		t.Fatalf("%d stages and %d runs, there were %d and %d", len(today.Stages), len(today.Runs), len(old.Stages), len(old.Runs))
	}
	figures := 0
	for i := range old.Stages {
		for _, part := range []string{"counts", "metrics"} {
			figures += compareNumbers(t, fmt.Sprintf("stage %d: %s", i, part), old.Stages[i][part], today.Stages[i][part])
		}
	}
	for i := range old.Runs {
		figures += compareNumbers(t, fmt.Sprintf("run %d", i), old.Runs[i], today.Runs[i])
	}
	return figures
}

// compareNumbers walks through what was and looks for every number in what is. How far this
// client can have bent a figure, between what it lies and what speaks against it are no figures: they are
// judged anew.
func compareNumbers(t *testing.T, path string, was, is any) (n int) {
	t.Helper()
	switch was := was.(type) {
	case map[string]any:
		now, _ := is.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(was)) {
			if !slices.Contains([]string{"error", "within", "interval", "intervals", "reasons"}, name) {
				n += compareNumbers(t, path+"."+name, was[name], now[name])
			}
		}
	case []any:
		now, _ := is.([]any)
		if len(now) < len(was) {
			t.Errorf("%s has %d values, it had %d", path, len(now), len(was))
			return 0
		}
		for i := range was {
			n += compareNumbers(t, fmt.Sprintf("%s[%d]", path, i), was[i], now[i])
		}
	case float64:
		now, ok := is.(float64)
		if n = 1; (!ok && was != 0) || math.Abs(was-now) > 1e-9*max(1, math.Abs(was)) {
			t.Errorf("%s is %v, it was %v", path, is, was)
		}
	}
	return n
}
