//go:build unix

package record_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/inferometer/inferometer/internal/record"
)

// A record file holds prompts and responses: nobody but its owner reads it.
func TestRecordFilesArePrivate(t *testing.T) {
	name := filepath.Join(t.TempDir(), "requests.jsonl.zst")
	f, err := record.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v, want 0600 (%v)", info.Mode().Perm(), err)
	}
}
