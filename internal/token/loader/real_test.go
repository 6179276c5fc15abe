package loader

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/inferometer/inferometer/internal/token/chat"
)

// TestReal opens the folders and files of real models, which are not part of the
// repository, and parses their chat templates.
func TestReal(t *testing.T) {
	dir := os.Getenv("INFEROMETER_TOKENS")
	if dir == "" {
		t.Skip("INFEROMETER_TOKENS names no folder; make conformance-tokens does")
	}
	names, err := filepath.Glob(filepath.Join(dir, "vocab", "*"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "ranks", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(names, files...) {
		found, err := finder().Find(t.Context(), name, "")
		if err != nil {
			t.Error(err)
			continue
		}
		if n := found.Tokenizer.Count("Hello, world"); n < 2 || n > 12 {
			t.Errorf("%s: %d tokens", name, n)
		}
		if _, err := found.Chat.Template("", false); err != nil && !errors.Is(err, chat.ErrNoTemplate) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
