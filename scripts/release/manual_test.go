package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// documented is a release whose program for this machine is a shell script.
func documented(t *testing.T, program string) *Release {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a program is a shell script")
	}
	r := &Release{Version: "v1.2.3", Source: "../..", Work: t.TempDir(), inside: []part{{Name: "a", Version: "1", Licences: []byte("do as you like")}}}
	b := Build{runtime.GOOS, runtime.GOARCH, filepath.Join(r.Work, "inferometer")}
	r.Builds = []Build{b}
	if err := os.WriteFile(b.Program, []byte("#!/bin/sh\n"+program), 0o755); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestInstalled(t *testing.T) {
	r := documented(t, `case $1 in man) echo page > $2/inferometer.1; echo page > $2/inferometer-run.1 ;; completion) echo "for $2" ;; esac`)
	list, err := r.installed(r.Builds[0], "usr/share/zsh/here")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.Mode.String()+" "+e.Name)
		if strings.HasSuffix(e.Name, "/_inferometer") && string(e.Data) != "for zsh\n" {
			t.Errorf("%s holds %q", e.Name, e.Data)
		}
	}
	want := `-rwxr-xr-x usr/bin/inferometer
-rw-r--r-- usr/share/bash-completion/completions/inferometer
-rw-r--r-- usr/share/doc/inferometer/CHANGELOG.md
-rw-r--r-- usr/share/doc/inferometer/README.md
-rw-r--r-- usr/share/doc/inferometer/THIRD-PARTY-LICENSES
-rw-r--r-- usr/share/doc/inferometer/copyright
-rw-r--r-- usr/share/fish/vendor_completions.d/inferometer.fish
-rw-r--r-- usr/share/man/man1/inferometer-run.1.gz
-rw-r--r-- usr/share/man/man1/inferometer.1.gz
-rw-r--r-- usr/share/zsh/here/_inferometer`
	if strings.Join(got, "\n") != want {
		t.Errorf("installs\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// A release without its manual is not made, however often one asks.
func TestManualMissing(t *testing.T) {
	for _, program := range []string{"exit 2", "true"} {
		r := documented(t, program)
		_, first := r.manual()
		_, second := r.manual()
		if first == nil || second == nil {
			t.Errorf("%s: %v", program, errors.Join(first, second))
		}
	}
}
