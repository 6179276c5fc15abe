package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/lib/atomicfile"
)

func text(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// names are the files of a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "report")
	if err := atomicfile.Bytes(name, []byte("first")); err != nil || text(t, name) != "first" {
		t.Fatal(err, text(t, name))
	}
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Bytes(name, []byte("second")); err != nil || text(t, name) != "second" {
		t.Fatal(err, text(t, name))
	}
	if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("the new file has mode %v: %v", info.Mode(), err)
	}
	if got := names(t, dir); got != "report" {
		t.Errorf("the directory holds %s", got)
	}
}

// What is private is its owner's to read alone; other files are for all whom the umask allows.
func TestPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such modes")
	}
	dir := t.TempDir()
	secret := func(w io.Writer) error { _, err := io.WriteString(w, "secret"); return err }
	for _, tt := range []struct {
		name  string
		write func(string, func(io.Writer) error) error
		want  os.FileMode // bits that others have at most
	}{{"private", atomicfile.Private, 0}, {"public", atomicfile.Write, 0o044}} {
		name := filepath.Join(dir, tt.name)
		if err := tt.write(name, secret); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm()&0o077&^tt.want != 0 || info.Mode().Perm()&0o600 != 0o600 {
			t.Errorf("%s has mode %v: %v", tt.name, info.Mode(), err)
		}
	}
}

// Until all was written the old file stands, and nothing is left of what was not.
func TestNothingByHalves(t *testing.T) {
	failed := errors.New("no space left on device")
	for _, old := range []string{"", "old"} {
		dir := t.TempDir()
		name := filepath.Join(dir, "report")
		want := ""
		if old != "" {
			want = "report"
			if err := os.WriteFile(name, []byte(old), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		err := atomicfile.Write(name, func(w io.Writer) error {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return err
			}
			if old != "" && text(t, name) != old {
				t.Error("the old file is gone before the new one is there")
			}
			return failed
		})
		if !errors.Is(err, failed) || names(t, dir) != want || old != "" && text(t, name) != old {
			t.Errorf("%v; the directory holds %q, want %q", err, names(t, dir), want)
		}
	}
}

func TestErrorsNameTheFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "none", "report")
	if err := atomicfile.Bytes(name, nil); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("%v does not name %s", err, name)
	}
	if dir := t.TempDir(); atomicfile.Bytes(dir, nil) == nil {
		t.Error("a directory was replaced")
	}
}

// A link stays one: what it points at is written.
func TestThroughLinks(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.WriteFile(real, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", link); err != nil {
		t.Skip(err)
	}
	if err := atomicfile.Bytes(link, []byte("new")); err != nil || text(t, real) != "new" || names(t, dir) != "link real" {
		t.Error(err, text(t, real), names(t, dir))
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is one no more: %v", err)
	}
}

// Devices and pipes are written to, not replaced.
func TestDevices(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such devices")
	}
	if err := atomicfile.Bytes(os.DevNull, []byte("gone")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatal("the device was replaced")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	name := "/dev/fd/" + strconv.Itoa(int(w.Fd()))
	if _, err := os.Stat(name); err != nil {
		t.Skip(err)
	}
	if err := atomicfile.Bytes(name, []byte("through")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 7)
	if _, err := io.ReadFull(r, got); err != nil || string(got) != "through" {
		t.Errorf("%q, %v", got, err)
	}
}

// A file that is named by a descriptor is written as it stands, as its owner holds it open: another in its
// place would be written for nobody.
func TestFileOfADescriptor(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	name := "/dev/fd/" + strconv.Itoa(int(f.Fd()))
	if _, err := os.Stat(name); err != nil {
		t.Skip(err)
	}
	if err := atomicfile.Bytes(name, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(f); err != nil || string(got) != "new" {
		t.Errorf("who holds the file open reads %q, %v", got, err)
	}
}
