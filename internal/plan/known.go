package plan

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// Known are the names of the protocols and sources that there are. A plan has rules of its
// own for some; the others need none.
type Known struct {
	Protocols, Sources []string
	// Gate says what is wrong with a gate and what to do about it; nil: nobody can tell.
	Gate func(c Condition, p *Plan) (wrong, hint string)
}

// conditionsSpec is a list of conditions, or one. To YAML "at rate 40: rps < 39" is a mapping: it is
// taken for the text that it was meant to be.
func conditionsSpec() codec[[]string] {
	one := text()
	read := one.read
	one.read = func(r *reader, n *yaml.Node, path string, v *string) {
		if n.Kind == yaml.MappingNode && len(n.Content) == 2 && n.Content[0].Kind == yaml.ScalarNode && n.Content[1].Kind == yaml.ScalarNode {
			n = &yaml.Node{Kind: yaml.ScalarNode, Value: n.Content[0].Value + ": " + n.Content[1].Value, Line: n.Line, Column: n.Column}
		}
		read(r, n, path, v)
	}
	one.schema = schema{"anyOf": []any{one.schema, schema{"type": "object", "maxProperties": 1, "additionalProperties": schema{"type": "string"}}}}
	return listOrOne("list of conditions", one)
}

// protocolNames are the protocols that a plan has rules for.
func protocolNames() []string {
	return []string{ProtocolOpenAI, ProtocolAnthropic, ProtocolTriton, ProtocolHTTP, ProtocolTFServing, ProtocolTorchServe}
}

// and adds the names that are not there yet.
func and(names, more []string) []string {
	for _, name := range more {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
