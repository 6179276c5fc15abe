package planfile

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/plan"
)

// Encode prints a plan as YAML, fields in a fixed order and secrets taken out:
// Decode reads it back.
func Encode(p *plan.Plan) ([]byte, error) {
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	shown := plan.Redacted(p)
	if err := errors.Join(enc.Encode(planSpec().write(&shown)), enc.Close()); err != nil {
		return nil, fmt.Errorf("print plan: %w", err)
	}
	return buf.Bytes(), nil
}

// Echo is the plan as a plain value for a JSON document, with the names that a
// plan file has and secrets taken out.
func Echo(p *plan.Plan) any {
	r := &reader{own: true}
	shown := plan.Redacted(p)
	v, err := r.jsonValue(planSpec().write(&shown), 0)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return v
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
