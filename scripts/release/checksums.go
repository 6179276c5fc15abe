package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// checksums lists every file in r.Dir as `sha256sum -c` reads it.
func checksums(r *Release) ([]string, error) {
	var lines strings.Builder
	err := filepath.WalkDir(r.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		sum, err := digest(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(r.Dir, path)
		fmt.Fprintf(&lines, "%s  %s\n", sum, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return nil, err
	}
	return []string{ours}, os.WriteFile(filepath.Join(r.Dir, ours), []byte(lines.String()), 0o644)
}

// digest is the SHA-256 of a file, in hexadecimal.
func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return fmt.Sprintf("%x", sum.Sum(nil)), err
}
