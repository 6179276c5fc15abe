// Command platforms says whether the program compiles for other platforms: it type-checks what goes into the
// binary there, this module's packages in full and the declarations of all others. That takes seconds, where
// the compiler needs minutes to make the standard library for each platform from a cold cache.
//
//	go run ./scripts/platforms linux/arm64 windows/amd64
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

const program = "./cmd/inferometer"

type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string
	Module     *struct{ Main bool }
}

func main() {
	if err := checkAll(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// checkAll checks the program on each platform, as many at a time as there are.
func checkAll(platforms []string) error {
	if len(platforms) == 0 {
		return errors.New("platforms: name some, such as linux/arm64 windows/amd64")
	}
	files := &files{set: token.NewFileSet(), known: map[string]*parsed{}}
	errs := make([]error, len(platforms))
	var wg sync.WaitGroup
	for i, p := range platforms {
		wg.Go(func() {
			if err := check(p, files); err != nil {
				errs[i] = fmt.Errorf("%s: the program does not compile:\n%w", p, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func check(platform string, files *files) error {
	system, arch, ok := strings.Cut(platform, "/")
	if !ok {
		return errors.New("a platform is SYSTEM/ARCHITECTURE")
	}
	packages, err := list(system, arch)
	if err != nil {
		return err
	}
	known := map[string]*types.Package{"unsafe": types.Unsafe}
	var errs []error
	for _, p := range packages { // each stands behind those that it imports
		if p.ImportPath == "unsafe" {
			continue
		}
		trees, err := files.parse(p)
		if err != nil {
			return err
		}
		own := p.Module != nil && p.Module.Main
		conf := types.Config{
			Importer: imports{p, known}, Sizes: types.SizesFor("gc", arch), IgnoreFuncBodies: !own,
			Error: func(err error) { errs = append(errs, err) },
		}
		known[p.ImportPath], _ = conf.Check(p.ImportPath, files.set, trees, nil)
	}
	return errors.Join(errs...)
}

// list is what goes into the binary on a platform.
func list(system, arch string) ([]listed, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", program)
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("reading what go list says: %w", err)
		}
		all = append(all, p)
	}
}

// imports finds the packages that one package imports among those that are known.
type imports struct {
	from  listed
	known map[string]*types.Package
}

// Import implements types.Importer.
func (i imports) Import(path string) (*types.Package, error) {
	if other, ok := i.from.ImportMap[path]; ok {
		path = other
	}
	if p := i.known[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not there", path)
}

// files parses each file once, however many platforms it belongs to.
type files struct {
	set   *token.FileSet
	mu    sync.Mutex
	known map[string]*parsed
}

type parsed struct {
	once sync.Once
	tree *ast.File
	err  error
}

func (f *files) parse(p listed) ([]*ast.File, error) {
	var trees []*ast.File
	for _, name := range p.GoFiles {
		name = filepath.Join(p.Dir, name)
		f.mu.Lock()
		one := f.known[name]
		if one == nil {
			one = new(parsed)
			f.known[name] = one
		}
		f.mu.Unlock()
		one.once.Do(func() { one.tree, one.err = parser.ParseFile(f.set, name, nil, parser.SkipObjectResolution) })
		if one.err != nil {
			return nil, one.err
		}
		trees = append(trees, one.tree)
	}
	return trees, nil
}
