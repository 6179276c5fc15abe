// Package atomicfile writes files that are there whole or not at all: whoever reads a
// report never finds half of one, whatever the disk, a signal or a crash did to its
// writer. A file that was there before stays as it was until the new one is complete.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// Write makes the file name of what content writes. It is written aside, under a hidden
// name in the same directory, flushed to disk and renamed. What is not an ordinary file,
// such as a pipe, or /dev/stdout whatever that is, is written as it stands.
func Write(name string, content func(io.Writer) error) error { return write(name, 0o666, content) }

// Private is Write for private data: only the owner can read a new file.
func Private(name string, content func(io.Writer) error) error { return write(name, 0o600, content) }

func write(name string, mode fs.FileMode, content func(io.Writer) error) error {
	target, old, err := find(name)
	if err != nil {
		return err
	}
	if old != nil && (!old.Mode().IsRegular() || strings.HasPrefix(name, "/dev/") || strings.HasPrefix(name, "/proc/")) {
		return inPlace(target, content)
	}
	f, err := aside(target, old, mode)
	if err != nil {
		if old != nil && errors.Is(err, fs.ErrPermission) {
			return inPlace(target, content) // it may be changed, but its directory may not
		}
		return err
	}
	defer os.Remove(f.Name()) // of what could not be finished; after the rename there is none
	if err := fill(f, content); err != nil {
		f.Close()
		return about(name, err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return about(name, err)
	}
	err = os.Rename(f.Name(), target)
	if err != nil && old != nil { // a file that was mounted by itself cannot be replaced
		if inPlace(target, func(w io.Writer) error { return copyFrom(w, f.Name()) }) == nil {
			return nil
		}
	}
	return about(name, err)
}

// Bytes makes the file name of data.
func Bytes(name string, data []byte) error {
	return Write(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// about is an error that names the file asked for, and not the one written aside.
func about(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) && strings.HasPrefix(filepath.Base(path.Path), ".") {
		return &fs.PathError{Op: path.Op, Path: name, Err: path.Err}
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return &fs.PathError{Op: link.Op, Path: name, Err: link.Err}
	}
	return err
}

// find follows links to the file that name stands for, and says what is there; nil:
// nothing.
func find(name string) (target string, old fs.FileInfo, err error) {
	target = name
	if real, err := filepath.EvalSymlinks(name); err == nil {
		target = real
	}
	old, err = os.Stat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return target, nil, nil
	}
	if err == nil && old.IsDir() {
		err = fmt.Errorf("%s is a directory", name)
	}
	return target, old, err
}

// aside makes the file that becomes target, with the permissions of the mode or of the old one.
func aside(target string, old fs.FileInfo, mode fs.FileMode) (*os.File, error) {
	dir, base := filepath.Split(target)
	for {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf(".%s.%08x", base, rand.Uint32())), os.O_CREATE|os.O_EXCL|os.O_RDWR, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, about(target, err)
		}
		if old != nil {
			_ = f.Chmod(old.Mode().Perm()) // where the system has no such thing nothing is lost
		}
		return f, nil
	}
}

func fill(f *os.File, content func(io.Writer) error) error {
	w := bufio.NewWriter(f)
	return errors.Join(content(w), w.Flush())
}

func inPlace(name string, content func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	return errors.Join(fill(f, content), f.Close())
}

func copyFrom(w io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
