package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// registry is where packages come from. What comes is compared with the lock file, so it need not be trusted.
const registry = "https://registry.npmjs.org/"

// npmPackage is a package of the lock file.
type npmPackage struct {
	Version   string `json:"version"`
	Integrity string `json:"integrity"`
	Dev       bool   `json:"dev"`
	url       string // of its archive
	dir       string // where it was unpacked
}

// npmPackages are those that the page may import, by name.
type npmPackages map[string]*npmPackage

// locked reads the packages of a lock file, without those that only checks need.
func locked(file string) (npmPackages, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]*npmPackage `json:"packages"`
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	all := npmPackages{}
	for path, p := range lock.Packages {
		if name, ok := strings.CutPrefix(path, "node_modules/"); ok && !p.Dev {
			_, base, scoped := strings.Cut(name, "/")
			if !scoped {
				base = name
			}
			p.url = registry + name + "/-/" + base + "-" + p.Version + ".tgz"
			all[name] = p
		}
	}
	return all, nil
}

// fetch has all packages unpacked below dir. One that is there was compared with its checksum when it came.
func (all npmPackages) fetch(dir string) error {
	for name, p := range all {
		p.dir = filepath.Join(dir, strings.ReplaceAll(name, "/", "+")+"@"+p.Version)
		if _, err := os.Stat(p.dir); err == nil {
			continue
		}
		archive, err := p.download()
		if err == nil {
			err = unpack(archive, p.dir)
		}
		if err != nil {
			return fmt.Errorf("fetch the npm package %s %s: %w", name, p.Version, err)
		}
	}
	return nil
}

func (p *npmPackage) download() ([]byte, error) {
	client := http.Client{Timeout: 2 * time.Minute}
	answer, err := client.Get(p.url)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", p.url, answer.Status)
	}
	archive, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	sum := sha512.Sum512(archive)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != p.Integrity {
		return nil, fmt.Errorf("%s has the checksum %s, the lock file says %s", p.url, got, p.Integrity)
	}
	return archive, nil
}

// unpack writes the files of a package to dir, all or none.
func unpack(archive []byte, dir string) error {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	part, err := os.MkdirTemp(parent, "part")
	if err != nil {
		return err
	}
	defer os.RemoveAll(part)
	plain, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	for files := tar.NewReader(plain); ; {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			return os.Rename(part, dir)
		}
		if err != nil {
			return err
		}
		_, inside, _ := strings.Cut(head.Name, "/") // all is in one directory
		if head.Typeflag != tar.TypeReg || !filepath.IsLocal(inside) {
			continue
		}
		content, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		name := filepath.Join(part, inside)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return err
		}
	}
}

// entry is the module that an import of the package names.
func (p *npmPackage) entry() (string, error) {
	text, err := os.ReadFile(filepath.Join(p.dir, "package.json"))
	if err != nil {
		return "", err
	}
	var about struct {
		Module string `json:"module"`
	}
	if err := json.Unmarshal(text, &about); err != nil {
		return "", err
	}
	if about.Module == "" {
		return "", fmt.Errorf("%s has no ES module", p.dir)
	}
	return filepath.Join(p.dir, about.Module), nil
}
