package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// built is a release of programs that are a few bytes each, under the root of this repository.
func built(t *testing.T, version string) *Release {
	t.Helper()
	r := &Release{Version: version, Commit: strings.Repeat("0c3b66af", 5), Date: time.Date(2026, 11, 17, 16, 0, 0, 0, time.UTC), Source: "../..", Dir: t.TempDir(), Work: t.TempDir()}
	r.inside = []part{{Name: "a library", Version: "v1", Licences: []byte("its licence")}}
	for _, b := range platforms() {
		b.Program = filepath.Join(r.Work, b.OS+b.Arch)
		if err := os.WriteFile(b.Program, []byte("for "+b.OS+" on "+b.Arch), 0o755); err != nil {
			t.Fatal(err)
		}
		r.Builds = append(r.Builds, b)
	}
	return r
}

// Made twice, in two directories, every file of every form is the same.
func TestCarriersAreTheSameAgain(t *testing.T) {
	first, second := built(t, "v0.1.0"), built(t, "v0.1.0")
	for _, f := range []form{{"oci", image}, {"npm", npm}, {"wheel", wheels}, {"checksums", checksums}} {
		for _, r := range []*Release{first, second} {
			made, err := f.Make(r)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range made {
				if _, err := os.Stat(filepath.Join(r.Dir, name)); err != nil {
					t.Error(err)
				}
			}
		}
	}
	sums := func(r *Release) string {
		data, err := os.ReadFile(filepath.Join(r.Dir, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if a, b := sums(first), sums(second); a != b {
		t.Errorf("made again, it is\n%s\nand was\n%s", b, a)
	}
}

func TestPythonVersion(t *testing.T) {
	for number, want := range map[string]string{
		"0.1.0":                             "0.1.0",
		"1.2.3-rc.1":                        "1.2.3rc1",
		"1.2.3-alpha.10":                    "1.2.3a10",
		"1.2.3-beta.2+dirty":                "1.2.3b2+dirty",
		"0.0.0-20261117160000-0c3b66af0c3b": "0.0.0.dev20261117160000",
		"0.1.1-0.20261117160000-0c3b66af":   "0.1.1.dev20261117160000",
		"0.1.0+Some-thing":                  "0.1.0+some.thing",
		"1.2.3-nightly":                     "",
		"1.2.3-rc":                          "",
	} {
		got, err := pythonVersion(number)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s is %q for Python, want %q: %v", number, got, want, err)
		}
	}
}

// A wheel says what is in it, and has all sizes before the data.
func TestWheel(t *testing.T) {
	r := built(t, "v0.1.0")
	made, err := wheels(r)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"inferometer-0.1.0-py3-none-macosx_12_0_arm64.whl", "inferometer-0.1.0-py3-none-macosx_12_0_x86_64.whl",
		"inferometer-0.1.0-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.musllinux_1_1_aarch64.whl",
		"inferometer-0.1.0-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl",
		"inferometer-0.1.0-py3-none-win_amd64.whl", "inferometer-0.1.0-py3-none-win_arm64.whl",
	}
	if slices.Sort(made); !slices.Equal(made, want) {
		t.Fatalf("made %q", made)
	}
	z, err := zip.OpenReader(filepath.Join(r.Dir, want[4]))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	inside := map[string]string{}
	for _, f := range z.File {
		if f.Flags != 0 || !f.Modified.Equal(r.Date) {
			t.Errorf("%s has flags %x and is of %s", f.Name, f.Flags, f.Modified)
		}
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		inside[f.Name] = string(data)
		if program := strings.HasSuffix(f.Name, ".exe"); program != (f.Mode().Perm() == 0o755) {
			t.Errorf("%s is %s", f.Name, f.Mode())
		}
	}
	if got := inside["inferometer-0.1.0.data/scripts/inferometer.exe"]; got != "for windows on amd64" {
		t.Errorf("the program is %q", got)
	}
	if got := inside["inferometer-0.1.0.dist-info/licenses/THIRD-PARTY-LICENSES"]; !strings.Contains(got, "its licence") {
		t.Errorf("the licences of what is linked are %q", got)
	}
	for name := range inside {
		if record := inside["inferometer-0.1.0.dist-info/RECORD"]; !strings.Contains(record, name+",") {
			t.Errorf("%s is not in\n%s", name, record)
		}
	}
}

// The package that people name asks for those that there are, in its own version.
func TestNPM(t *testing.T) {
	r := built(t, "v0.1.0-rc.1")
	made, err := npm(r)
	if err != nil || len(made) != 7 {
		t.Fatalf("made %q: %v", made, err)
	}
	var named manifest
	for _, name := range slices.Backward(made) {
		var m manifest
		inside := unpacked(t, filepath.Join(r.Dir, name))
		if err := json.Unmarshal([]byte(inside["package/package.json"]), &m); err != nil {
			t.Fatal(err)
		}
		if m.Name == "inferometer" {
			named = m
			if inside["package/"+m.Bin["inferometer"]] == "" {
				t.Errorf("the launcher is not in %s", name)
			}
			continue
		}
		if !strings.Contains(inside["package/THIRD-PARTY-LICENSES"], "its licence") {
			t.Errorf("%s has no licences of what is linked", name)
		}
		if named.Optional[m.Name] != m.Version || m.Version != "0.1.0-rc.1" || m.Name != fmt.Sprintf("@inferometer/%s-%s", m.OS[0], m.CPU[0]) {
			t.Errorf("%s holds %+v", name, m)
		}
	}
	if len(named.Optional) != 6 || named.Optional["@inferometer/win32-x64"] == "" {
		t.Errorf("it asks for %v", named.Optional)
	}
}

// unpacked is what a .tgz holds.
func unpacked(t *testing.T, name string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	squeezed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	inside := map[string]string{}
	for r := tar.NewReader(squeezed); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return inside
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		inside[h.Name] = string(text)
	}
}
