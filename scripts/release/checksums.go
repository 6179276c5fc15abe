package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A sum is a published file and its SHA-256 in hexadecimal.
type sum struct{ File, SHA256 string }

// checksums lists every file in r.Dir as `sha256sum -c` reads it.
func checksums(r *Release) ([]string, error) {
	list, err := r.published(ours)
	if err != nil {
		return nil, err
	}
	var lines strings.Builder
	for _, s := range list {
		fmt.Fprintf(&lines, "%s  %s\n", s.SHA256, s.File)
	}
	return []string{ours}, os.WriteFile(filepath.Join(r.Dir, ours), []byte(lines.String()), 0o644)
}

// published are the files in r.Dir but those excluded, in order.
func (r *Release) published(except ...string) ([]sum, error) {
	var list []sum
	err := filepath.WalkDir(r.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || slices.Contains(except, d.Name()) {
			return err
		}
		name, err := filepath.Rel(r.Dir, path)
		if err != nil {
			return err
		}
		hash, err := digest(path)
		list = append(list, sum{filepath.ToSlash(name), hash})
		return err
	})
	return list, err
}

// digest is the SHA-256 of a file, in hexadecimal.
func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, f)
	return fmt.Sprintf("%x", hash.Sum(nil)), err
}
