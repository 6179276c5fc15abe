package record

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Reading says how far it is, and ends where it is told to.
func TestReading(t *testing.T) {
	closed, _ := writeFile(t, 1500)
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, closed, 0o600); err != nil {
		t.Fatal(err)
	}
	by := new(Reading)
	f := File{Path: path, Reading: by}
	if err := f.Requests(func(*Record) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if read, size := by.Bytes(); read != int64(len(closed)) || size != read {
		t.Errorf("%d of %d bytes were read, the file has %d", read, size, len(closed))
	}
	by.Stop()
	for name, err := range map[string]error{
		"in order": f.Requests(func(*Record) error { return nil }),
		"in parts": inParts(f, readBytes, 2, readNothing, func(struct{}) error { return nil }),
	} {
		if !errors.Is(err, ErrStopped) {
			t.Errorf("%s: %v, want that it was stopped", name, err)
		}
	}
}
