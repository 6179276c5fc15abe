package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// An entry is a file in an archive.
type entry struct {
	Name string // with slashes
	Mode fs.FileMode
	Data []byte
}

// file reads an entry from disk.
func file(name string, mode fs.FileMode, from string) (entry, error) {
	data, err := os.ReadFile(from)
	return entry{Name: name, Mode: mode, Data: data}, err
}

// under puts entries into a directory.
func under(dir string, entries []entry) []entry {
	var moved []entry
	for _, e := range entries {
		e.Name = path.Join(dir, e.Name)
		moved = append(moved, e)
	}
	return moved
}

// writeTarGz packs entries in their order. Nobody owns them, and all have the one date.
func writeTarGz(to string, date time.Time, entries []entry) error {
	return create(to, func(w io.Writer) error {
		squeezed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		packed := tar.NewWriter(squeezed)
		for _, e := range entries {
			header := &tar.Header{Format: tar.FormatPAX, Typeflag: tar.TypeReg, Name: e.Name, Mode: int64(e.Mode.Perm()), Size: int64(len(e.Data)),
				ModTime: date}
			if err := packed.WriteHeader(header); err != nil {
				return err
			}
			if _, err := packed.Write(e.Data); err != nil {
				return err
			}
		}
		return errors.Join(packed.Close(), squeezed.Close())
	})
}

// writeZip packs entries in their order. A zip knows no time before 1980.
func writeZip(to string, date time.Time, entries []entry) error {
	if first := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC); date.Before(first) {
		date = first
	}
	return create(to, func(w io.Writer) error {
		packed := zip.NewWriter(w)
		for _, e := range entries {
			header := &zip.FileHeader{Name: e.Name, Method: zip.Deflate, Modified: date}
			header.SetMode(e.Mode)
			inside, err := packed.CreateHeader(header)
			if err != nil {
				return err
			}
			if _, err := inside.Write(e.Data); err != nil {
				return err
			}
		}
		return packed.Close()
	})
}

// create writes a file, and its directory.
func create(to string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
