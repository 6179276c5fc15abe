package args

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/document"
)

// reader reads nodes into values and gathers all that is wrong.
type reader struct {
	file   string // name of the file, or the flag
	faults plan.Faults
	passed []string // keys that were passed over
	nodes  int
}

// Bounds of a config: aliases let a small file stand for a huge one.
const (
	mostDepth = 40
	mostNodes = 100_000
)

func (r *reader) fault(n *yaml.Node, path, text, hint string) {
	r.faults = append(r.faults, plan.Fault{Where: r.position(n), Path: path, Text: text, Hint: hint})
}

// position is where a node stands; a flag's value stands in the flag.
func (r *reader) position(n *yaml.Node) string {
	if strings.HasPrefix(r.file, "--") {
		return r.file
	}
	return document.Position(r.file, n)
}

// enter follows aliases and keeps the bounds. ok is false where they are broken.
func (r *reader) enter(n *yaml.Node, path string) (*yaml.Node, bool) {
	r.nodes++
	if r.nodes > mostNodes || strings.Count(path, ".")+strings.Count(path, "[") > mostDepth {
		if r.nodes <= mostNodes+1 {
			r.fault(n, path, "is nested too deeply or too large", "")
		}
		r.nodes = mostNodes + 1
		return nil, false
	}
	return document.Resolved(n), true
}

// read is the value of a node in a form, on top of what is there: mappings are merged, all else
// takes its place. What cannot be read is a fault and changes nothing.
func (r *reader) read(f *form, n *yaml.Node, path string, was *value) *value {
	n, ok := r.enter(n, path)
	if !ok {
		return was
	}
	if f.kind == free {
		switch was = nil; n.Kind {
		case yaml.MappingNode:
			f = &form{kind: mapping, item: f}
		case yaml.SequenceNode:
			f = &form{kind: list, item: f}
		}
	}
	switch f.kind {
	case union:
		return r.readUnion(f, n, path, was)
	case object:
		return r.readObject(f, n, path, was)
	case mapping:
		return r.readMapping(f, n, path, was)
	case list:
		if n.Kind != yaml.SequenceNode {
			r.wrong(n, path, "a list")
			return was
		}
		v := &value{kind: list, where: r.position(n)}
		for i, e := range n.Content {
			v.list = append(v.list, r.read(f.item, e, fmt.Sprintf("%s[%d]", path, i), nil))
		}
		return v
	case free:
		return r.readFree(n, path)
	}
	if n.Kind != yaml.ScalarNode {
		r.wrong(n, path, f.takes())
		return was
	}
	scalar, err := f.parse(n)
	if err != nil {
		r.fault(n, path, err.Error(), "")
		return was
	}
	return &value{kind: f.kind, scalar: scalar, where: r.position(n)}
}

// wrong says that n is not what path wants. It shows none of the value, which may be a
// key.
func (r *reader) wrong(n *yaml.Node, path, want string) {
	r.fault(n, path, "must be "+want+", is "+document.Kind(n), "")
}

func (r *reader) readUnion(f *form, n *yaml.Node, path string, was *value) *value {
	take := map[yaml.Kind]*form{yaml.ScalarNode: f.scalar, yaml.MappingNode: f.mapped, yaml.SequenceNode: f.listed}[n.Kind]
	if take == nil {
		r.wrong(n, path, f.takes())
		return was
	}
	if was != nil && was.kind != object { // a number is no part of a distribution
		was = nil
	}
	return r.read(take, n, path, was)
}

func (r *reader) readObject(f *form, n *yaml.Node, path string, was *value) *value {
	if n.Kind != yaml.MappingNode {
		r.wrong(n, path, "a mapping")
		return was
	}
	v := was
	if v == nil || v.kind != object {
		v = &value{kind: object}
	}
	r.mark(v, n)
	called := map[string]string{} // what a key with two names is called here
	r.pairs(n, path, func(name string, at, node *yaml.Node) {
		k := f.find(name)
		if k == nil && f.loose {
			r.passed = append(r.passed, fmt.Sprintf("%s: %s is not known and has no effect (%s)", r.position(at), document.Join(path, clip(name)), f.unknown(path, name)))
			return
		}
		if k == nil {
			r.fault(at, document.Join(path, clip(name)), "unknown key", f.unknown(path, name))
			return
		}
		if other := called[k.name]; other != "" && other != name {
			r.fault(at, document.Join(path, name), "is another name for "+other+", which is also given", "leave one of them out")
			return
		}
		called[k.name] = name
		sub := document.Join(path, k.name)
		if document.IsNull(node) {
			if !k.open && !k.nullable() {
				r.fault(node, sub, "must not be null", "leave it out for the default")
				return
			}
			v.put(k.name, nil)
			return
		}
		got := r.read(&k.form, node, sub, v.fields[k.name])
		if got == nil && k.form.kind == object {
			got = k.fresh() // there is a fault already: what follows finds a section as ever
		}
		v.put(k.name, got)
	})
	return v
}

// mark notes where a mapping was set. A flag that sets a part of it is not where it was.
func (r *reader) mark(v *value, n *yaml.Node) {
	if v.where == "" || !strings.HasPrefix(r.file, "--") {
		v.where = r.position(n)
	}
}

// nullable: default sections and flags of reports may be taken away.
func (k *key) nullable() bool {
	return k.form.kind == boolean || k.name == "storage" || k.name == "prometheus"
}

