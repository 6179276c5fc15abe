package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// A part is something of others that is in the program.
type part struct {
	Name     string
	Version  string
	URL      string // package URL
	Sum      string // as go.sum or package-lock.json has it
	Licence  string // SPDX expression
	Licences []byte // the texts
}

// linked are the modules in one program, by path, and the Go that it was compiled with.
func linked(b Build) (modules map[string]string, compiler string, err error) {
	info, err := buildinfo.ReadFile(b.Program)
	if err != nil {
		return nil, "", fmt.Errorf("read what is linked into %s: %w", b.Program, err)
	}
	modules = map[string]string{}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		modules[m.Path] = m.Version
	}
	return modules, info.GoVersion, nil
}

// parts are all that is in any of the programs: modules, Go's own library, and what the report page is made of.
// Several forms ask, and to know licences takes seconds.
func (r *Release) parts() ([]part, error) {
	var err error
	if r.inside == nil {
		r.inside, err = r.findParts()
	}
	return r.inside, err
}

func (r *Release) findParts() ([]part, error) {
	wanted := map[string]string{}
	for _, b := range r.Builds {
		modules, _, err := linked(b)
		if err != nil {
			return nil, err
		}
		for path, version := range modules {
			wanted[path] = version
		}
	}
	list, err := r.modules(wanted)
	if err != nil {
		return nil, err
	}
	library, err := standard()
	if err != nil {
		return nil, err
	}
	page, err := r.page()
	return append(append(list, library), page...), err
}

// modules reads the licences of modules from where go has unpacked them.
func (r *Release) modules(wanted map[string]string) ([]part, error) {
	out, err := output(context.Background(), r.Source, []string{"GOFLAGS=", "GOWORK=off"}, "go", "list", "-m", "-mod=readonly", "-json=Path,Version,Dir,Sum", "all")
	if err != nil {
		return nil, err
	}
	var list []part
	for read := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Version, Dir, Sum string }
		if err := read.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		if version, ok := wanted[m.Path]; !ok || version != m.Version {
			continue
		}
		p := part{Name: m.Path, Version: m.Version, URL: "pkg:golang/" + m.Path + "@" + m.Version, Sum: m.Sum}
		if p.Licence, p.Licences, err = licence(m.Dir); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	if len(list) != len(wanted) {
		return nil, fmt.Errorf("go list knows %d of the %d modules in the programs", len(list), len(wanted))
	}
	return list, nil
}

// standard is Go's own library.
func standard() (part, error) {
	root, err := output(context.Background(), ".", nil, "go", "env", "GOROOT")
	if err != nil {
		return part{}, err
	}
	p := part{Name: "stdlib", Version: strings.TrimPrefix(runtime.Version(), "go")}
	p.URL = "pkg:golang/stdlib@" + p.Version
	p.Licence, p.Licences, err = licence(strings.TrimSpace(string(root)))
	return p, err
}

// page lists the packages that the report page carries.
func (r *Release) page() ([]part, error) {
	var lock struct {
		Packages map[string]struct {
			Version, Integrity, License string
			Dev                         bool
		}
	}
	data, err := os.ReadFile(filepath.Join(r.Source, "page", "package-lock.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		return nil, fmt.Errorf("read page/package-lock.json: %w", err)
	}
	texts, err := os.ReadFile(filepath.Join(r.Source, "page", "LICENSES"))
	if err != nil {
		return nil, err
	}
	var list []part
	for path, p := range lock.Packages {
		name := strings.TrimPrefix(path, "node_modules/")
		// Not all that is installed is in the page: its list of licences says what is.
		if p.Dev || path == "" || !bytes.Contains(texts, []byte(name+" "+p.Version)) {
			continue
		}
		list = append(list, part{Name: name, Version: p.Version, URL: "pkg:npm/" + name + "@" + p.Version, Sum: p.Integrity, Licence: p.License, Licences: texts})
	}
	slices.SortFunc(list, func(a, b part) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// paper is what files with conditions are called.
var paper = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-._].*)?$`)

// licence reads the conditions of what is in dir.
func licence(dir string) (expression string, texts []byte, err error) {
	inside, err := os.ReadDir(dir)
	if err != nil {
		return "", nil, err
	}
	var ids []string
	for _, f := range inside {
		if f.IsDir() || !paper.MatchString(f.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return "", nil, err
		}
		texts = append(texts, text...)
		for _, match := range licensecheck.Scan(text).Match {
			if !match.IsURL && match.ID != "GooglePatentsFile" {
				ids = append(ids, match.ID)
			}
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return "", nil, fmt.Errorf("%s holds no licence that we know: what may not be handed out must not be linked", dir)
	}
	return strings.Join(ids, " AND "), texts, nil
}

// conditions are the texts of all licences, each once, under the names of what they are for.
func conditions(parts []part) []byte {
	var order []string
	names := map[string][]string{}
	for _, p := range parts {
		text := string(p.Licences)
		if names[text] == nil {
			order = append(order, text)
		}
		names[text] = append(names[text], p.Name+" "+p.Version)
	}
	var all bytes.Buffer
	fmt.Fprintln(&all, "inferometer contains these libraries, under these licences.")
	for _, text := range order {
		fmt.Fprintf(&all, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(names[text], "\n"), strings.TrimSpace(text))
	}
	return all.Bytes()
}
