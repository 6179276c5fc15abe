package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSystemVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3":                               "1.2.3",
		"v1.2.3-rc.1":                          "1.2.3~rc.1",
		"v0.0.0-20261117160000-0c3b66af0c3b":   "0.0.0~20261117160000.0c3b66af0c3b",
		"v1.2.3-rc.1+dirty":                    "1.2.3~rc.1+dirty",
		"v0.0.0-20261117160000-0c3b66af+dirty": "0.0.0~20261117160000.0c3b66af+dirty",
	} {
		if got := (&Release{Version: version}).systemVersion(); got != want {
			t.Errorf("%s is %s, want %s", version, got, want)
		}
	}
}

func TestDpkgTar(t *testing.T) {
	packed, err := dpkgTar(time.Unix(1, 0), []entry{{"usr/bin/a", 0o755, []byte("program")}, {"usr/share/doc/a", 0o644, nil}})
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, h.FileInfo().Mode().String()+" "+h.Name)
	}
	want := []string{"drwxr-xr-x ./", "drwxr-xr-x ./usr/", "drwxr-xr-x ./usr/bin/", "drwxr-xr-x ./usr/share/", "drwxr-xr-x ./usr/share/doc/", "-rwxr-xr-x ./usr/bin/a", "-rw-r--r-- ./usr/share/doc/a"}
	if !slices.Equal(got, want) {
		t.Errorf("holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAr(t *testing.T) {
	var got bytes.Buffer
	if err := writeAr(&got, time.Unix(1, 0), []entry{{"odd", 0o644, []byte("abc")}, {"even", 0o644, []byte("ab")}}); err != nil {
		t.Fatal(err)
	}
	want := "!<arch>\n" +
		"odd             1           0     0     100644  3         `\nabc\n" +
		"even            1           0     0     100644  2         `\nab"
	if got.String() != want {
		t.Errorf("got\n%q\nwant\n%q", got.String(), want)
	}
}

func TestLicence(t *testing.T) {
	root, err := output(t.Context(), ".", nil, "go", "env", "GOROOT")
	if err != nil {
		t.Fatal(err)
	}
	id, texts, err := licence(strings.TrimSpace(string(root)))
	if id != "BSD-3-Clause" || !bytes.Contains(texts, []byte("The Go Authors")) || err != nil {
		t.Errorf("Go is under %s: %v\n%s", id, err, texts)
	}
	if _, _, err := licence(t.TempDir()); err == nil {
		t.Error("what has no licence is handed out")
	}
}

func TestConditions(t *testing.T) {
	got := string(conditions([]part{{Name: "a", Version: "1", Licences: []byte("one")}, {Name: "b", Version: "2", Licences: []byte("two")}, {Name: "c", Version: "3", Licences: []byte("one")}}))
	if !strings.Contains(got, "a 1\nc 3\n\none\n") || strings.Count(got, "one") != 1 {
		t.Error(got)
	}
}

// offered makes a directory as a release has it, whose program is a shell script.
func offered(t *testing.T) string {
	t.Helper()
	r := &Release{Version: "v1.2.3", Dir: t.TempDir()}
	for _, b := range platforms() {
		if b.OS == "windows" {
			continue
		}
		program := entry{r.archiveName(b) + "/inferometer", 0o755, []byte("#!/bin/sh\necho inferometer v1.2.3 for " + b.OS + "\n")}
		if err := writeTarGz(filepath.Join(r.Dir, r.archiveFile(b)), time.Unix(1, 0), []entry{program}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := checksums(r); err != nil {
		t.Fatal(err)
	}
	return r.Dir
}

func TestInstallScript(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh")
	}
	for _, test := range []struct {
		name, args, want string
		spoil            func(dir string) error
		fails            bool
	}{
		{name: "the latest", want: "installed "},
		{name: "a version", args: "--version v1.2.3", want: "installed "},
		{name: "a version without its v", args: "--version=1.2.3", want: "installed "},
		{name: "another version", args: "--version v1.2.4", want: "not version v1.2.4", fails: true},
		{name: "no version", args: "--version", want: "--version needs a value", fails: true},
		{name: "a path as a version", args: "--version ../../x", want: "is not a version", fails: true},
		{name: "nonsense", args: "--frobnicate", want: "unknown argument: --frobnicate", fails: true},
		{name: "a wrong checksum", want: "wrong checksum, nothing was installed", fails: true, spoil: func(dir string) error {
			archives, err := filepath.Glob(filepath.Join(dir, "*.tar.gz"))
			for _, a := range archives {
				err = errors.Join(err, os.WriteFile(a, []byte("something else"), 0o644))
			}
			return err
		}},
		{name: "an archive lost", want: "cannot fetch", fails: true, spoil: func(dir string) error {
			archives, err := filepath.Glob(filepath.Join(dir, "*.tar.gz"))
			for _, a := range archives {
				err = errors.Join(err, os.Remove(a))
			}
			return err
		}},
		{name: "no release", want: "cannot fetch", fails: true, spoil: func(dir string) error { return os.Remove(filepath.Join(dir, ours)) }},
		{name: "no such platform", want: "has no archive for", fails: true, spoil: func(dir string) error { return os.WriteFile(filepath.Join(dir, ours), nil, 0o644) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			from, to := offered(t), filepath.Join(t.TempDir(), "a b", "bin")
			if test.spoil != nil {
				if err := test.spoil(from); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("sh", append([]string{"../install.sh", "--dir", to}, strings.Fields(test.args)...)...)
			cmd.Env = append(os.Environ(), "BASE_URL="+from)
			out, err := cmd.CombinedOutput()
			if !strings.Contains(string(out), test.want) || (err != nil) != test.fails {
				t.Errorf("%v, %s\nwant %q", err, out, test.want)
			}
			if _, err := os.Stat(filepath.Join(to, "inferometer")); (err != nil) != test.fails {
				t.Errorf("the program: %v", err)
			}
		})
	}
}
