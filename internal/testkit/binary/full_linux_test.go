package binary

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// on runs the program where no file may grow beyond so many blocks: for a writer that is
// what a full disk is, and it takes no rights to set up.
func on(t *testing.T, blocks string, args ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", `trap "" XFSZ; ulimit -f "$0" && exec "$@"`, blocks, Program(t)}, args...)...)
	out, _ := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("not done after %s: %s", patience, out)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// A disk that fills up is told of during the run, which goes on or ends as it was asked to.
// What the directory then holds is whole, and what it lacks is not said to be there.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("real processes")
	}
	for _, tt := range []struct{ onFull, says string }{
		{"continue", "Continuing without records"},
		{"stop", "Stopping the run"},
	} {
		t.Run(tt.onFull, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "out")
			code, out := on(t, "8", "run", "--concurrency", "16", "--requests", "600", "--on-disk-full", tt.onFull, "--out", dir, "--quiet")
			if code != 1 || !strings.Contains(out, tt.says) || !strings.Contains(out, "requests.jsonl.zst") || !strings.Contains(out, "file too large") {
				t.Errorf("exit code %d: %s", code, out)
			}
			if strings.Index(out, tt.says) > strings.Index(out, "1 stage in") {
				t.Errorf("it is told of only after the run: %s", out)
			}
			whole(t, dir, out)
		})
	}
}

// whole makes sure that the reports of a run are whole or not there, and that it says so.
func whole(t *testing.T, dir, out string) {
	t.Helper()
	_, list, _ := strings.Cut(out, "Files in ")
	list, _, _ = strings.Cut(list, "\n")
	for _, name := range []string{"result.json", "summary.csv"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		switch {
		case err != nil && (!strings.Contains(out, "writing a report") || strings.Contains(list, name)):
			t.Errorf("%s is not there, and nothing says so: %s", name, out)
		case err == nil && (name == "result.json" && !json.Valid(text) || !bytes.HasSuffix(text, []byte("\n"))):
			t.Errorf("%s is cut: %d bytes", name, len(text))
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if strings.Contains(e.Name(), "tmp") || strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}
