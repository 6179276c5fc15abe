package hub

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/remote/hub/hubtest"
)

// TestFileBeyondTheLimit: a file that is larger than the limit is refused with the limit's
// name, and nothing of it stays in the cache.
func TestFileBeyondTheLimit(t *testing.T) {
	s := hubtest.New(t)
	s.Add("org/name", commitA, map[string]hubtest.FakeFile{
		"large":  {Data: strings.Repeat("x", 5000), Large: true},
		"plain":  {Data: strings.Repeat("y", 5000)},
		"little": {Data: "z"},
	})
	h, _ := open(t, s, nil)
	h = h.Limit(limitio.Limit{Name: "limits.download", Bytes: 1000})
	for _, name := range []string{"large", "plain"} {
		if _, err := h.File(t.Context(), Model("org/name"), "", name); err == nil || !strings.Contains(err.Error(), "limits.download") {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantFile(t, h, Model("org/name"), "", "little", "z")
	blobs, err := os.ReadDir(filepath.Join(h.cache, "models--org--name", "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blobs {
		if info, err := b.Info(); err != nil || info.Size() > 1000 {
			t.Errorf("%s stays in the cache: %v", b.Name(), err)
		}
	}
}
