package internal

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestPageIsBuilt: the report page is committed as it was built, with a checksum of what it was built from. The same
// checksum is worked out by scripts/page, in a module of its own.
func TestPageIsBuilt(t *testing.T) {
	sum := sha256.New()
	for _, part := range []string{"package-lock.json", "src", "../scripts/page"} {
		err := filepath.WalkDir(filepath.Join("../page", part), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			relative, err := filepath.Rel("../page", name)
			fmt.Fprintf(sum, "%s %d\n%s", filepath.ToSlash(relative), len(text), text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile("report/html/page.html")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("Sources: %x", sum.Sum(nil)); !bytes.Contains(page, []byte(want)) {
		t.Errorf("internal/report/html/page.html was not built from what is in page/: run make page (%s)", want)
	}
}
