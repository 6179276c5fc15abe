package oci

import (
	"archive/tar"
	"errors"
	"os"
	"path/filepath"
)

// WriteDir writes the layout as a directory.
func (l *Layout) WriteDir(dir string) error {
	for _, f := range l.files {
		to := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, f.data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// WriteArchive writes the layout as one file: the directory, packed.
func (l *Layout) WriteArchive(name string) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(l.pack(tar.NewWriter(out)), out.Close())
}

func (l *Layout) pack(w *tar.Writer) error {
	for _, name := range []string{"blobs/", "blobs/sha256/"} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o755, ModTime: l.created}); err != nil {
			return err
		}
	}
	for _, f := range l.files {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: 0o644, Size: int64(len(f.data)),
			ModTime: l.created}); err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	return w.Close()
}
