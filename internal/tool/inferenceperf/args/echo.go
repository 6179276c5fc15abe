package args

import (
	"bytes"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/plan"
)

// hidden stands where a secret was.
const hidden = "(secret)"

// echo is the config in force as YAML, in the order of the schema and without secrets.
func (b *builder) echo(schema *form) []byte {
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	_ = enc.Encode(show(schema, b.tree, false, false)) // plain values in memory always work
	_ = enc.Close()
	return buf.Bytes()
}

// show is a value as YAML. In the elements of lists nulls are left out: which of their
// keys mean something depends on the rest. So are keys that the original does not know,
// unless the user gave them, so that it can read what it reads here.
func show(f *form, v *value, secret, element bool) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	switch {
	case v == nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	case v.kind == list:
		n.Kind = yaml.SequenceNode
		for _, e := range v.list {
			n.Content = append(n.Content, show(f.itemForm(list), e, secret, true))
		}
	case v.kind == object && f.objectForm() != nil:
		for _, k := range f.objectForm().keys {
			field, ok := v.fields[k.name]
			if !ok || (element || k.unsaid) && field == nil || k.isExtension() && !field.given() {
				continue
			}
			n.Content = append(n.Content, scalarNode(k.name), show(&k.form, field, k.secret, false))
		}
	case v.kind == mapping:
		for _, name := range v.names {
			n.Content = append(n.Content, scalarNode(name),
				show(f.itemForm(mapping), v.fields[name], secret && secretHeader(name, v.fields[name]), false))
		}
	case secret:
		return scalarNode(hidden)
	case strings.Contains(v.text(), "://"):
		return scalarNode(plan.SafeURL(v.text()))
	default:
		return scalarNode(v.scalar)
	}
	if len(n.Content) == 0 {
		n.Style = yaml.FlowStyle
	}
	return n
}

// secretHeader asks the plan, which knows the names and looks of credentials.
func secretHeader(name string, v *value) bool {
	p := plan.Plan{Target: plan.Target{Headers: map[string]string{name: v.text()}}}
	return plan.Redacted(&p).Target.Headers[name] != v.text()
}

// isExtension reports whether a key is not of the original.
func (k *key) isExtension() bool { return strings.HasPrefix(k.help, "Inferometer extension") }

func (f *form) objectForm() *form {
	if f == nil || f.kind != union {
		return f
	}
	return f.mapped
}

// itemForm is the form of a list's or mapping's elements; what may be anything has them too.
func (f *form) itemForm(k kind) *form {
	if f != nil && f.kind == union && k == list {
		f = f.listed
	}
	if f == nil || f.item == nil {
		return &form{kind: free}
	}
	return f.item
}

func scalarNode(v any) *yaml.Node {
	var n yaml.Node
	switch v := v.(type) { // most of a config; an encoder for each of them is slow
	case string:
		n.SetString(v)
		return &n
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}
	case int64:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(v, 10)}
	}
	if err := n.Encode(v); err != nil {
		n = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "(cannot be shown)"}
	}
	return &n
}
