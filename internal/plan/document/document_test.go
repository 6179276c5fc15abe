package document_test

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/plan/document"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ text, kind, fault string }{
		{"", "empty", ""},
		{"# nothing\n", "empty", ""},
		{"a: 1", "a mapping", ""},
		{`{"a": [1, 2]}`, "a mapping", ""},
		{"- a", "a list", ""},
		{"~", "null", ""},
		{"12", "a single value", ""},
		{"a: 1\n---\nb: 2", "", "f.yaml:2:1: a second document in one file (put it into a file of its own)"},
		{"a: [1,\nb", "", "f.yaml:2: not valid YAML: did not find expected ',' or ']'"},
		{"a: 1\n---\nb: [", "", "f.yaml:3: not valid YAML: did not find expected node content"},
	} {
		root, fault := document.Parse("f.yaml", []byte(tt.text))
		got := ""
		if fault != nil {
			got = fault.Error()
		}
		if got != tt.fault {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.fault)
			continue
		}
		kind := "empty"
		if root != nil {
			kind = document.Kind(root)
		}
		if fault == nil && kind != tt.kind {
			t.Errorf("%q is %s, want %s", tt.text, kind, tt.kind)
		}
	}
}

func TestMapping(t *testing.T) {
	for _, tt := range []struct {
		text   string
		merge  bool
		keys   string
		faults string
	}{
		{text: "a: 1\nb: 2", keys: "a=1 b=2"},
		{text: "a: &x word\n*x : 2", keys: "a=word word=2"},
		{text: "a: 1\na: 2", keys: "a=1", faults: "2:1 p.a: given twice, first on line 1"},
		{text: "{a: 1}: 2\nb: 3", keys: "b=3", faults: "1:1 p: a key must be a single word"},
		{text: "<<: {a: 1}\nb: 2", keys: "b=2", faults: "1:1 p: merge keys (<<) are not supported"},
		{text: "a: 1\n<<: {a: 9, b: 2}", merge: true, keys: "a=1 b=2"},
		{text: "<<: word", merge: true, faults: "1:5 p: only a mapping can be merged (<<)"},
	} {
		root, fault := document.Parse("f.yaml", []byte(tt.text))
		if fault != nil {
			t.Fatal(fault)
		}
		var keys, faults []string
		m := document.Mapping{Node: root, Path: "p", Fault: func(at *yaml.Node, path, text, _ string) {
			faults = append(faults, fmt.Sprintf("%d:%d %s: %s", at.Line, at.Column, path, text))
		}}
		if tt.merge {
			m.Merge = document.Resolved
		}
		m.Each(func(key string, _, value *yaml.Node) { keys = append(keys, key+"="+document.Resolved(value).Value) })
		if got := strings.Join(keys, " "); got != tt.keys {
			t.Errorf("%q: keys %q, want %q", tt.text, got, tt.keys)
		}
		if got := strings.Join(faults, "; "); got != tt.faults {
			t.Errorf("%q: faults %q, want %q", tt.text, got, tt.faults)
		}
	}
}
