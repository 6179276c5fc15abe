package planfile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/document"
)

// Decode reads a plan file, YAML or JSON, on top of the defaults. name is how faults call the file.
// Every field that is unknown or of the wrong type is in the error, a Faults; the rest is for
// Validate.
func Decode(name string, data []byte) (*plan.Plan, error) {
	d := Read(name, data)
	d.infer()
	if err := d.Faults.Err(); err != nil {
		return nil, err
	}
	return &d.Plan, nil
}

// Read reads a plan file into a draft, on top of the defaults. The draft has its faults.
func Read(name string, data []byte) *Draft {
	d := NewDraft()
	d.Set("", name)
	root, fault := document.Parse(name, data)
	switch {
	case fault == nil && root == nil:
		fault = &plan.Fault{Where: name, Text: "the plan is empty", Hint: "docs/plan.md shows one"}
	case fault == nil:
		fault = newer(name, root)
	}
	if fault != nil {
		d.Faults, d.unreadable = append(d.Faults, *fault), true
		return d
	}
	d.unreadable = root.Kind != yaml.MappingNode
	spec := planSpec()
	r := &reader{file: name, draft: d, docs: spec.fields}
	spec.read(r, root, "", &d.Plan)
	return d
}

// newer says that a plan is of a later version; nil means it is not. What else this program does
// not know about it would only distract.
func newer(name string, root *yaml.Node) *plan.Fault {
	for i := 0; root.Kind == yaml.MappingNode && i+1 < len(root.Content); i += 2 {
		value := root.Content[i+1]
		if v, err := strconv.Atoi(value.Value); root.Content[i].Value == "version" && err == nil && v > plan.Version {
			return &plan.Fault{Where: document.Position(name, value), Path: "version", Text: fmt.Sprintf("is %d; this program reads version %d", v, plan.Version), Hint: "a newer Inferometer reads it"}
		}
	}
	return nil
}

// Put sets the field at path, such as "stages[0].rate", to what text says in the
// words of a plan file. An index one past the end of a list appends. where is
// what faults call the place: "--rate".
func (d *Draft) Put(path, where, text string) {
	d.put(path, where, &yaml.Node{Kind: yaml.ScalarNode, Value: text})
}

func (d *Draft) put(path, where string, value *yaml.Node) {
	spec := planSpec()
	r := &reader{file: where, draft: d, docs: spec.fields}
	steps := strings.FieldsFunc(path, func(c rune) bool { return strings.ContainsRune(".[]", c) })
	spec.set(r, steps, value, "", &d.Plan)
}

// Assign sets the field at path as Put does, but reads text that begins a list or a mapping as
// YAML.
func (d *Draft) Assign(path, where, text string) {
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		d.Put(path, where, text)
		return
	}
	root, fault := document.Parse(where, []byte(text))
	if fault != nil {
		d.Faults = append(d.Faults, *fault)
		return
	}
	d.put(path, where, root)
}

type reader struct {
	nodes int  // of request bodies, read so far
	own   bool // the nodes are this program's own, and hold no aliases
	file  string
	draft *Draft
	docs  []fieldDoc // of the whole plan
}

func (r *reader) fault(n *yaml.Node, path, text, hint string) {
	r.draft.Faults = append(r.draft.Faults, plan.Fault{Where: document.Position(r.file, n), Path: path, Text: text, Hint: hint})
}

// wrong says that n is not what path wants. It shows no more of a value than its
// kind where that value may be anything, a key included.
func (r *reader) wrong(n *yaml.Node, path, want string) {
	r.fault(n, path, "must be "+want+", is "+document.Kind(n), "")
}

// enter notes where path was set and follows an alias to what it stands for. It
// is nil where the file says null, which leaves the default in place.
func (r *reader) enter(n *yaml.Node, path string) *yaml.Node {
	if document.IsNull(n) {
		return nil
	}
	r.draft.Set(path, document.Position(r.file, n))
	return document.Resolved(n)
}

// pairs calls each for every key of a mapping, once, with the node where it stands.
func (r *reader) pairs(n *yaml.Node, path string, each func(key string, at, value *yaml.Node)) {
	m := document.Mapping{Node: n, Path: path, Fault: r.fault}
	m.Each(each)
}

// mapping reads the known fields of an object; an unknown one is a fault with a suggestion.
func (r *reader) mapping(n *yaml.Node, path string, docs []fieldDoc, read func(i int, value *yaml.Node, path string)) {
	r.pairs(n, path, func(name string, at, value *yaml.Node) {
		sub := document.Join(path, name)
		if i := slices.Index(namesOf(docs), name); i >= 0 {
			if value = r.enter(value, sub); value != nil {
				read(i, value, sub)
			}
			return
		}
		r.fault(at, document.Join(path, truncate.Input(name)), "unknown field", r.unknownHint(path, name, docs))
	})
}

func (r *reader) unknownHint(path, name string, docs []fieldDoc) string {
	names := namesOf(docs)
	for _, n := range []string{name + "s", strings.TrimSuffix(name, "s")} { // of this object, rather than the like of another
		if slices.Contains(names, n) {
			return fmt.Sprintf("did you mean %q?", n)
		}
	}
	if found := find(r.docs, "", name); found != "" {
		return "the plan has it as " + found
	}
	if n := suggest.Name(name, names); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return cmp.Or(path, "the plan") + " has " + strings.Join(names, ", ")
}

// find is the path of the first field called name.
func find(docs []fieldDoc, path, name string) string {
	if slices.Contains(namesOf(docs), name) {
		return document.Join(path, name)
	}
	for _, d := range docs {
		sub := document.Join(path, d.name)
		if d.schema["type"] == "array" {
			sub += "[]"
		}
		if f := find(d.fields, sub, name); f != "" {
			return f
		}
	}
	return ""
}
