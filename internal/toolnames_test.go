package internal

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"testing"
)

// tools are the names of others' programs. What is theirs is under tool/, and nothing below
// speaks of them but in the words of a file format.
var (
	tools  = regexp.MustCompile(`(?i)genai[-_ ]?perf|perf[-_ ]?analyzer|llm[-_ ]?perf|inference[-_ ]?perf`)
	inFile = map[string][]string{
		"internal/plan/data.go": {`"genai-perf"`},
	}
)

func TestNothingBelowNamesATool(t *testing.T) {
	for _, s := range sources(t) {
		if slices.Contains([]string{"cmd", "cli", "tool", "bench"}, familyOf(s.pkg)) {
			continue
		}
		check := func(at token.Pos, text string) {
			if name := tools.FindString(text); name != "" && !slices.Contains(inFile[s.file], text) {
				t.Errorf("%s names %s: nothing below the tools does", s.set.Position(at), name)
			}
		}
		for _, group := range s.tree.Comments {
			check(group.Pos(), group.Text())
		}
		ast.Inspect(s.tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				check(n.Pos(), n.Value)
			case *ast.Ident:
				check(n.Pos(), n.Name)
			}
			return true
		})
	}
}
