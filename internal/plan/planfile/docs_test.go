package planfile

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
)

var update = flag.Bool("update", false, "write the list of fields into docs/plan.md")

const docsFile = "../../../docs/plan.md"

// TestDocsFields: the page lists every field as the tables have it.
func TestDocsFields(t *testing.T) {
	page, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(page), "-update` -->\n")
	_, after, ok2 := strings.Cut(rest, "<!-- end of fields -->")
	if !ok1 || !ok2 {
		t.Fatal("the page has no place for the fields")
	}
	want := before + "-update` -->\n" + fieldTable() + "<!-- end of fields -->" + after
	if *update {
		if err := os.WriteFile(docsFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(page) != want {
		t.Error("docs/plan.md does not list the fields as they are: run go test ./internal/plan/planfile -run TestDocs -update")
	}
}

func fieldTable() string {
	def := plan.Default()
	defaults := Echo(&def)
	limits := map[string]any{} // which a printed plan leaves out
	if err := limitsSpec().write(def.Limits).Decode(&limits); err != nil {
		panic(err)
	}
	defaults.(map[string]any)["limits"] = limits
	var b strings.Builder
	b.WriteString("| field | form | default | meaning |\n|---|---|---|---|\n")
	var rows func(docs []fieldDoc, path string, at any)
	rows = func(docs []fieldDoc, path string, at any) {
		for _, d := range docs {
			name, value := join(path, d.name), any(nil)
			if m, ok := at.(map[string]any); ok {
				value = m[d.name]
			}
			shown := ""
			switch value.(type) {
			case nil, map[string]any, []any:
			default:
				shown = fmt.Sprintf("`%v`", value)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, d.kind, shown, d.help)
			switch {
			case d.kind == "length":
				if name != "data.input" {
					continue // as data.input
				}
				rows(d.fields, name, nil)
			case d.schema["type"] == "array":
				rows(d.fields, name+"[]", nil)
			default:
				rows(d.fields, name, value)
			}
		}
	}
	rows(planSpec().fields, "", defaults)
	return b.String()
}

// TestDocsExample: the example is a plan that runs.
func TestDocsExample(t *testing.T) {
	page, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the page has no example")
	}
	p, err := load("example", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Stages) != 3 || p.Data.Output.Mean != 128 || len(p.Goodput) != 2 {
		t.Errorf("the example reads as %+v", p)
	}
}

// TestDocsNames: the page knows every short name of an objective.
func TestDocsNames(t *testing.T) {
	page, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range plan.SLOShortNames() {
		if !strings.Contains(string(page), "`"+s+"`") {
			t.Errorf("%s is not on the page", s)
		}
	}
}
