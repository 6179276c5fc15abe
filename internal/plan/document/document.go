// Package document reads YAML, and JSON with it, as nodes that know where they stand in their file.
package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
)

// Parse reads the one document of a file; nil means it is empty.
func Parse(name string, data []byte) (*yaml.Node, *plan.Fault) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF), err == nil && len(doc.Content) == 0:
		return nil, nil
	case err != nil:
		return nil, syntax(name, err)
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, &plan.Fault{Where: Position(name, &second), Text: "a second document in one file", Hint: "put it into a file of its own"}
	case !errors.Is(err, io.EOF):
		return nil, syntax(name, err)
	}
	return doc.Content[0], nil
}

// syntax turns the parser's "yaml: line 3: …" into a fault with its place.
func syntax(name string, err error) *plan.Fault {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := regexp.MustCompile(`^line (\d+)(?:, column (\d+))?: `).FindStringSubmatch(text); m != nil {
		name += strings.TrimSuffix(":"+m[1]+":"+m[2], ":")
		text = text[len(m[0]):]
	}
	return &plan.Fault{Where: name, Text: "not valid YAML: " + text}
}

// Position is where a node stands; one that was in no file is where the name says.
func Position(name string, n *yaml.Node) string {
	if n == nil || n.Line == 0 {
		return name
	}
	return fmt.Sprintf("%s:%d:%d", name, n.Line, n.Column)
}

// Resolved is the node that an alias stands for.
func Resolved(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// IsNull reports whether a node says null.
func IsNull(n *yaml.Node) bool {
	n = Resolved(n)
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// Kind is what a node is, in words. They show none of a value, which may be a key.
func Kind(n *yaml.Node) string {
	switch n = Resolved(n); {
	case IsNull(n):
		return "null"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	}
	return "a single value"
}

// Join is the path of a name below another path.
func Join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// Mapping is a node of keys and values, at a path that faults name.
type Mapping struct {
	Node  *yaml.Node
	Path  string
	Fault func(at *yaml.Node, path, text, hint string)
	Merge func(value *yaml.Node) *yaml.Node // the mapping that "<<" merges, nil where it is none; nil means nothing may be merged
}

// Each calls a function for every key, once, with the node where it stands. Merged keys come where their "<<" stands, unless
// the mapping has them before.
func (m *Mapping) Each(each func(key string, at, value *yaml.Node)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(m.Node.Content); i += 2 {
		at, value := m.Node.Content[i], m.Node.Content[i+1]
		key := Resolved(at)
		switch {
		case key.Kind != yaml.ScalarNode:
			m.Fault(at, m.Path, "a key must be a single word", "")
		case key.ShortTag() == "!!merge" && m.Merge == nil:
			m.Fault(at, m.Path, "merge keys (<<) are not supported", "write the keys out")
		case key.ShortTag() == "!!merge":
			m.merged(value, seen, each)
		case seen[key.Value] > 0:
			m.Fault(at, Join(m.Path, truncate.Input(key.Value)), fmt.Sprintf("given twice, first on line %d", seen[key.Value]), "")
		default:
			seen[key.Value] = max(at.Line, 1)
			each(key.Value, at, value)
		}
	}
}

// merged goes over the keys of a mapping that is merged into this one.
func (m *Mapping) merged(value *yaml.Node, seen map[string]int, each func(key string, at, value *yaml.Node)) {
	from := m.Merge(value)
	if from == nil || from.Kind != yaml.MappingNode {
		m.Fault(value, m.Path, "only a mapping can be merged (<<)", "write the keys out")
		return
	}
	for i := 0; i+1 < len(from.Content); i += 2 {
		if key := from.Content[i]; key.Kind == yaml.ScalarNode && seen[key.Value] == 0 {
			each(key.Value, key, from.Content[i+1])
		}
	}
}
