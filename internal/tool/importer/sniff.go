package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/lib/pyjson"
)

// mostHead is how much of a file is looked at to tell whose it is.
const mostHead = 1 << 20

// Head is how a file begins.
type Head struct {
	Path  string
	Keys  []string // of the object that it begins with; none: it begins with something else
	Line  string   // the first line, cut off
	Begin string   // the first few kilobytes
}

// Has reports whether the object has all of these keys.
func (h *Head) Has(keys ...string) bool {
	for _, k := range keys {
		if !slices.Contains(h.Keys, k) {
			return false
		}
	}
	return true
}

// ReadHead reads how a file begins.
func ReadHead(path string) (*Head, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return &Head{Path: path}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostHead))
	if err != nil {
		return nil, err
	}
	h := &Head{Path: path}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	h.Line, h.Begin = string(line[:min(len(line), 1000)]), string(text[:min(len(text), 64<<10)])
	d := pyjson.NewDecoder(bytes.NewReader(text))
	_ = d.Object(func(key string) error { // where it is cut off, there are the keys before
		if h.Keys = append(h.Keys, key); len(h.Keys) > 10_000 {
			return errors.New("too many keys")
		}
		return d.Skip()
	})
	return h, nil
}

// Files are the heads of a file, or of those in a directory with one of the given endings.
func Files(path string, ends ...string) ([]*Head, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		h, err := ReadHead(path)
		return []*Head{h}, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var list []*Head
	for _, e := range entries {
		if !slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(e.Name(), end) }) {
			continue
		}
		if h, err := ReadHead(filepath.Join(path, e.Name())); err == nil { // what cannot be read is not it
			list = append(list, h)
		}
	}
	return list, nil
}

// ReadFile reads a file that a program wrote, within a limit.
func ReadFile[T any](name, by string, in limitio.Limit, read func(io.Reader) (T, error)) (v T, err error) {
	if err := limitio.Saved(name); err != nil {
		return v, err
	}
	f, err := in.Open(name)
	if err != nil {
		return v, err
	}
	defer f.Close()
	if v, err = read(in.Reader(f, name)); err != nil {
		return v, fmt.Errorf("%s: reading what %s wrote: %w", name, by, err)
	}
	return v, nil
}
