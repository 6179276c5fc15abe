package internal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"
)

// schemaPage lists the fields of the documents that the program writes.
const schemaPage = "../docs/result-fields.md"

// TestSchemaPage: the page lists every field as the published schemas have it.
func TestSchemaPage(t *testing.T) {
	const begin, end = "<!-- fields: written by `go test ./internal -run TestSchemaPage -update` -->\n", "<!-- end of fields -->\n"
	text, err := os.ReadFile(schemaPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatal("the page has no place for the fields")
	}
	var tables strings.Builder
	for _, d := range []struct{ name, file string }{
		{"result.json", "result/result.schema.json"}, {"comparison.json", "compare/comparison.schema.json"}, {"repeats.json", "repeat/repeats.schema.json"},
	} {
		text, err := os.ReadFile(d.file)
		if err != nil {
			t.Fatal(err)
		}
		p := schemaTables{name: d.name, out: &tables}
		if err := json.Unmarshal(text, &p.root); err != nil {
			t.Fatal(err)
		}
		p.write()
	}
	want := before + begin + tables.String() + end + after
	if *update {
		if err := os.WriteFile(schemaPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf("%s does not list the fields as they are: run go test ./internal -run TestSchemaPage -update", schemaPage)
	}
}

// schemaNode is what the tables need of a schema.
type schemaNode struct {
	Type        json.RawMessage `json:"type"`
	Description string          `json:"description"`
	Properties  ordered         `json:"properties"`
	Items       *schemaNode     `json:"items"`
	Additional  json.RawMessage `json:"additionalProperties"`
	Enum        []any           `json:"enum"`
	Const       any             `json:"const"`
	Ref         string          `json:"$ref"`
	Defs        ordered         `json:"$defs"`
}

// ordered is a mapping of schemas in the order of the file.
type ordered struct {
	names []string
	nodes map[string]*schemaNode
}

func (o *ordered) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, &o.nodes); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil {
			return nil // the end
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		default:
			if name, ok := token.(string); ok && depth == 1 {
				o.names = append(o.names, name)
			}
		}
	}
}

// schemaTables writes the tables of one document.
type schemaTables struct {
	name string
	root schemaNode
	out  *strings.Builder
}

func (p *schemaTables) write() {
	fmt.Fprintf(p.out, "\n## %s\n\n%s\n\n", p.name, p.root.Description)
	p.table(&p.root)
	for _, name := range p.root.Defs.names {
		if d := p.root.Defs.nodes[name]; len(d.Properties.names) > 0 {
			fmt.Fprintf(p.out, "\n### %s: %s\n\n", p.name, name)
			if d.Description != "" {
				fmt.Fprintf(p.out, "%s\n\n", d.Description)
			}
			p.table(d)
		}
	}
	p.out.WriteString("\n")
}

func (p *schemaTables) table(n *schemaNode) {
	p.out.WriteString("| field | form | meaning |\n|---|---|---|\n")
	p.rows(n, "")
}

// rows are the fields of n and those in them, but for what has a table of its own.
func (p *schemaTables) rows(n *schemaNode, at string) {
	for _, name := range n.Properties.names {
		f, full := n.Properties.nodes[name], at+name
		fmt.Fprintf(p.out, "| `%s` | %s | %s |\n", full, p.form(f), p.meaning(f))
		for ; f.Items != nil; f = f.Items {
			full += "[]"
		}
		if m := f.members(); m != nil && m.Ref == "" {
			f, full = m, full+".NAME"
		}
		p.rows(f, full+".")
	}
}

// members is the schema of the values of a mapping with names of any kind.
func (n *schemaNode) members() *schemaNode {
	var m schemaNode
	if len(n.Additional) == 0 || n.Additional[0] != '{' || json.Unmarshal(n.Additional, &m) != nil {
		return nil
	}
	return &m
}

// shared is the definition that n refers to; nil: none.
func (p *schemaTables) shared(n *schemaNode) (name string, d *schemaNode) {
	name = path.Base(n.Ref)
	return name, p.root.Defs.nodes[name]
}

func (p *schemaTables) meaning(n *schemaNode) string {
	if _, d := p.shared(n); n.Description == "" && d != nil && len(d.Properties.names) == 0 {
		return d.Description
	}
	return n.Description
}

func (p *schemaTables) form(n *schemaNode) string {
	if name, d := p.shared(n); d != nil {
		if len(d.Properties.names) == 0 {
			return p.form(d)
		}
		return fmt.Sprintf("[%s](#%s)", name, anchor(p.name+": "+name))
	}
	switch {
	case n.Const != nil:
		return fmt.Sprintf("`%v`", n.Const)
	case len(n.Enum) > 0:
		var words []string
		for _, e := range n.Enum {
			words = append(words, fmt.Sprintf("`%v`", e))
		}
		return strings.Join(words, ", ")
	case n.Items != nil:
		return "list: " + p.form(n.Items)
	case n.members() != nil:
		return "by name: " + p.form(n.members())
	}
	words := map[string]string{`"string"`: "text", `"integer"`: "whole number", `"number"`: "number", `"boolean"`: "true, false", `"object"`: "mapping", `["integer","null"]`: "whole number or null", `["number","null"]`: "number or null"}
	return words[strings.ReplaceAll(string(n.Type), " ", "")]
}
