package export

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const page = "../../../docs/export.md"

// TestPage: docs/export.md lists the columns that there are.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	for name, columns := range map[string][]Column{"requests": requestColumns(), "events": eventColumns()} {
		open, end := "<!-- "+name+": generated -->\n", "<!-- end -->\n"
		before, rest, ok := strings.Cut(want, open)
		_, after, also := strings.Cut(rest, end)
		if !ok || !also {
			t.Fatalf("%s has no place for %s", page, name)
		}
		table := "\n| column | type | what it is |\n|---|---|---|\n"
		for _, c := range columns {
			table += fmt.Sprintf("| `%s` | %s | %s |\n", c.Name, [...]string{Whole: "integer", Number: "number", Text: "text", Flag: "boolean", Moment: "timestamp"}[c.Kind], c.Help)
		}
		want = before + open + table + "\n" + end + after
	}
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("%s does not list the columns that there are: run go test ./internal/report/export -update", page)
	}
}
