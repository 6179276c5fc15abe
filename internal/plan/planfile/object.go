package planfile

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan/document"
)

// member is a field of an object.
type member struct {
	form       *form
	name, help string
	always     bool  // printed even when it is zero
	index      []int // of the Go field
	unless     []int // of a Go field that keeps it from being printed, or nil
}

// in points to the field of the object that t points to.
func (m *member) in(t any) any {
	return reflect.ValueOf(t).Elem().FieldByIndex(m.index).Addr().Interface()
}

// fieldDoc is what is said about a field.
type fieldDoc struct {
	name, kind, help string
	schema           schema
	fields           []fieldDoc // of an object or of a list of objects
}

// members are the fields of an object; t points to it.
type members []*member

func (m members) form() *form {
	docs := m.docs()
	return &form{
		kind: "mapping", fields: docs, schema: objectSchema(docs),
		zero: m.zero, check: m.check, read: m.read, put: m.put, write: m.write,
	}
}

func (m members) docs() []fieldDoc {
	docs := make([]fieldDoc, len(m))
	for i, f := range m {
		docs[i] = fieldDoc{name: f.name, kind: f.form.kind, help: f.help, schema: f.form.schema, fields: f.form.fields}
	}
	return docs
}

func (m members) zero(t any) bool {
	return !slices.ContainsFunc(m, func(f *member) bool { return f.always || !f.form.zero(f.in(t)) })
}

func (m members) check(c *checker, path string, t any) {
	for _, f := range m {
		if f.form.check != nil {
			f.form.check(c, document.Join(path, f.name), f.in(t))
		}
	}
}

func (m members) read(r *reader, n *yaml.Node, path string, t any) {
	docs := m.docs()
	if n.Kind != yaml.MappingNode {
		r.wrong(n, path, "a mapping of "+strings.Join(namesOf(docs), ", "))
		return
	}
	r.mapping(n, path, docs, func(i int, value *yaml.Node, path string) {
		m[i].form.read(r, value, path, m[i].in(t))
	})
}

func (m members) put(r *reader, steps []string, n *yaml.Node, path string, t any) {
	for _, f := range m {
		if f.name == steps[0] {
			f.form.set(r, steps[1:], n, document.Join(path, steps[0]), f.in(t))
			return
		}
	}
	r.fault(n, document.Join(path, truncate.Input(steps[0])), "unknown field "+truncate.Quote(steps[0]), r.unknownHint(path, steps[0], m.docs()))
}

func (m members) write(t any) *yaml.Node {
	mapping := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range m {
		v := f.in(t)
		if f.unless != nil && reflect.ValueOf(t).Elem().FieldByIndex(f.unless).Bool() || !f.always && f.form.zero(v) {
			continue
		}
		mapping.Content = append(mapping.Content, toNode(f.name), f.form.write(v))
	}
	return mapping
}

func namesOf(docs []fieldDoc) []string {
	names := make([]string, len(docs))
	for i, d := range docs {
		names[i] = d.name
	}
	return names
}
