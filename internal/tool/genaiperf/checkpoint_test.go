package genaiperf

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// seedCheckpoints are states of sweeps.
func seedCheckpoints() []string {
	return []string{`{"runs": {"00ff": {"dir": "a/b", "row": ["1", "2"], "gpus": [["0", "5"]]}}}`, `{}`, `null`}
}

// tryCheckpoint reads a state, which may be refused, and goes on with it.
func tryCheckpoint(t testing.TB, text string) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, checkpointFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := openCheckpoint(dir)
	if err != nil {
		return
	}
	c.find("00ff")
	if err := c.keep("key", done{Dir: dir, Row: []string{"1"}}); err != nil {
		t.Errorf("%q: %v", text, err)
	}
}

func FuzzCheckpoint(f *testing.F) {
	for _, s := range seedCheckpoints() {
		f.Add(s)
	}
	mutate.Fuzz(f, func(t *testing.T, text string) { tryCheckpoint(t, text) })
}

func TestBrokenCheckpoints(t *testing.T) {
	mutate.Try(t, mutate.Usual/2, seedCheckpoints(), func(text string) { tryCheckpoint(t, text) })
}
