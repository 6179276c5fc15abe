// Command page builds the report page: the modules and styles of page/ become one file without a reference to
// any other, with a Content-Security-Policy that names its script and its style by their hashes.
//
//	go run -C scripts/page . ../..          writes internal/report/html/page.html and page/LICENSES
//	go run -C scripts/page . ../.. tests    writes page/.build/*.mjs, which node runs
//
// The packages that it imports are those of page/package-lock.json, fetched from the npm registry and compared
// with their checksums there. The same sources give the same bytes.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: page REPOSITORY [tests]")
		os.Exit(2)
	}
	root, err := filepath.Abs(os.Args[1])
	if err == nil {
		err = run(root, len(os.Args) > 2 && os.Args[2] == "tests")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(root string, tests bool) error {
	dir := filepath.Join(root, "page")
	packages, err := locked(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return err
	}
	if err := packages.fetch(filepath.Join(dir, ".packages")); err != nil {
		return err
	}
	if tests {
		return bundleTests(dir, packages)
	}
	page, licences, err := build(dir, packages)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(root, "internal", "report", "html", "page.html"), page, 0o644),
		os.WriteFile(filepath.Join(dir, "LICENSES"), licences, 0o644),
	)
}
