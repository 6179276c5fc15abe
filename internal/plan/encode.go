package plan

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// hidden stands where a secret was.
const hidden = "(secret)"

// Encode prints a plan as YAML, fields in a fixed order and secrets taken out:
// Decode reads it back.
func Encode(p *Plan) ([]byte, error) {
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(planSpec().write(Redacted(p))), enc.Close()); err != nil {
		return nil, fmt.Errorf("print plan: %w", err)
	}
	return buf.Bytes(), nil
}

// Echo is the plan as a plain value for a JSON document, with the names that a
// plan file has and secrets taken out.
func Echo(p *Plan) any {
	r := &reader{own: true}
	v, err := r.jsonValue(planSpec().write(Redacted(p)), 0)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return v
}

// Redacted is a copy of the plan that can be shown to anyone: values of headers
// and body fields that look like credentials, and those in URLs, are taken out.
func Redacted(p *Plan) Plan {
	r := *p
	r.Target.URLs = safeURLs(p.Target.URLs)
	r.Target.Proxy = SafeURL(p.Target.Proxy)
	r.Target.Path = safePath(p.Target.Path)
	r.Target.Headers = maps.Clone(p.Target.Headers)
	for name, value := range r.Target.Headers {
		if secretHeader(name, value) {
			r.Target.Headers[name] = hidden
		}
	}
	r.Probes = p.Probes.redacted()
	if p.Cost.page() != "" {
		r.Cost.Power = SafeURL(p.Cost.Power)
	}
	r.Output.S3.Endpoint = SafeURL(p.Output.S3.Endpoint)
	if p.Target.Body != nil {
		r.Target.Body = redactedObject(p.Target.Body)
	}
	if p.Target.Triton.Parameters != nil {
		r.Target.Triton.Parameters = redactedObject(p.Target.Triton.Parameters)
	}
	return r
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
