package planfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan/document"
	"go.yaml.in/yaml/v3"
)

// Bounds of what a plan may add to a request body: aliases make small files huge, or endless.
const (
	maxBodyDepth = 50
	maxBodyNodes = 100_000
)

var errTooLarge = errors.New("is nested too deeply or too large")

// bodySpec is a mapping of anything that JSON can say.
func bodySpec() *form {
	return &form{
		kind:   "mapping of anything",
		schema: schema{"type": "object"},
		zero:   func(v any) bool { return len(*v.(*map[string]any)) == 0 },
		write:  func(v any) *yaml.Node { return toNode(unspelled(*v.(*map[string]any))) },
		read: func(r *reader, n *yaml.Node, path string, v any) {
			if n.Kind != yaml.MappingNode {
				r.wrong(n, path, "a mapping of request fields")
				return
			}
			body := map[string]any{}
			*v.(*map[string]any) = body
			r.pairs(n, path, func(key string, at, value *yaml.Node) {
				sub := document.Join(path, key)
				r.draft.Set(sub, document.Position(r.file, value))
				field, err := r.jsonValue(value, 0)
				if err != nil {
					r.fault(at, sub, err.Error(), "")
					return
				}
				body[key] = field
			})
		},
		put: func(r *reader, steps []string, n *yaml.Node, path string, v any) {
			path = document.Join(path, strings.Join(steps, "."))
			r.draft.Set(path, r.file)
			value, err := r.jsonValue(n, 0)
			body := v.(*map[string]any)
			if *body == nil {
				*body = map[string]any{}
			}
			into, last := *body, len(steps)-1
			for _, name := range steps[:last] {
				inner, ok := into[name].(map[string]any)
				if !ok {
					inner = map[string]any{}
					into[name] = inner
				}
				into = inner
			}
			if into[steps[last]] = value; err != nil {
				r.fault(n, path, err.Error(), "")
			}
		},
	}
}

// jsonValue is a node as a JSON value: nil, bool, int, uint64, float64, string, []any or
// map[string]any.
func (r *reader) jsonValue(n *yaml.Node, depth int) (any, error) {
	if r.nodes++; !r.own && (depth > maxBodyDepth || r.nodes > maxBodyNodes) {
		return nil, errTooLarge
	}
	n = document.Resolved(n)
	switch n.Kind {
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, e := range n.Content {
			v, err := r.jsonValue(e, depth+1)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	case yaml.MappingNode:
		return r.jsonObject(n, depth)
	}
	return jsonScalar(n)
}

func (r *reader) jsonObject(n *yaml.Node, depth int) (any, error) {
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := document.Resolved(n.Content[i])
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
			return nil, fmt.Errorf("line %d: a field's name must be a single word", n.Content[i].Line)
		}
		if _, twice := m[key.Value]; twice {
			return nil, fmt.Errorf("line %d: %s is given twice", key.Line, truncate.Quote(key.Value))
		}
		v, err := r.jsonValue(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		m[key.Value] = v // JSON's names are text: 50256 becomes "50256"
	}
	return m, nil
}

func jsonScalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b, nil
		}
	case "!!int":
		var i int
		if n.Decode(&i) == nil {
			return i, nil
		}
		var u uint64
		if !strings.HasPrefix(n.Value, "-") && n.Decode(&u) == nil {
			return u, nil
		}
		return parseNumber(n)
	case "!!float":
		return parseNumber(n)
	}
	return n.Value, nil
}

// bodyFits reports whether a value that did not come from a file keeps the bounds.
func bodyFits(v any, depth int, nodes *int) bool {
	if *nodes++; depth > maxBodyDepth || *nodes > maxBodyNodes {
		return false
	}
	var parts []any
	switch v := v.(type) {
	case []any:
		parts = v
	case map[string]any:
		parts = slices.Collect(maps.Values(v))
	}
	return !slices.ContainsFunc(parts, func(e any) bool { return !bodyFits(e, depth+1, nodes) })
}

// unspelled is a value whose numbers are numbers, not the texts that bodies have them as.
func unspelled(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = unspelled(v[i])
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for name, one := range v {
			m[name] = unspelled(one)
		}
		return m
	}
	return v
}
