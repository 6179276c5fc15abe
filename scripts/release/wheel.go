package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// wheels are packages for Python's installers that hold the program as a script: no Python runs when it does.
func wheels(r *Release) ([]string, error) {
	version, err := pythonVersion(r.Number())
	if err != nil {
		return nil, err
	}
	licences, err := r.licences()
	if err != nil {
		return nil, err
	}
	readme, err := os.ReadFile(filepath.Join(r.Source, "packaging/README.md"))
	if err != nil {
		return nil, err
	}
	var made []string
	for _, b := range r.Builds {
		platforms, err := pythonPlatforms(b)
		if err != nil {
			return nil, err
		}
		dir := "inferometer-" + version
		program, err := file(dir+".data/scripts/inferometer"+b.Suffix(), 0o755, b.Program)
		if err != nil {
			return nil, err
		}
		inside := append([]entry{program}, under(dir+".dist-info/licenses", licences)...)
		inside = append(inside, entry{dir + ".dist-info/METADATA", 0o644, metadata(version, readme)}, entry{dir + ".dist-info/WHEEL", 0o644, wheelFile(platforms)})
		inside = append(inside, record(dir+".dist-info/RECORD", inside))
		name := fmt.Sprintf("%s-py3-none-%s.whl", dir, strings.Join(platforms, "."))
		if err := writeWheel(filepath.Join(r.Dir, name), r.Date, inside); err != nil {
			return nil, err
		}
		made = append(made, name)
	}
	return made, nil
}

// pythonPlatforms are the names that Python's installers have for a platform. A static program runs on any Linux, with
// glibc and with musl: one wheel carries the oldest name of both. The macOS is the oldest that Go supports.
func pythonPlatforms(b Build) ([]string, error) {
	cpu := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[b.Arch]
	switch b.OS {
	case "linux":
		return []string{"manylinux2014_" + cpu, "manylinux_2_17_" + cpu, "musllinux_1_1_" + cpu}, nil
	case "darwin":
		return []string{"macosx_12_0_" + map[string]string{"amd64": "x86_64", "arm64": "arm64"}[b.Arch]}, nil
	case "windows":
		return []string{"win_" + b.Arch}, nil
	}
	return nil, fmt.Errorf("no wheel for %s/%s: Python's name for it is not known here", b.OS, b.Arch)
}

var (
	// commitMade is the pre-release that is made of a commit: its time, and its name.
	commitMade = regexp.MustCompile(`^(\d+\.\d+\.\d+)-(?:0\.)?(\d{14})-[0-9a-f]+$`)
	planned    = regexp.MustCompile(`^(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.(\d+))?$`)
)

// pythonVersion is a version as Python writes it (PEP 440).
func pythonVersion(number string) (string, error) {
	number, local, _ := strings.Cut(number, "+")
	if local != "" {
		local = "+" + strings.ReplaceAll(strings.ToLower(local), "-", ".")
	}
	if m := commitMade.FindStringSubmatch(number); m != nil {
		return m[1] + ".dev" + m[2] + local, nil
	}
	if m := planned.FindStringSubmatch(number); m != nil {
		kind := map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[m[2]]
		return m[1] + kind + m[3] + local, nil
	}
	return "", fmt.Errorf("version %s has no equivalent on PyPI: use X.Y.Z, X.Y.Z-alpha.N, -beta.N or -rc.N", number)
}

func metadata(version string, readme []byte) []byte {
	head := []string{
		"Metadata-Version: 2.4",
		"Name: inferometer",
		"Version: " + version,
		"Summary: " + summary,
		"License-Expression: Apache-2.0",
		"License-File: LICENSE",
		"License-File: THIRD-PARTY-LICENSES",
		"Keywords: llm,inference,benchmark,load testing,ttft,vllm,triton,genai-perf",
		"Classifier: Environment :: Console",
		"Classifier: Intended Audience :: Developers",
		"Classifier: Operating System :: MacOS",
		"Classifier: Operating System :: Microsoft :: Windows",
		"Classifier: Operating System :: POSIX :: Linux",
		"Classifier: Topic :: System :: Benchmark",
		"Project-URL: Homepage, " + home,
		"Project-URL: Documentation, " + home + "/tree/main/docs",
		"Project-URL: Changelog, " + home + "/blob/main/CHANGELOG.md",
		"Project-URL: Issues, " + home + "/issues",
		"Requires-Python: >=3.7",
		"Description-Content-Type: text/markdown",
	}
	return append([]byte(strings.Join(head, "\n")+"\n\n"), readme...)
}

func wheelFile(platforms []string) []byte {
	text := "Wheel-Version: 1.0\nGenerator: inferometer\nRoot-Is-Purelib: false\n"
	for _, p := range platforms {
		text += "Tag: py3-none-" + p + "\n"
	}
	return []byte(text)
}

// record lists all files with their hashes, and itself without one.
func record(name string, inside []entry) entry {
	var list strings.Builder
	for _, e := range inside {
		sum := sha256.Sum256(e.Data)
		fmt.Fprintf(&list, "%s,sha256=%s,%d\n", e.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(e.Data))
	}
	fmt.Fprintf(&list, "%s,,\n", name)
	return entry{name, 0o644, []byte(list.String())}
}

// writeWheel is a zip whose sizes stand before the data: PyPI refuses those that say them after it.
func writeWheel(to string, date time.Time, entries []entry) error {
	if date.Year() < 1980 {
		date = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) // a zip knows no time before it
	}
	return create(to, func(w io.Writer) error {
		packed := zip.NewWriter(w)
		for _, e := range entries {
			var squeezed bytes.Buffer
			f, err := flate.NewWriter(&squeezed, flate.BestCompression)
			if err != nil {
				return err
			}
			if _, err := f.Write(e.Data); err != nil {
				return err
			}
			if err := f.Close(); err != nil {
				return err
			}
			header := &zip.FileHeader{Name: e.Name, Method: zip.Deflate, CRC32: crc32.ChecksumIEEE(e.Data)}
			header.CompressedSize64, header.UncompressedSize64 = uint64(squeezed.Len()), uint64(len(e.Data))
			header.ModifiedDate = uint16(date.Day() + int(date.Month())<<5 + (date.Year()-1980)<<9)
			header.ModifiedTime = uint16(date.Second()/2 + date.Minute()<<5 + date.Hour()<<11)
			header.SetMode(e.Mode)
			inside, err := packed.CreateRaw(header)
			if err != nil {
				return err
			}
			if _, err := inside.Write(squeezed.Bytes()); err != nil {
				return err
			}
		}
		return packed.Close()
	})
}
