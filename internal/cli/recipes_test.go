package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/tool"
)

// TestRecipes runs the commands of each recipe one after the other, on mocks and with less load.
func TestRecipes(t *testing.T) {
	text, err := os.ReadFile("../../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	recipes := strings.Split(string(text), "\n## ")[1:]
	if len(recipes) < 4 {
		t.Fatalf("%d recipes", len(recipes))
	}
	for _, recipe := range recipes {
		title, _, _ := strings.Cut(recipe, "\n")
		t.Run(title, func(t *testing.T) {
			t.Chdir(t.TempDir())
			urls := strings.NewReplacer("http://localhost:8000", serve(t), "http://old:8000", serve(t), "http://new:8000", serve(t))
			for line := range strings.Lines(recipe) {
				args, ok := command(line)
				if !ok {
					continue
				}
				args = lighter(args)
				for i := range args {
					args[i] = urls.Replace(args[i])
				}
				// What two requests come to may be anything; all of it must have been done.
				if code, said := call(args...); code == tool.ExitUsage {
					t.Fatalf("%s\n%s", line, said)
				}
				for i, flag := range args[:len(args)-1] {
					if flag != "--out" && flag != "--html" && flag != "--junit" {
						continue
					}
					if _, err := os.Stat(filepath.FromSlash(args[i+1])); err != nil {
						t.Errorf("%s: %v", line, err)
					}
				}
			}
		})
	}
}

// lighter is a command line that says the same and is done sooner.
func lighter(args []string) []string {
	out := slices.Clone(args)
	for i := range out[:len(out)-1] {
		switch out[i] {
		case "--duration":
			out[i], out[i+1] = "--requests", "3"
		case "--repeat":
			out[i+1] = "2"
		case "--rate":
			out[i+1] = "500"
		case "--levels":
			out[i+1] = "1,2"
		case "--max-time":
			out[i+1] = "5s"
		case "--output-tokens":
			out[i+1] = "3"
		case "--ab":
			out = append(out, "--pause", "0s")
		}
	}
	return out
}
