// Command lint looks at all packages of a module with the analyzers of go vet, of staticcheck and of errorlint, and
// for misspelled words in all texts.
//
//	go run -C scripts/lint . ../.. [BUILD FLAGS]
//
// What packages import is read as the compiler left it, so the flags are best those of what was compiled before: only this
// module's own packages are parsed and analyzed. A line that must stay says why: //lint:ignore SA1000 the reason.
package main

import (
	"errors"
	"fmt"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/unused"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: lint DIRECTORY [BUILD FLAGS]")
		os.Exit(2)
	}
	debug.SetGCPercent(200)
	dir, err := filepath.Abs(os.Args[1])
	if err == nil {
		err = check(dir, os.Args[2:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// findings are what is wrong, by where.
type findings map[string]bool

func (f findings) add(dir string, at token.Position, check, text string) {
	if name, err := filepath.Rel(dir, at.Filename); err == nil {
		at.Filename = name
	}
	f[fmt.Sprintf("%s: %s (%s)", at, text, check)] = true
}

func check(dir string, flags []string) error {
	found := findings{}
	if err := misspelled(dir, found); err != nil {
		return err
	}
	own, err := load(dir, flags)
	if err != nil {
		return err
	}
	graph, err := checker.Analyze(analyzers(), own, nil)
	if err != nil {
		return err
	}
	ignored := directives(own)
	dead := newDead()
	for _, act := range graph.Roots {
		if act.Err != nil {
			return fmt.Errorf("%s of %s: %w", act.Analyzer.Name, act.Package.ID, act.Err)
		}
		if r, ok := act.Result.(unused.Result); ok {
			dead.add(r)
			continue
		}
		for _, d := range act.Diagnostics {
			if at := act.Package.Fset.Position(d.Pos); !ignored.has(at, act.Analyzer.Name) {
				found.add(dir, at, act.Analyzer.Name, d.Message)
			}
		}
	}
	for _, o := range dead.objects() {
		if !ignored.has(o.Position, "U1000") {
			found.add(dir, o.Position, "U1000", fmt.Sprintf("%s %s is unused", o.Kind, o.Name))
		}
	}
	for d := range ignored {
		if !ignored[d] {
			found.add(dir, token.Position{Filename: d.file, Line: d.line}, d.check, "there is nothing to ignore here")
		}
	}
	if len(found) > 0 {
		return errors.New(strings.Join(slices.Sorted(maps.Keys(found)), "\n"))
	}
	return nil
}

// load gives the module's own packages and their tests.
func load(dir string, flags []string) ([]*packages.Package, error) {
	config := &packages.Config{Mode: packages.LoadSyntax | packages.NeedModule, Dir: dir, Tests: true, BuildFlags: flags}
	if slices.Contains(flags, "-race") {
		config.Env = append(os.Environ(), "CGO_ENABLED=1") // the detector needs it
	}
	all, err := packages.Load(config, "./...")
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, p := range all {
		ids[p.ID] = true
	}
	var own []*packages.Package
	var errs []error
	for _, p := range all {
		for _, e := range p.Errors {
			errs = append(errs, e)
		}
		if strings.HasSuffix(p.PkgPath, ".test") {
			continue // the main package that go test writes
		}
		// Facts are passed between our own packages alone. One that is compiled anew for a test may have half its types.
		maps.DeleteFunc(p.Imports, func(_ string, i *packages.Package) bool { return i.TypesInfo == nil || !ids[i.ID] })
		if !ids[p.ID+" ["+p.ID+".test]"] { // that one has all of its files, and its tests
			own = append(own, p)
		}
	}
	return own, errors.Join(errs...)
}

// dead is code that nobody uses. A name is used if it is in one of a package's variants: with its tests, or without.
type dead struct {
	used   map[token.Position]bool
	unused map[token.Position]unused.Object
}

func newDead() *dead {
	return &dead{used: map[token.Position]bool{}, unused: map[token.Position]unused.Object{}}
}

func (d *dead) add(r unused.Result) {
	for _, o := range r.Used {
		d.used[o.Position] = true
	}
	for _, o := range r.Quiet {
		d.used[o.Position] = true
	}
	for _, o := range r.Unused {
		if o.Kind != "type param" {
			d.unused[o.Position] = o
		}
	}
}

func (d *dead) objects() []unused.Object {
	maps.DeleteFunc(d.unused, func(at token.Position, _ unused.Object) bool { return d.used[at] })
	return slices.Collect(maps.Values(d.unused))
}

// exception is a comment that lets one finding be, on its own line or the next.
type exception struct {
	file  string
	line  int
	check string
}

// ignores are directives, and whether each was needed.
type ignores map[exception]bool

func directives(own []*packages.Package) ignores {
	all := ignores{}
	for _, p := range own {
		for _, f := range p.Syntax {
			for _, group := range f.Comments {
				for _, c := range group.List {
					if words := strings.Fields(c.Text); len(words) > 2 && words[0] == "//lint:ignore" {
						at := p.Fset.Position(c.Pos())
						all[exception{at.Filename, at.Line, words[1]}] = false
					}
				}
			}
		}
	}
	return all
}

func (i ignores) has(at token.Position, check string) bool {
	for _, line := range []int{at.Line, at.Line - 1} {
		d := exception{at.Filename, line, check}
		if _, ok := i[d]; ok {
			i[d] = true
			return true
		}
	}
	return false
}
