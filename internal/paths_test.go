package internal

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestPackagesThatScriptsNameExist: the Makefile and scripts name packages for targets that CI
// does not run, and a package that moves would leave them behind.
func TestPackagesThatScriptsNameExist(t *testing.T) {
	scripts, err := filepath.Glob("../scripts/*.sh")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\./internal(?:/[a-z0-9]+)*`)
	found := 0
	for _, name := range append(scripts, "../Makefile") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range named.FindAllString(string(text), -1) {
			found++
			if _, err := os.Stat(filepath.Join("..", path)); err != nil {
				t.Errorf("%s names %s: %v", name, path, err)
			}
		}
	}
	if found == 0 {
		t.Error("no package is named: this test looks for the wrong thing")
	}
}
