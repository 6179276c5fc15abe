package compare

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestPageIsComplete: docs/compare.md names every field of the document, every word for a
// difference, and every field of a plan that decides about a comparison.
func TestPageIsComplete(t *testing.T) {
	text, err := os.ReadFile("../../docs/compare.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	names := append([]string{Schema, Better, Worse, Differs, NoneSeen, NotKnown, Lower, Higher, Neither, ByRequests, ByPrompts, ByRuns, ByPairs, ByNothing}, fields(reflect.TypeFor[Comparison]())...)
	names = append(append(names, matter...), stageMatter...)
	for _, name := range names {
		if !strings.Contains(page, "`"+name+"`") && !strings.Contains(page, "`"+name+"[]`") {
			t.Errorf("the page does not mention `%s`", name)
		}
	}
}

// fields are the names of a type's fields in JSON, and of those within it that are ours.
func fields(of reflect.Type) []string {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of == reflect.TypeFor[time.Time]() || !strings.HasSuffix(of.PkgPath(), "internal/compare") {
		return nil
	}
	var list []string
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		list = append(append(list, name), fields(f.Type)...)
	}
	return list
}
