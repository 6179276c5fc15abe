package plan

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

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
	if err := enc.Encode(planSpec().write(Redacted(p))); err != nil {
		return nil, fmt.Errorf("print plan: %w", err)
	}
	if err := enc.Close(); err != nil {
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
	r.Target.URLs = make([]string, len(p.Target.URLs))
	for i, u := range p.Target.URLs {
		r.Target.URLs[i] = SafeURL(u)
	}
	r.Target.Proxy = SafeURL(p.Target.Proxy)
	r.Target.Headers = maps.Clone(p.Target.Headers)
	for name, value := range r.Target.Headers {
		if secretName(name) || strings.Contains(strings.ToLower(name), "token") || secretValue(value) {
			r.Target.Headers[name] = hidden
		}
	}
	r.Probes = p.Probes.redacted()
	if p.Output.S3.Endpoint != "" {
		r.Output.S3.Endpoint = SafeURL(p.Output.S3.Endpoint)
	}
	if p.Target.Body != nil {
		r.Target.Body = redactedObject(p.Target.Body)
	}
	if p.Target.Triton.Parameters != nil {
		r.Target.Triton.Parameters = redactedObject(p.Target.Triton.Parameters)
	}
	return r
}

// SafeURL is a URL without its user and password, and without the values of
// query parameters that look like credentials.
func SafeURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(not a URL)" // it may hold a password all the same
	}
	changed := u.User != nil
	u.User = nil
	query := u.Query()
	for name, values := range query {
		for i := range values {
			if secretName(name) || secretValue(values[i]) {
				values[i] = hidden
				changed = true
			}
		}
	}
	if !changed {
		return raw
	}
	if len(query) > 0 {
		u.RawQuery = query.Encode()
	}
	return u.String()
}

func redacted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return redactedObject(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = redacted(v[i])
		}
		return list
	case string:
		if secretValue(v) {
			return hidden
		}
	}
	return v
}

func redactedObject(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for name, v := range m {
		if _, isText := v.(string); isText && secretName(name) {
			v = hidden
		}
		out[name] = redacted(v)
	}
	return out
}

// secretName reports whether a header, body field or query parameter of this
// name holds a credential. Names such as max_tokens do not.
func secretName(name string) bool {
	name = strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	for _, part := range []string{"authorization", "api_key", "apikey", "cookie", "secret", "password", "passwd", "credential", "signature"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	words := strings.Split(name, "_")
	last := words[len(words)-1]
	return last == "token" || last == "key" || slices.Contains(words, "auth")
}

// secretValue reports whether a text looks like a credential whatever it is called.
func secretValue(value string) bool {
	for _, prefix := range []string{"bearer ", "basic ", "sk-", "hf_", "nvapi-"} {
		if len(value) > len(prefix) && strings.EqualFold(value[:len(prefix)], prefix) {
			return true
		}
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
