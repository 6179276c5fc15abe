package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// dist is what `make release` made: INFEROMETER_DIST names it, make conformance-release sets that.
func dist(t *testing.T) *Release {
	t.Helper()
	dir := os.Getenv("INFEROMETER_DIST")
	if dir == "" {
		t.Skip("INFEROMETER_DIST names no release")
	}
	archives, err := filepath.Glob(filepath.Join(dir, "inferometer_*_linux_amd64.tar.gz"))
	if err != nil || len(archives) != 1 {
		t.Fatalf("%s holds %d archives for linux/amd64: %v", dir, len(archives), err)
	}
	version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(archives[0]), "inferometer_"), "_linux_amd64.tar.gz")
	return &Release{Version: "v" + version, Dir: dir, Builds: platforms()}
}

// unpack reads all files of an archive.
func unpack(t *testing.T, path string) map[string][]byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	inside := map[string][]byte{}
	read := func(name string, r io.Reader) {
		if inside[name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	if strings.HasSuffix(path, ".zip") {
		packed, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range packed.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			read(f.Name, r)
		}
		return inside
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return inside
		} else if err != nil {
			t.Fatal(err)
		}
		read(h.Name, r)
	}
}

// header says for which platform a program is, and whether it needs anything of the system to start.
func header(program []byte) (platform string, err error) {
	r := bytes.NewReader(program)
	if f, err := elf.NewFile(r); err == nil {
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP {
				return "", errors.New("it is linked dynamically")
			}
		}
		return "linux/" + map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[f.Machine], nil
	}
	if f, err := macho.NewFile(r); err == nil {
		return "darwin/" + map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[f.Cpu], nil
	}
	f, err := pe.NewFile(r)
	if err != nil {
		return "", fmt.Errorf("neither ELF nor Mach-O nor PE: %w", err)
	}
	return "windows/" + map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}[f.Machine], nil
}

func TestDistArchives(t *testing.T) {
	r := dist(t)
	for _, b := range r.Builds {
		inside := unpack(t, filepath.Join(r.Dir, r.archiveFile(b)))
		root := r.archiveName(b) + "/"
		got, err := header(inside[root+"inferometer"+b.Suffix()])
		if want := b.OS + "/" + b.Arch; got != want || err != nil {
			t.Errorf("the program of %s is for %q: %v", want, got, err)
		}
		for _, name := range []string{
			"LICENSE", "README.md", "CHANGELOG.md", "THIRD-PARTY-LICENSES", "man/man1/inferometer.1", "man/man1/inferometer-run.1",
			"completions/inferometer.bash", "completions/_inferometer", "completions/inferometer.fish", "completions/inferometer.ps1",
		} {
			if len(inside[root+name]) == 0 {
				t.Errorf("%s lacks %s", r.archiveFile(b), name)
			}
		}
	}
}

// Checksums that one file states of others are theirs.
func TestDistChecksums(t *testing.T) {
	r := dist(t)
	sums := map[string]string{}
	list, err := r.published(ours)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		sums[s.File] = s.SHA256
	}
	text := func(name string) string {
		data, err := os.ReadFile(filepath.Join(r.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if got := strings.Count(text(ours), "\n"); got != len(list) {
		t.Errorf("SHA256SUMS lists %d files of %d", got, len(list))
	}
	formula, bill := text("inferometer.rb"), text("inferometer_"+r.Number()+".spdx.json")
	var manifest struct {
		Architecture map[string]struct{ URL, Hash string }
	}
	if err := json.Unmarshal([]byte(text("inferometer.json")), &manifest); err != nil || len(manifest.Architecture) != 2 {
		t.Errorf("the Scoop manifest: %v %+v", err, manifest)
	}
	for _, a := range manifest.Architecture {
		if file := a.URL[strings.LastIndex(a.URL, "/")+1:]; sums[file] != a.Hash {
			t.Errorf("the Scoop manifest gives %s for %s", a.Hash, file)
		}
	}
	for _, b := range r.Builds {
		name := r.archiveFile(b)
		if b.OS != "windows" && !strings.Contains(formula, fmt.Sprintf("url %q\n      sha256 %q", r.address(name), sums[name])) {
			t.Errorf("the formula lacks %s", name)
		}
		if !strings.Contains(bill, sums[name]) {
			t.Errorf("the SBOM lacks %s", name)
		}
	}
	var said statement
	if err := json.Unmarshal([]byte(text("inferometer_"+r.Number()+".provenance.json")), &said); err != nil {
		t.Fatal(err)
	}
	for _, a := range said.Subject {
		if sums[a.Name] != a.Digest["sha256"] {
			t.Errorf("the provenance gives %s for %s", a.Digest, a.Name)
		}
		delete(sums, a.Name)
	}
	delete(sums, "inferometer_"+r.Number()+".provenance.json")
	if len(sums) > 0 {
		t.Errorf("the provenance leaves out %v", slices.Sorted(maps.Keys(sums)))
	}
}
