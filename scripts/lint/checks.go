package main

import (
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/golangci/misspell"
	"github.com/polyfloyd/go-errorlint/errorlint"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/appends"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/buildtag"
	"golang.org/x/tools/go/analysis/passes/composite"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/defers"
	"golang.org/x/tools/go/analysis/passes/directive"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/hostport"
	"golang.org/x/tools/go/analysis/passes/httpresponse"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/loopclosure"
	"golang.org/x/tools/go/analysis/passes/lostcancel"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/sigchanyzer"
	"golang.org/x/tools/go/analysis/passes/stdmethods"
	"golang.org/x/tools/go/analysis/passes/stdversion"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/structtag"
	"golang.org/x/tools/go/analysis/passes/testinggoroutine"
	"golang.org/x/tools/go/analysis/passes/tests"
	"golang.org/x/tools/go/analysis/passes/timeformat"
	"golang.org/x/tools/go/analysis/passes/unmarshal"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/analysis/passes/unusedresult"
	"golang.org/x/tools/go/analysis/passes/waitgroup"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

// vet are the analyzers of go vet that concern this module: it has no assembly, no C and no slog.
func vet() []*analysis.Analyzer {
	return []*analysis.Analyzer{
		appends.Analyzer, assign.Analyzer, atomic.Analyzer, bools.Analyzer, buildtag.Analyzer, composite.Analyzer, copylock.Analyzer,
		defers.Analyzer, directive.Analyzer, errorsas.Analyzer, hostport.Analyzer, httpresponse.Analyzer, ifaceassert.Analyzer,
		loopclosure.Analyzer, lostcancel.Analyzer, nilfunc.Analyzer, printf.Analyzer, shift.Analyzer, sigchanyzer.Analyzer,
		stdmethods.Analyzer, stdversion.Analyzer, stringintconv.Analyzer, structtag.Analyzer, testinggoroutine.Analyzer, tests.Analyzer,
		timeformat.Analyzer, unmarshal.Analyzer, unreachable.Analyzer, unsafeptr.Analyzer, unusedresult.Analyzer, waitgroup.Analyzer,
	}
}

// unwanted are checks of staticcheck that this module does not follow.
var unwanted = []string{
	"ST1005", // errors begin with what was being done; some begin with a name
}

func analyzers() []*analysis.Analyzer {
	all := append(vet(), errorlint.NewAnalyzer(), unused.Analyzer.Analyzer)
	for _, family := range [][]*lint.Analyzer{staticcheck.Analyzers, simple.Analyzers, stylecheck.Analyzers} {
		for _, a := range family {
			if !a.Doc.NonDefault && !slices.Contains(unwanted, a.Analyzer.Name) {
				all = append(all, a.Analyzer)
			}
		}
	}
	return all
}

// misspelled looks for words that are often misspelled in all texts under a directory.
func misspelled(dir string, found findings) error {
	words := misspell.New()
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch base := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && name != dir && (base[0] == '.' || base == "testdata" || base == "bin" || base == "out"):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains([]string{".go", ".md", ".sh", ".py", ".yaml", ".tpl"}, filepath.Ext(base)):
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		_, diffs := words.Replace(string(text))
		for _, d := range diffs {
			found.add(dir, token.Position{Filename: name, Line: d.Line, Column: d.Column + 1}, "misspell", d.Original+" is a misspelling of "+d.Corrected)
		}
		return nil
	})
}
