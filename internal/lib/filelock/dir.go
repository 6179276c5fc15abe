package filelock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// lockFile is the file of a directory that its owner holds a lock on while it lives. A number of the
// process in the name would not do: the system gives numbers again.
const lockFile = "in-use.lock"

// Dir is a temporary directory for as long as this process lives.
type Dir struct {
	Path string
	lock *os.File
}

// NewDir makes a directory of a kind, whose name begins with prefix. A process that was killed has left
// its own behind: those of the same kind whose owners are gone are removed. What this process may not
// look into belongs to another user, and stays.
func NewDir(prefix string) (*Dir, error) {
	old, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	if err != nil {
		return nil, fmt.Errorf("looking for %s directories left behind: %w", prefix, err)
	}
	for _, path := range old {
		if d := lock(path, 0); d != nil {
			_ = d.Remove() // what is left of it is tried again the next time
		}
	}
	// Another process that looks for directories left behind can come between the making of the lock
	// file and the lock, and remove it.
	for range 100 {
		path, err := os.MkdirTemp("", prefix)
		if err != nil {
			return nil, err
		}
		if d := lock(path, os.O_CREATE); d != nil {
			return d, nil
		}
		_ = os.RemoveAll(path)
	}
	return nil, errors.New("another process keeps removing the directories that this one makes")
}

// lock takes the lock of a directory; nil means another process has it, or may have.
func lock(path string, create int) *Dir {
	name := filepath.Join(path, lockFile)
	if info, err := os.Lstat(name); create == 0 && (err != nil || !info.Mode().IsRegular()) {
		return nil
	}
	f, err := os.OpenFile(name, os.O_RDWR|create, 0o600)
	if err != nil {
		return nil
	}
	if ok, err := Try(f); err != nil || !ok || !Same(f, name) {
		f.Close()
		return nil
	}
	return &Dir{Path: path, lock: f}
}

// Remove removes the directory, and may be called again. The lock goes last, so that nobody takes it
// for a directory left behind meanwhile; Windows removes no open file, and has it go first.
func (d *Dir) Remove() error {
	err := os.RemoveAll(d.Path)
	_ = d.lock.Close() // it was only ever locked
	if err != nil {
		err = os.RemoveAll(d.Path)
	}
	return err
}
