// Command docs makes a site of the pages of this repository: static, searchable, opened from disk without a network.
//
//	go run -C scripts/docs . [-out DIR] [-version V] ../..
//
// docs/README.md lists the pages in their order. What they link to (files, directories, pictures) becomes part of the
// site. A page of docs/ that is not listed and a link that leads nowhere are errors, and nothing is written.
// docs/decisions/067 says why it is made this way.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	out := flag.String("out", "", "directory of the site (default: site, in the repository)")
	version := flag.String("version", "", "release that the pages describe; a commit is not shown")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: docs [-out DIR] [-version V] REPOSITORY")
		os.Exit(2)
	}
	if *out == "" {
		*out = filepath.Join(flag.Arg(0), "site")
	}
	if err := run(flag.Arg(0), *out, *version); err != nil {
		fmt.Fprintln(os.Stderr, "make docs:", err)
		os.Exit(1)
	}
}

func run(root, out, version string) error {
	begin := time.Now()
	if !strings.HasPrefix(version, "v") {
		version = ""
	}
	s := newSite(root, version)
	if err := s.read(); err != nil {
		return err
	}
	files, err := s.files()
	if err != nil {
		return err
	}
	if err := write(out, files); err != nil {
		return err
	}
	index, err := filepath.Abs(filepath.Join(out, "index.html"))
	fmt.Printf("%d pages in %.1f s: open %s\n", len(s.order), time.Since(begin).Seconds(), index)
	return err
}

// mark is the file by which a site is known: what is in its directory may be replaced.
const mark = "assets/search.js"

// write replaces a site by another one.
func write(out string, files map[string][]byte) error {
	if there, err := os.ReadDir(out); err == nil && len(there) > 0 {
		if _, err := os.Stat(filepath.Join(out, mark)); err != nil {
			return fmt.Errorf("%s is not empty and not a site of this program: remove it or name another directory with -out", out)
		}
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	var errs []error
	for name, text := range files {
		name = filepath.Join(out, filepath.FromSlash(name))
		errs = append(errs, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, text, 0o644))
	}
	return errors.Join(errs...)
}
