package internal

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

func TestRulesOfTheHouse(t *testing.T) {
	for _, s := range sources(t) {
		if ast.IsGenerated(s.tree) {
			continue // messages register themselves
		}
		for _, d := range s.tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: an init function", s.set.Position(f.Pos()))
			}
			if at := compiles(d); at.IsValid() && !strings.HasPrefix(s.pkg, "testkit/") {
				t.Errorf("%s: a regular expression that is compiled whenever the program starts: pattern.New", s.set.Position(at))
			}
		}
		if slices.Contains(ends, s.pkg) {
			continue
		}
		ast.Inspect(s.tree, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && forbidden(s.pkg, x.Name+"."+sel.Sel.Name) {
					t.Errorf("%s: %s.%s outside %s", s.set.Position(n.Pos()), x.Name, sel.Sel.Name, strings.Join(ends, ", "))
				}
			}
			return true
		})
	}
}

// compiles is where a declaration compiles a regular expression as the program starts, which takes the time of
// all commands, however short.
func compiles(d ast.Decl) (at token.Pos) {
	if v, ok := d.(*ast.GenDecl); !ok || v.Tok != token.VAR {
		return token.NoPos
	}
	ast.Inspect(d, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "MustCompile" {
			at = sel.Pos()
		}
		_, later := n.(*ast.FuncLit)
		return !later
	})
	return at
}

// forbidden are the calls that end the program, and those that take its signals or read the
// environment, which what tests need may do: nobody calls that from outside.
func forbidden(pkg, call string) bool {
	switch call {
	case "os.Exit", "os.Args", "log.Fatal", "log.Fatalf", "log.Fatalln":
		return true
	case "signal.Notify", "signal.NotifyContext":
		return !strings.HasPrefix(pkg, "testkit/")
	case "os.Getenv", "os.LookupEnv", "os.Environ", "os.ExpandEnv", "syscall.Getenv", "syscall.Environ",
		"os.UserHomeDir", "os.UserCacheDir", "os.UserConfigDir", "http.ProxyFromEnvironment", "httpproxy.FromEnvironment":
		return !slices.Contains([]string{"token/tokentest", "token/filetest"}, pkg) && !strings.HasPrefix(pkg, "testkit/")
	}
	return false
}
