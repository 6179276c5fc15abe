package hub

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/atomicfile"
)

// store is a repository's folder in the cache: refs/ has each branch's commit, blobs/ contents by
// ETag, snapshots/ a folder of links to blobs for each commit,.no_exist/ files that a commit does
// not have.
type store struct {
	dir   string
	locks string
	links bool
}

func (h *Hub) store(repo Repo) store {
	return store{
		dir:   filepath.Join(h.cache, repo.folder()),
		locks: filepath.Join(h.cache, ".locks", repo.folder()),
		links: h.links,
	}
}

// commit is the commit that the cache has for a revision; "" where it has none.
func (s store) commit(revision string) string {
	if data, err := os.ReadFile(filepath.Join(s.dir, "refs", filepath.FromSlash(revision))); err == nil {
		if c := strings.TrimSpace(string(data)); safeName(c) {
			return c
		}
	}
	if isCommit(revision) {
		return revision
	}
	return ""
}

// find returns the path of a file of a commit where the cache holds it.
func (s store) find(commit, name string) (string, bool) {
	if commit == "" {
		return "", false
	}
	path := s.snapshot(commit, name)
	// A link whose blob is gone does not count.
	info, err := os.Stat(path)
	return path, err == nil && info.Mode().IsRegular()
}

// missing reports whether a commit is known not to have a file.
func (s store) missing(commit, name string) bool {
	if commit == "" {
		return false
	}
	_, err := os.Stat(s.absent(commit, name))
	return err == nil
}

func (s store) snapshot(commit, name string) string {
	return filepath.Join(s.dir, "snapshots", commit, filepath.FromSlash(name))
}

func (s store) absent(commit, name string) string {
	return filepath.Join(s.dir, ".no_exist", commit, filepath.FromSlash(name))
}

func (s store) blob(etag string) string { return filepath.Join(s.dir, "blobs", etag) }

func (s store) lockFile(etag string) string { return filepath.Join(s.locks, etag+".lock") }

// setRef notes the commit of a branch or a tag.
func (s store) setRef(revision, commit string) error {
	if revision == commit || s.commit(revision) == commit {
		return nil
	}
	return writeFile(filepath.Join(s.dir, "refs", filepath.FromSlash(revision)), commit)
}

// setMissing notes that a commit does not have a file.
func (s store) setMissing(commit, name string) error { return writeFile(s.absent(commit, name), "") }

// link makes a blob appear as a file of a commit.
func (s store) link(etag, commit, name string) (string, error) {
	path := s.snapshot(commit, name)
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", writeError(err)
	}
	target, err := filepath.Rel(dir, s.blob(etag))
	if err != nil {
		return "", err
	}
	// The new link replaces an older one, or one whose blob is gone, in one step.
	next, err := os.CreateTemp(dir, ".link-*")
	if err != nil {
		return "", writeError(err)
	}
	next.Close()
	defer os.Remove(next.Name())
	if !s.links || os.Remove(next.Name()) != nil || os.Symlink(target, next.Name()) != nil {
		if err := copyFile(next.Name(), s.blob(etag)); err != nil {
			return "", writeError(err)
		}
	}
	if err := os.Rename(next.Name(), path); err != nil {
		return "", writeError(err)
	}
	return path, nil
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), os.Chmod(to, 0o644))
}

// writeFile replaces a small file in one step.
func writeFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return writeError(err)
	}
	return writeError(atomicfile.Bytes(path, []byte(content)))
}

func writeError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("writing the Hugging Face cache: %w; set HF_HUB_CACHE to a folder that can be written", err)
}

func isCommit(s string) bool { return len(s) == 40 && isHex(s) }

func isHex(s string) bool {
	for _, c := range []byte(s) {
		if c-'0' > 9 && c-'a' > 5 {
			return false
		}
	}
	return true
}

// safeName reports whether a name that a server gave can be that of a file.
func safeName(s string) bool {
	if s == "" || len(s) > 128 || s[0] == '.' {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c-'0' <= 9, c-'a' <= 25, c-'A' <= 25, c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}
