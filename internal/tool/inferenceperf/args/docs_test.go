package args

import (
	goflag "flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan/document"
)

var update = goflag.Bool("update", false, "write the keys into docs/inference-perf-config.md")

const docsFile = "../../../../docs/inference-perf-config.md"

// TestDocs: the page lists every key as the tables have it.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "-update` -->\n", "<!-- end of keys -->"
	before, rest, ok1 := strings.Cut(string(page), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatal("the page has no place for the keys")
	}
	want := before + begin + docs() + end + after
	if *update {
		if err := os.WriteFile(docsFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(page) != want {
		t.Error("docs/inference-perf-config.md does not list the keys as they are: run go test ./internal/tool/inferenceperf/args -run TestDocs -update")
	}
}

// docs are the tables of all keys.
func docs() string {
	var b strings.Builder
	schema, listed := root(), map[string]string{}
	for _, k := range schema.keys {
		if k.name == "data" {
			b.WriteString("\n<a id=\"data-generation\"></a>\n")
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", k.name, k.help)
		head(&b)
		rows(&b, k.form, k.name, listed)
	}
	for _, f := range []struct {
		title, text string
		form        form
	}{
		{"Distribution", "Of lengths, counts and positions.", config().named("distribution")},
		{"Media", "Images, videos and audio in prompts.", config().named("media")},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", f.title, f.text)
		head(&b)
		f.form.name = ""
		rows(&b, f.form, "", listed)
	}
	b.WriteString("\n## Flags\n\n| flag | meaning |\n|---|---|\n")
	for _, f := range general() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.name, f.help)
	}
	b.WriteString("\nEvery key is a flag by its dotted name, such as `--load.num_workers 4`. Lists and mappings are JSON;\n`null` removes a section.\n\n")
	return b.String()
}

func head(b *strings.Builder) {
	b.WriteString("| key | form | default | meaning |\n|---|---|---|---|\n")
}

// alike is the number of keys from which on those that another mapping lists are not listed again.
const alike = 5

// rows are the lines of a form's keys and of what is in them. listed has the keys of mappings that stand above, and where.
func rows(b *strings.Builder, f form, path string, listed map[string]string) {
	switch {
	case f.name != "":
		return
	case f.kind == list:
		rows(b, *f.item, path+"[]", listed)
		return
	case f.kind == union:
		for _, p := range []*form{f.mapped, f.listed} {
			if p != nil {
				rows(b, *p, path, listed)
			}
		}
		return
	}
	first, again := "", map[string]bool{}
	for _, k := range f.keys {
		if at := listed[row(k, "")]; at != "" && (first == "" || at == first) {
			first, again[k.name] = at, true
		}
	}
	var folded []string
	for _, k := range f.keys {
		if len(again) >= alike && again[k.name] {
			folded = append(folded, "`"+k.name+"`")
			continue
		}
		if key := row(k, ""); listed[key] == "" && path != "" {
			listed[key] = path
		}
		b.WriteString(row(k, path))
		rows(b, k.form, document.Join(path, k.name), listed)
	}
	if len(folded) > 0 {
		fmt.Fprintf(b, "| `%s`: %s | | | as in `%s` |\n", path, strings.Join(folded, ", "), first)
	}
}

// row is the line of a key.
func row(k key, path string) string {
	shown := ""
	switch v := k.fresh(); {
	case k.must:
		shown = "required"
	case k.form.kind == object && !k.open:
	case v == nil:
		shown = "`null`"
	case v.kind != object:
		shown = fmt.Sprintf("`%v`", v.plain())
	}
	called := "`" + document.Join(path, k.name) + "`"
	if k.also != "" {
		called += ", `" + k.also + "`"
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", called, words2(&k.form), shown, k.help)
}

func words2(f *form) string {
	switch {
	case f.name != "":
		return f.name
	case f.kind == choice:
		return "`" + strings.Join(f.words, "`, `") + "`"
	case f.kind == list:
		return "list of " + plural(words2(f.item))
	case f.kind == mapping:
		return "mapping of name to " + words2(f.item)
	case f.kind == object:
		return "mapping"
	case f.kind == free:
		return "anything"
	case f.kind == union:
		var parts []string
		for _, p := range []*form{f.scalar, f.mapped, f.listed} {
			if p != nil {
				parts = append(parts, words2(p))
			}
		}
		return strings.Join(parts, " or ")
	}
	return strings.TrimPrefix(f.takes(), "a ")
}

func plural(s string) string {
	switch s {
	case "text":
		return "texts"
	case "mapping", "number":
		return s + "s"
	}
	return s
}
