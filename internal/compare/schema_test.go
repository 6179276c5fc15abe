package compare

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/schema"
)

// published is the schema of the document.
var published = schema.New(JSONSchema())

func TestSchema(t *testing.T) { schema.Mirror(t, JSONSchema(), reflect.TypeFor[Comparison]()) }

// TestSchemaRefuses: a schema that takes anything would prove nothing.
func TestSchemaRefuses(t *testing.T) {
	dir := t.TempDir()
	doc := compared(t, Options{}, made{seed: 1, requests: 20}.write(t, filepath.Join(dir, "a")), made{seed: 2, requests: 20}.write(t, filepath.Join(dir, "b")))
	row := func(doc map[string]any) map[string]any {
		table := doc["loads"].([]any)[0].(map[string]any)["tables"].([]any)[0].(map[string]any)
		return table["rows"].([]any)[0].(map[string]any)
	}
	published.Refuses(t, doc, map[string]func(doc map[string]any){
		"no sides":        func(doc map[string]any) { delete(doc, "sides") },
		"one side":        func(doc map[string]any) { doc["sides"] = doc["sides"].([]any)[:1] },
		"unknown field":   func(doc map[string]any) { doc["extra"] = 1 },
		"another version": func(doc map[string]any) { doc["schema"] = "inferometer.comparison/2" },
		"unknown verdict": func(doc map[string]any) { row(doc)["verdict"] = "great" },
		"figure in words": func(doc map[string]any) { row(doc)["a"] = "12 ms" },
	})
}
