package planfile

import (
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan/document"
	"go.yaml.in/yaml/v3"
)

type field[T any] struct{ *member }

// member is a field whatever the types are. The compiler makes what is generic once for each pair of an object and the
// type of one of its fields, of which a plan has hundreds: so that is a pointer, and all else is here.
type member struct {
	form       *form
	name, help string
	in         func(t any) any  // points to the field of the object that t points to
	always     bool             // printed even when it is zero
	hidden     func(t any) bool // whether it is not printed all the same; nil means never
}

// fieldDoc is what is said about a field.
type fieldDoc struct {
	name, kind, help string
	schema           schema
	fields           []fieldDoc // of an object or of a list of objects
}

// form is a codec whatever the type is: v points to a value of it.
type form struct {
	kind   string
	schema schema
	fields []fieldDoc
	read   func(r *reader, n *yaml.Node, path string, v any)
	write  func(v any) *yaml.Node
	zero   func(v any) bool
	check  func(c *checker, path string, v any)                              // nil means nothing can be wrong with a value by itself
	put    func(r *reader, steps []string, n *yaml.Node, path string, v any) // nil means a value has no parts
}

// formOf is not inlined, since its functions would then be made for each field rather than for each type.
//
//go:noinline
func formOf[V any](c codec[V]) *form {
	f := &form{
		kind: c.kind, schema: c.schema, fields: c.fields,
		read:  func(r *reader, n *yaml.Node, path string, v any) { c.read(r, n, path, v.(*V)) },
		write: func(v any) *yaml.Node { return c.write(*v.(*V)) },
		zero:  func(v any) bool { return c.zero(*v.(*V)) },
	}
	if c.check != nil {
		f.check = func(k *checker, path string, v any) { c.check(k, path, v.(*V)) }
	}
	if c.put != nil {
		f.put = func(r *reader, steps []string, n *yaml.Node, path string, v any) { c.put(r, steps, n, path, v.(*V)) }
	}
	return f
}

func (f *form) set(r *reader, steps []string, n *yaml.Node, path string, v any) {
	switch {
	case len(steps) == 0:
		r.draft.Set(path, r.file)
		f.read(r, n, path, v)
	case f.put == nil:
		r.fault(n, path, "has no fields", "")
	default:
		f.put(r, steps, n, path, v)
	}
}

// fieldOf is the field of T that get points to. It is left out of a printed plan when
// it is zero.
func fieldOf[T, V any](name string, c codec[V], get func(*T) *V, help string) field[T] {
	return field[T]{&member{name: name, help: help, form: formOf(c), in: func(t any) any { return get(t.(*T)) }}}
}

// always is a field that is printed even when it is zero, because its default is
// not, or because a reader of the plan looks for it.
func always[T, V any](name string, c codec[V], get func(*T) *V, help string) field[T] {
	f := fieldOf(name, c, get, help)
	f.always = true
	return f
}

func object[T any](fields ...field[T]) codec[T] {
	all := make(members, len(fields))
	for i, f := range fields {
		all[i] = f.member
	}
	docs := all.docs()
	return codec[T]{
		kind:   "mapping",
		fields: docs,
		schema: objectSchema(docs),
		zero:   func(t T) bool { return all.zero(&t) },
		check:  func(c *checker, path string, t *T) { all.check(c, path, t) },
		read:   func(r *reader, n *yaml.Node, path string, t *T) { all.read(r, n, path, t) },
		put: func(r *reader, steps []string, n *yaml.Node, path string, t *T) {
			all.put(r, steps, n, path, t)
		},
		write: func(t T) *yaml.Node { return all.write(&t) },
	}
}

// members are the fields of an object; t points to it.
type members []*member

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
		if f.hidden != nil && f.hidden(t) || !f.always && f.form.zero(v) {
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
