package build

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestVerdictPage holds docs/verdict.md against the checks that this package can make: each
// has its row, and no row is of a check that is no more.
func TestVerdictPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/verdict.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| ((?:`[a-z0-9_]+`(?:, )?)+) \\|(.*)\\|$").FindAllStringSubmatch(string(page), -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			listed[strings.Trim(name, "`")] = true
		}
		for i, cell := range strings.Split(row[2], " | ") {
			if strings.TrimSpace(cell) == "" {
				t.Errorf("%s: cell %d is empty", row[1], i+2)
			}
		}
	}
	made := checkNames(t)
	for _, name := range slices.Sorted(maps.Keys(made)) {
		if !listed[name] {
			t.Errorf("docs/verdict.md does not list the check %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if !made[name] {
			t.Errorf("docs/verdict.md lists %s, which is not a check", name)
		}
	}
}

// checkNames are the names of all checks in the source: those that literals of Check give,
// as text or as a variable that text is assigned to in the same function, this package or the document's.
func checkNames(t *testing.T) map[string]bool {
	t.Helper()
	here, _ := filepath.Glob("*.go")
	document, _ := filepath.Glob("../*.go")
	files := slices.Concat(here, document)
	names, consts := map[string]bool{}, map[string][]string{}
	set := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
				consts[v.Names[0].Name] = texts(v.Values)
			}
			return true
		})
	}
	for _, f := range parsed {
		for _, d := range f.Decls {
			given, variables := literals(d)
			for _, v := range given {
				found := texts([]ast.Expr{v})
				switch v := v.(type) {
				case *ast.Ident:
					found = slices.Concat(variables[v.Name], consts[v.Name])
				case *ast.SelectorExpr:
					found = consts[v.Sel.Name]
				}
				if len(found) == 0 {
					t.Errorf("%s: the name of a check is neither text nor a variable of text", set.Position(v.Pos()))
				}
				for _, name := range found {
					names[name] = true
				}
			}
		}
	}
	return names
}

// literals are the names that the literals of Check in a declaration give, and the texts
// that it assigns to variables.
func literals(d ast.Decl) (given []ast.Expr, variables map[string][]string) {
	variables = map[string][]string{}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if id, ok := left.(*ast.Ident); ok && i < len(n.Rhs) {
					variables[id.Name] = append(variables[id.Name], texts(n.Rhs[i:i+1])...)
				}
			}
		case *ast.CompositeLit:
			if s, ok := n.Type.(*ast.SelectorExpr); !ok || s.Sel.Name != "Check" {
				return true
			}
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && kv.Key.(*ast.Ident).Name == "Name" {
					given = append(given, kv.Value)
				}
			}
		}
		return true
	})
	return given, variables
}

// texts are the values of literals of text.
func texts(exprs []ast.Expr) []string {
	var out []string
	for _, e := range exprs {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				out = append(out, s)
			}
		}
	}
	return out
}
