package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// fingerprint is a checksum of all that the page is made of: its sources, the packages' lock file and this program.
// internal/page_test.go works it out again, and finds a page that was not built anew.
func fingerprint(dir string) (string, error) {
	sum := sha256.New()
	for _, part := range []string{"package-lock.json", "src", "../scripts/page"} {
		err := filepath.WalkDir(filepath.Join(dir, part), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			relative, err := filepath.Rel(dir, name)
			fmt.Fprintf(sum, "%s %d\n%s", filepath.ToSlash(relative), len(text), text)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}
