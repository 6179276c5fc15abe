package main

import (
	"archive/tar"
	"archive/zip"
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

// repository makes one with a commit and what a release reads of it.
func repository(t *testing.T, tags ...string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cmd/inferometer/main.go": "package main\n\nfunc main() {}\n",
		"go.mod":                  "module example.com/inferometer\n\ngo 1.26.0\n",
		"LICENSE":                 "a licence\n", "README.md": "# Inferometer\n", "CHANGELOG.md": "# Changelog\n",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	commands := [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "first"}}
	for _, tag := range tags {
		commands = append(commands, []string{"tag", tag})
	}
	for _, args := range commands {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-11-17T16:00:00+02:00", "GIT_AUTHOR_DATE=2026-11-17T16:00:00+02:00")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	return dir
}

func TestVersion(t *testing.T) {
	for _, test := range []struct {
		name, flag, want string
		tags             []string
		change           bool
	}{
		{name: "a tag", tags: []string{"v0.1.0"}, want: "v0.1.0"},
		{name: "no tag", want: "v0.0.0-20261117140000-"},
		{name: "another thing's tag", tags: []string{"chart-1"}, want: "v0.0.0-20261117140000-"},
		{name: "a changed tree", tags: []string{"v0.1.0"}, change: true, want: "v0.1.0+dirty"},
		{name: "as told", flag: "v1.2.3-rc.1", want: "v1.2.3-rc.1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := repository(t, test.tags...)
			if test.change {
				if err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			r, err := describe(t.Context(), dir, test.flag, "dist")
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(r.Version, test.want) || len(r.Commit) != 40 || r.Date != time.Date(2026, 11, 17, 14, 0, 0, 0, time.UTC) {
				t.Errorf("%+v, want version %s", r, test.want)
			}
			if want := filepath.Join(dir, "dist"); r.Dir != want {
				t.Errorf("writes to %s, want %s", r.Dir, want)
			}
		})
	}
}

func TestVersionsRefused(t *testing.T) {
	dir := repository(t)
	for _, version := range []string{"1.2.3", "v1.2", "v01.2.3", "v1.2.3 -X main.a=b", "latest"} {
		if _, err := describe(t.Context(), dir, version, "dist"); err == nil {
			t.Errorf("%q is taken for a version", version)
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if _, err := describe(t.Context(), dir, "", "dist"); err == nil || !strings.Contains(err.Error(), "yesterday") {
		t.Errorf("SOURCE_DATE_EPOCH=yesterday gives %v", err)
	}
}

func TestChoose(t *testing.T) {
	all := []form{{Name: "archives"}, {Name: "deb"}, {Name: "checksums"}}
	chosen, err := choose(all, "deb")
	if got := names(chosen); err != nil || !slices.Equal(got, []string{"deb", "checksums"}) {
		t.Errorf("deb chooses %v, %v", got, err)
	}
	if _, err := choose(all, "deb,dep"); err == nil || !strings.Contains(err.Error(), "-only dep") {
		t.Errorf("dep gives %v", err)
	}
}

func TestEmpty(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "precious")
	if err := errors.Join(empty(dir), os.WriteFile(filepath.Join(dir, "thesis"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := empty(dir); err == nil {
		t.Error("a directory that holds no release is emptied")
	}
	if err := os.WriteFile(filepath.Join(dir, "SHA256SUMS"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := empty(dir); err != nil {
		t.Error(err)
	}
}

func TestPack(t *testing.T) {
	entries := []entry{{"a/program", 0o755, []byte("program")}, {"a/LICENSE", 0o644, []byte("a licence")}}
	dir, date := t.TempDir(), time.Date(2026, 11, 17, 14, 0, 0, 0, time.UTC)
	tarball, zipped := filepath.Join(dir, "a.tar.gz"), filepath.Join(dir, "a.zip")
	if err := errors.Join(writeTarGz(tarball, date, entries), writeZip(zipped, date, entries)); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(tarball)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := zip.OpenReader(zipped)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	reader := tar.NewReader(unzipped)
	for i, want := range entries {
		header, err := reader.Next()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(reader)
		if err != nil || header.Name != want.Name || header.FileInfo().Mode() != want.Mode || string(data) != string(want.Data) ||
			!header.ModTime.Equal(date) {
			t.Errorf("tar holds %+v %q, want %+v: %v", header, data, want, err)
		}
		if z := packed.File[i]; z.Name != want.Name || z.Mode() != want.Mode || !z.Modified.Equal(date) {
			t.Errorf("zip holds %+v, want %+v", z.FileHeader, want)
		}
	}
}
