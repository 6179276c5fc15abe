package planfile

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/document"
)

var update = flag.Bool("update", false, "write the list of fields into docs/plan-fields.md")

const (
	docsFile = "../../../docs/plan-fields.md"
	planPage = "../../../docs/plan.md"
)

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
		t.Error("docs/plan-fields.md does not list the fields as they are: run go test ./internal/plan/planfile -run TestDocs -update")
	}
}

func fieldTable() string {
	def := plan.Default()
	defaults := Echo(&def)
	limits := map[string]any{} // which a printed plan leaves out
	if err := specOf(&def.Limits).write(&def.Limits).Decode(&limits); err != nil {
		panic(err)
	}
	defaults.(map[string]any)["limits"] = limits
	t := &docsTable{first: map[string]string{}}
	t.find(planSpec().fields, "")
	t.head()
	// Fields that stand alone come first, then a part for each of the others.
	var parts []fieldDoc
	for _, d := range planSpec().fields {
		if len(d.fields) < 3 {
			t.row(d, d.name, defaults.(map[string]any)[d.name])
		} else {
			parts = append(parts, d)
		}
	}
	for _, d := range parts {
		fmt.Fprintf(&t.b, "\n### %s\n", d.name)
		t.head()
		t.row(d, d.name, defaults.(map[string]any)[d.name])
	}
	return t.b.String()
}

// docsTable is the list of fields that is being written.
type docsTable struct {
	b     strings.Builder
	first map[string]string // of fields that several mappings have: the mapping that lists them
}

// find chooses for the fields of each mapping the one that lists them: that with the shortest path.
func (t *docsTable) find(fields []fieldDoc, path string) {
	for _, d := range fields {
		name := document.Join(path, d.name)
		if key := sameFields(d); key != "" {
			if first, ok := t.first[key]; !ok || strings.Count(name, ".") < strings.Count(first, ".") {
				t.first[key] = name
			}
		}
		if d.schema["type"] == "array" {
			name += "[]"
		}
		t.find(d.fields, name)
	}
}

// sameFields is what mappings with the same fields have in common; empty for those with few.
func sameFields(d fieldDoc) string {
	if len(d.fields) < 4 {
		return ""
	}
	return fmt.Sprint(names(d.fields))
}

func (t *docsTable) head() {
	t.b.WriteString("| field | form | default | meaning |\n|---|---|---|---|\n")
}

// row writes a field and those in it, unless another field lists the same ones.
func (t *docsTable) row(d fieldDoc, name string, value any) {
	shown, help := "", d.help
	switch value.(type) {
	case nil, map[string]any, []any:
	default:
		shown = fmt.Sprintf("`%v`", value)
	}
	like := t.first[sameFields(d)]
	if like != "" && like != name && d.kind != "length" {
		help += " Fields as in `" + like + "`."
	}
	fmt.Fprintf(&t.b, "| `%s` | %s | %s | %s |\n", name, d.kind, shown, help)
	if like != "" && like != name {
		return
	}
	inner, _ := value.(map[string]any)
	if d.schema["type"] == "array" {
		name += "[]"
	}
	for _, f := range d.fields {
		t.row(f, document.Join(name, f.name), inner[f.name])
	}
}

// names are those of fields and of the fields in them.
func names(fields []fieldDoc) (all []string) {
	for _, f := range fields {
		all = append(append(all, f.name, f.kind, f.help), names(f.fields)...)
	}
	return all
}

// TestDocsExample: the example is a plan that runs.
func TestDocsExample(t *testing.T) {
	page, err := os.ReadFile(planPage)
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
	page, err := os.ReadFile(planPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range plan.SLOShortNames() {
		if !strings.Contains(string(page), "`"+s+"`") {
			t.Errorf("%s is not on the page", s)
		}
	}
}
