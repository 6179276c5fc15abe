package limitio

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadAll(t *testing.T) {
	limit := Limit{Name: "limits.file", Bytes: 10_000}
	for _, n := range []int{0, 1, firstPiece - 1, firstPiece, firstPiece + 1, 9_999, 10_000} {
		want := bytes.Repeat([]byte("x"), n)
		for _, l := range []Limit{limit, {}} {
			if got, err := l.ReadAll(iotest.HalfReader(bytes.NewReader(want))); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes: %d, %v", n, len(got), err)
			}
			if got, err := io.ReadAll(l.Reader(iotest.HalfReader(bytes.NewReader(want)), "")); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes through a Reader: %d, %v", n, len(got), err)
			}
		}
	}
	var over *Error
	if _, err := limit.ReadAll(strings.NewReader(strings.Repeat("x", 10_001))); !errors.As(err, &over) || !strings.Contains(err.Error(), "raise limits.file") {
		t.Errorf("beyond the limit: %v", err)
	}
	got, err := io.ReadAll(limit.Reader(strings.NewReader(strings.Repeat("x", 20_000)), "the body"))
	if len(got) != 10_000 || err == nil || err.Error() != "the body is larger than 10000 bytes: raise limits.file to allow it" {
		t.Errorf("beyond the limit through a Reader: %d, %v", len(got), err)
	}
}

func TestReadFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, make([]byte, 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := (Limit{Bytes: 5000}).ReadFile(name); err != nil || len(got) != 5000 {
		t.Errorf("%d, %v", len(got), err)
	}
	var over *Error
	if _, err := (Limit{Bytes: 4999}).ReadFile(name); !errors.As(err, &over) || over.What != name {
		t.Errorf("a larger file: %v", err)
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		if _, err := (Limit{Bytes: 1 << 30}).ReadFile("/dev/zero"); err == nil || !strings.Contains(err.Error(), "a device") {
			t.Errorf("/dev/zero: %v", err)
		}
	}
}
