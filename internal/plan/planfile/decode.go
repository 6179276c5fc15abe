package planfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
)

// Decode reads a plan file, YAML or JSON, on top of the defaults. name is how
// faults call the file. Every field that is unknown or of the wrong type is in
// the error, a Faults; whether the values make sense is for Validate to say.
func Decode(name string, data []byte) (*plan.Plan, error) {
	d := Read(name, data)
	d.infer()
	if err := d.Faults.Err(); err != nil {
		return nil, err
	}
	return &d.Plan, nil
}

// Read reads a plan file into a draft, on top of the defaults. What is wrong with
// the file is among the draft's faults.
func Read(name string, data []byte) *Draft {
	d := NewDraft()
	d.Set("", name)
	root, fault := parse(name, data)
	if fault == nil {
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

// parse reads one YAML document.
func parse(name string, data []byte) (*yaml.Node, *plan.Fault) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF), err == nil && len(doc.Content) == 0:
		return nil, &plan.Fault{Where: name, Text: "the plan is empty", Hint: "docs/plan.md shows one"}
	case err != nil:
		return nil, syntaxFault(name, err)
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, &plan.Fault{Where: position(name, &second), Text: "a second document in one file", Hint: "put it into a file of its own"}
	case !errors.Is(err, io.EOF):
		return nil, syntaxFault(name, err)
	}
	return doc.Content[0], nil
}

// newer says that a plan is of a later version; nil: it is not. What else this program does
// not know about it would only distract.
func newer(name string, root *yaml.Node) *plan.Fault {
	for i := 0; root.Kind == yaml.MappingNode && i+1 < len(root.Content); i += 2 {
		value := root.Content[i+1]
		if v, err := strconv.Atoi(value.Value); root.Content[i].Value == "version" && err == nil && v > plan.Version {
			return &plan.Fault{Where: position(name, value), Path: "version", Text: fmt.Sprintf("is %d; this program reads version %d", v, plan.Version), Hint: "a newer Inferometer reads it"}
		}
	}
	return nil
}

// syntaxFault turns the parser's "yaml: line 3: …" into a fault with its place.
func syntaxFault(name string, err error) *plan.Fault {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := regexp.MustCompile(`^line (\d+)(?:, column (\d+))?: `).FindStringSubmatch(text); m != nil {
		name += ":" + m[1]
		if m[2] != "" {
			name += ":" + m[2]
		}
		text = text[len(m[0]):]
	}
	return &plan.Fault{Where: name, Text: "not valid YAML: " + text}
}

// position is where n stands; a node that was in no file is where the name says.
func position(name string, n *yaml.Node) string {
	if n.Line == 0 {
		return name
	}
	return fmt.Sprintf("%s:%d:%d", name, n.Line, n.Column)
}

// Put sets the field at path, such as "stages[0].rate", to what text says in the
// words of a plan file. An index one past the end of a list appends. where is
// what faults call the place: "--rate".
func (d *Draft) Put(path, where, text string) {
	spec := planSpec()
	r := &reader{file: where, draft: d, docs: spec.fields}
	steps := strings.FieldsFunc(path, func(c rune) bool { return strings.ContainsRune(".[]", c) })
	formOf(spec).set(r, steps, &yaml.Node{Kind: yaml.ScalarNode, Value: text}, "", &d.Plan)
}

// reader walks the nodes of one file into a draft.
type reader struct {
	nodes int  // of request bodies, read so far
	own   bool // the nodes are this program's own, and hold no aliases
	file  string
	draft *Draft
	docs  []fieldDoc // of the whole plan
}

func (r *reader) fault(n *yaml.Node, path, text, hint string) {
	r.draft.Faults = append(r.draft.Faults, plan.Fault{Where: position(r.file, n), Path: path, Text: text, Hint: hint})
}

// wrong says that n is not what path wants. It shows no more of a value than its
// kind where that value may be anything, a key included.
func (r *reader) wrong(n *yaml.Node, path, want string) {
	is := map[yaml.Kind]string{yaml.MappingNode: "a mapping", yaml.SequenceNode: "a list", yaml.ScalarNode: "a single value"}[n.Kind]
	r.fault(n, path, "must be "+want+", is "+is, "")
}

// enter notes where path was set and follows an alias to what it stands for. It
// is nil where the file says null, which leaves the default in place.
func (r *reader) enter(n *yaml.Node, path string) *yaml.Node {
	at := n
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return nil
	}
	r.draft.Set(path, position(r.file, at))
	return n
}

// pairs calls each for every key of a mapping, once, with the node where it stands.
func (r *reader) pairs(n *yaml.Node, path string, each func(key string, at, value *yaml.Node)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		at, value := n.Content[i], n.Content[i+1]
		key := at
		for key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.Kind != yaml.ScalarNode:
			r.fault(at, path, "a field's name must be a single word", "")
		case key.ShortTag() == "!!merge":
			r.fault(at, path, "merge keys (<<) are not supported", "write the fields out")
		case seen[key.Value] != 0:
			r.fault(at, join(path, truncate.Input(key.Value)), fmt.Sprintf("given twice, first on line %d", seen[key.Value]), "")
		default:
			seen[key.Value] = at.Line
			each(key.Value, at, value)
		}
	}
}

// mapping reads the known fields of an object; an unknown one is a fault that
// names what was probably meant.
func (r *reader) mapping(n *yaml.Node, path string, docs []fieldDoc, read func(i int, value *yaml.Node, path string)) {
	r.pairs(n, path, func(name string, at, value *yaml.Node) {
		sub := join(path, name)
		if i := slices.Index(namesOf(docs), name); i >= 0 {
			if value = r.enter(value, sub); value != nil {
				read(i, value, sub)
			}
			return
		}
		r.fault(at, join(path, truncate.Input(name)), "unknown field", r.unknownHint(path, name, docs))
	})
}

// unknownHint says which field was probably meant.
func (r *reader) unknownHint(path, name string, docs []fieldDoc) string {
	if found := find(r.docs, "", name); found != "" {
		return "the plan has it as " + found
	}
	names := namesOf(docs)
	if n := suggest.Name(name, names); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return cmp.Or(path, "the plan") + " has " + strings.Join(names, ", ")
}

// find is the path of the first field called name.
func find(docs []fieldDoc, path, name string) string {
	if slices.Contains(namesOf(docs), name) {
		return join(path, name)
	}
	for _, d := range docs {
		sub := join(path, d.name)
		if d.schema["type"] == "array" {
			sub += "[]"
		}
		if f := find(d.fields, sub, name); f != "" {
			return f
		}
	}
	return ""
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
