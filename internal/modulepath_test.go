package internal

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestModulePath changes the module's path in a copy, and back.
func TestModulePath(t *testing.T) {
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip("the script needs perl")
	}
	t.Parallel()
	dir, old := t.TempDir(), strings.TrimSuffix(module, "/")
	before := tree(t, "..")
	for name, text := range before {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	const path = "git.example.org/someone/meter"
	in("scripts/module-path.sh", path)
	// Embedded files are not in the copy, which go list would call errors.
	packages := "\n" + in("go", "list", "-e", "-deps", "./...")
	if strings.Contains(packages, "\n"+module) || strings.Count(packages, "\n"+path+"/") < 100 {
		t.Errorf("the program is made of\n%s", packages)
	}
	changed := 0
	for name, text := range tree(t, dir) {
		if !bytes.Equal(text, before[name]) {
			changed++
		}
		if strings.HasSuffix(name, ".go") && bytes.Contains(text, []byte("\""+old+"/internal/")) {
			t.Errorf("%s still has the old path", name)
		}
	}
	if changed < 500 {
		t.Errorf("%d files changed", changed)
	}
	in("scripts/module-path.sh", old)
	after := tree(t, dir)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if !bytes.Equal(before[name], after[name]) {
			t.Errorf("%s is not what it was", name)
		}
	}
	if err := exec.Command(filepath.Join(dir, "scripts/module-path.sh"), "https://example.org/x y").Run(); err == nil {
		t.Error("a URL is taken for a path")
	}
}

// tree reads the files that can name the module.
func tree(t *testing.T, root string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		switch base := d.Name(); {
		case d.IsDir() && rel != "." && (base[0] == '.' || base == "testdata" || rel == "bin" || rel == "out"):
			return fs.SkipDir
		case d.Type().IsRegular() && (slices.Contains([]string{".go", ".mod", ".sum", ".sh", ".md", ".yaml"}, filepath.Ext(name)) || base == "Makefile" || base == "Containerfile"):
			files[rel], err = os.ReadFile(name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
