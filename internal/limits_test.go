package internal

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// What fits on a screen or two can be read.
const (
	fileLines        = 500
	functionLines    = 80
	interfaceMethods = 3
	packageFiles     = 25
	lineColumns      = 140
)

func TestLimits(t *testing.T) {
	files := map[string]int{} // of each package
	for _, s := range everything(t) {
		if dir := filepath.Dir(s.file); !s.test() {
			if files[dir]++; files[dir] == packageFiles+1 {
				t.Errorf("%s has more than %d files: a noun of its own makes a room", dir, packageFiles)
			}
		}
		if ast.IsGenerated(s.tree) {
			continue
		}
		if n := s.set.Position(s.tree.FileEnd).Line - 1; n > fileLines {
			t.Errorf("%s has %d lines, more than %d: split it by subject", s.file, n, fileLines)
		}
		ast.Inspect(s.tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if lines := functionLength(s, n); lines > functionLines {
					t.Errorf("%s: %s has %d lines, more than %d: give its parts names", s.set.Position(n.Pos()), n.Name.Name, lines, functionLines)
				}
			case *ast.InterfaceType:
				if n.Methods.NumFields() > interfaceMethods {
					t.Errorf("%s: an interface of %d methods, more than %d: ask for less", s.set.Position(n.Pos()), n.Methods.NumFields(), interfaceMethods)
				}
			}
			return true
		})
	}
}

// A line with a text in it may be longer: a message that is broken up is not found by searching for it.
// The browser's tests are a module of their own.
func TestLinesFit(t *testing.T) {
	for _, s := range everything(t) {
		if strings.HasPrefix(s.file, "internal/testkit/browser/") || ast.IsGenerated(s.tree) {
			continue
		}
		data, err := os.ReadFile("../" + s.file)
		if err != nil {
			t.Fatal(err)
		}
		texts := map[int]bool{} // lines with a text
		ast.Inspect(s.tree, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				for i := s.set.Position(text.Pos()).Line; i <= s.set.Position(text.End()).Line; i++ {
					texts[i] = true
				}
			}
			return true
		})
		for i, line := range strings.Split(string(data), "\n") {
			if n := utf8.RuneCountInString(line); n > lineColumns && !texts[i+1] {
				t.Errorf("%s:%d has %d columns, more than %d: break it after a comma or an operator", s.file, i+1, n, lineColumns)
			}
		}
	}
}

// functionLength is how many lines a function has. The tables of a test are data: the lines between their
// braces do not count.
func functionLength(s source, f *ast.FuncDecl) int {
	lines := func(from, to token.Pos) int { return s.set.Position(to).Line - s.set.Position(from).Line }
	n := lines(f.Pos(), f.End()) + 1
	if !s.test() || f.Body == nil {
		return n
	}
	ast.Inspect(f.Body, func(node ast.Node) bool {
		table, ok := node.(*ast.CompositeLit)
		if ok {
			n -= lines(table.Lbrace, table.Rbrace)
		}
		return !ok
	})
	return n
}

// bareNames say nothing of what a function does or returns: the verb of the standard library
// (next, read, add, index, value) and a noun do.
var bareNames = strings.Fields("take at of settle tell note look say own whole")

// bareExported are the same, but for At: list.At(i) is what the standard library has.
var bareExported = strings.Fields("Take Of Settle Tell Note Look Say Own Whole")

func TestFunctionsAreNamed(t *testing.T) {
	for _, s := range everything(t) {
		if s.test() || ast.IsGenerated(s.tree) {
			continue
		}
		for _, d := range s.tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && (slices.Contains(bareNames, f.Name.Name) || slices.Contains(bareExported, f.Name.Name)) {
				t.Errorf("%s: a function called %s: name what it does or returns", s.set.Position(f.Pos()), f.Name.Name)
			}
		}
	}
}

// idioms are type names that read with their package's: a triton.Client, an h2.Client.
var idioms = strings.Fields("Options Source Client Server Decoder Protocol Endpoint Config Model Request Response Settings Action Outcome Session Report Limits Search Histogram")

// Where a type's name occurs in several packages of one family, grep leads nowhere.
func TestTypesAreNamedOnce(t *testing.T) {
	first := map[string]string{}
	for _, s := range sources(t) {
		if s.test() || ast.IsGenerated(s.tree) || s.tree.Name.Name == "main" {
			continue
		}
		family, below, _ := strings.Cut(s.pkg, "/")
		if family == "tool" { // what each tool calls a summary is its own
			family, _, _ = strings.Cut("tool of "+below, "/")
		}
		for _, d := range s.tree.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				ts, ok := spec.(*ast.TypeSpec)
				if !ok || !ts.Name.IsExported() || ts.Assign.IsValid() || slices.Contains(idioms, ts.Name.Name) {
					continue
				}
				where := first[family+"."+ts.Name.Name]
				if where == "" {
					first[family+"."+ts.Name.Name] = s.pkg
				} else if where != s.pkg {
					t.Errorf("%s: %s is a type of %s, too: one of them needs another name", s.set.Position(ts.Pos()), ts.Name.Name, where)
				}
			}
		}
	}
}

// What a package offers says what it is for. The methods that an interface of the standard
// library asks for need no words, and neither do the names of a group that has a comment.
func TestExportedNamesAreDescribed(t *testing.T) {
	for _, s := range sources(t) {
		if ast.IsGenerated(s.tree) || s.tree.Name.Name == "main" {
			continue
		}
		for _, d := range s.tree.Decls {
			for _, name := range undescribed(d) {
				t.Errorf("%s: %s has no comment", s.set.Position(d.Pos()), name)
			}
		}
	}
}

// undescribed gives the exported names of a declaration that no comment describes.
func undescribed(d ast.Decl) []string {
	var names []string
	add := func(described bool, idents ...*ast.Ident) {
		for _, i := range idents {
			if i.IsExported() && !described {
				names = append(names, i.Name)
			}
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || ast.IsExported(receiver(d)) && !slices.Contains(wellKnown, d.Name.Name) {
			add(d.Doc != nil, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				add(d.Doc != nil || spec.Doc != nil || spec.Comment != nil, spec.Name)
			case *ast.ValueSpec:
				add(d.Doc != nil || spec.Doc != nil || spec.Comment != nil, spec.Names...)
			}
		}
	}
	return names
}

var wellKnown = strings.Fields("Error Unwrap Is As String Len Less Swap Push Pop Read Write Close MarshalJSON UnmarshalJSON MarshalYAML UnmarshalYAML MarshalText UnmarshalText")

// receiver is the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) string {
	x := d.Recv.List[0].Type
	for {
		switch t := x.(type) {
		case *ast.StarExpr:
			x = t.X
		case *ast.IndexExpr:
			x = t.X
		case *ast.IndexListExpr:
			x = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

// Every fuzz target has its moment in an ordinary test, and is found by go's own fuzzing.
func TestFuzzTargetsRun(t *testing.T) {
	targets := 0
	for _, s := range everything(t) {
		for _, d := range s.tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !s.test() || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Fuzz") || s.pkg == "testkit/mutate" {
				continue
			}
			targets++
			through := false
			ast.Inspect(f, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Fuzz" {
					x, ok := sel.X.(*ast.Ident)
					through = ok && x.Name == "mutate"
				}
				return true
			})
			if !through {
				t.Errorf("%s: %s does not go through mutate.Fuzz", s.set.Position(f.Pos()), f.Name.Name)
			}
		}
	}
	if targets < 50 {
		t.Errorf("only %d fuzz targets found", targets)
	}
}