func (r *reader) readMapping(f *form, n *yaml.Node, path string, was *value) *value {
	if n.Kind != yaml.MappingNode {
		r.wrong(n, path, "a mapping")
		return was
	}
	v := was
	if v == nil {
		v = &value{kind: mapping}
	}
	r.mark(v, n)
	r.pairs(n, path, func(name string, _, node *yaml.Node) {
		v.put(name, r.read(f.item, node, document.Join(path, clip(name)), v.fields[name]))
	})
	return v
}

// readFree reads a scalar that may be anything.
func (r *reader) readFree(n *yaml.Node, path string) *value {
	if document.IsNull(n) {
		return nil
	}
	var scalar any
	if err := n.Decode(&scalar); err != nil {
		r.fault(n, path, "cannot be read: "+err.Error(), "")
		return nil
	}
	switch s := scalar.(type) {
	case int:
		scalar = int64(s)
	case uint64:
		scalar = float64(s)
	case float64:
		if math.IsNaN(s) || math.IsInf(s, 0) {
			r.fault(n, path, "is not a number that JSON can represent", "")
			return nil
		}
	case bool, string, int64:
	default: // a date
		scalar = n.Value
	}
	return &value{kind: free, scalar: scalar, where: r.position(n)}
}

// pairs calls each for every key of a mapping, once.
func (r *reader) pairs(n *yaml.Node, path string, each func(name string, at, value *yaml.Node)) {
	m := document.Mapping{Node: n, Path: path, Fault: r.fault, Merge: func(value *yaml.Node) *yaml.Node {
		n, _ := r.enter(value, path)
		return n
	}}
	m.Each(each)
}

func (f *form) find(name string) *key {
	if i := slices.IndexFunc(f.keys, func(k key) bool { return name == k.name || name != "" && name == k.also }); i >= 0 {
		return &f.keys[i]
	}
	return nil
}

// unknown says which key was probably meant.
func (f *form) unknown(path, name string) string {
	var names []string
	for i := range f.keys {
		names = append(names, f.keys[i].name)
	}
	otherwise := cmp.Or(path, "the config") + " has " + strings.Join(names, ", ")
	if elsewhere := whereIs(root(), "", name); elsewhere != "" {
		otherwise = fmt.Sprintf("did you mean %q?", elsewhere)
	}
	return suggestion(name, names, otherwise)
}

// suggestion is a hint at the nearest of names, and another where none is near.
func suggestion(name string, names []string, otherwise string) string {
	if n := suggest.Name(name, names); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return otherwise
}

// whereIs is the path of the first key of a name.
func whereIs(f form, path, name string) string {
	for _, k := range f.keys {
		if k.name == name {
			return document.Join(path, name)
		}
	}
	for _, k := range f.keys {
		if found := whereIs(k.form, document.Join(path, k.name), name); found != "" {
			return found
		}
	}
	return ""
}

func (f *form) takes() string {
	switch f.kind {
	case whole:
		return "a whole number"
	case number:
		return "a number"
	case boolean:
		return "true or false"
	case choice:
		return "one of " + strings.Join(f.words, ", ")
	case list:
		return "a list"
	case mapping, object:
		return "a mapping"
	case union:
		var parts []string
		for _, p := range []*form{f.scalar, f.mapped, f.listed} {
			if p != nil {
				parts = append(parts, p.takes())
			}
		}
		return strings.Join(parts, " or ")
	}
	return "text"
}

func (f *form) parse(n *yaml.Node) (any, error) {
	switch f.kind {
	case boolean:
		switch strings.ToLower(n.Value) {
		case "true", "yes", "on", "1", "y", "t", "1.0":
			return true, nil
		case "false", "no", "off", "0", "n", "f", "0.0":
			return false, nil
		}
		return nil, fmt.Errorf("must be true or false, is %s", quote(n.Value))
	case choice:
		if slices.Contains(f.words, n.Value) {
			return n.Value, nil
		}
		hint := ""
		if near := suggest.Name(n.Value, f.words); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		return nil, fmt.Errorf("unknown value %s%s (one of %s)", quote(n.Value), hint, strings.Join(f.words, ", "))
	case whole, number:
		return f.parseNumber(n)
	}
	return n.Value, nil
}

func (f *form) counts() bool { return f.kind == whole || f.kind == number }

func (f *form) parseNumber(n *yaml.Node) (any, error) {
	digits := strings.ReplaceAll(strings.TrimSpace(n.Value), "_", "")
	if n.ShortTag() == "!!bool" { // as Python counts: true is 1
		digits = map[bool]string{true: "1", false: "0"}[strings.EqualFold(n.Value, "true")]
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || f.kind == whole && v != math.Trunc(v) {
		return nil, fmt.Errorf("must be %s, is %s", f.takes(), quote(n.Value))
	}
	switch {
	case f.over && v <= *f.least:
		return nil, fmt.Errorf("must be more than %v, is %s", *f.least, quote(n.Value))
	case f.least != nil && v < *f.least:
		return nil, fmt.Errorf("must be %v or more, is %s", *f.least, quote(n.Value))
	case f.most != nil && v > *f.most:
		return nil, fmt.Errorf("must be at most %v, is %s", *f.most, quote(n.Value))
	}
	if f.kind == number {
		return v, nil
	}
	if i, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return i, nil
	}
	if math.Abs(v) > 1<<53 {
		return nil, fmt.Errorf("is too large: %s", quote(n.Value))
	}
	return int64(v), nil
}

func quote(s string) string { return strconv.Quote(clip(s)) }

// clip cuts what a user wrote to a length that fits a line.
func clip(s string) string { return truncate.Text(s, 40) }
