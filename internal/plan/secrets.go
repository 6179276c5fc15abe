package plan

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// SafeURL is a URL, or the path and query of one, without its user and password, and without
// the values of query parameters that look like credentials.
func SafeURL(raw string) string {
	if !strings.Contains(raw, "://") && !strings.HasPrefix(raw, "/") {
		// Without a scheme, what is ahead of the host looks like one, or like a path.
		address, query, _ := strings.Cut(raw, "?")
		if at := strings.LastIndexByte(address, '@'); at >= 0 {
			raw = address[at+1:]
			if query != "" {
				raw += "?" + query
			}
		}
	}
	u, err := url.Parse(raw)
	if bare := raw; err != nil && !strings.Contains(raw, "://") {
		if u, err = url.Parse("//" + bare); err == nil { // an address and a port
			return strings.TrimPrefix(SafeURL("//"+bare), "//")
		}
	}
	if err != nil {
		return "(not a URL)" // it may hold a password all the same
	}
	changed := u.User != nil
	u.User = nil
	query := u.Query()
	for name, values := range query {
		for i := range values {
			if secretParameter(name) || secretValue(values[i]) {
				values[i] = Hidden
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

func safeURLs(raw []string) []string {
	safe := make([]string, len(raw))
	for i, u := range raw {
		safe[i] = SafeURL(u)
	}
	return safe
}

// safePath is a path without the credentials of its query.
func safePath(path string) string {
	before, _, ok := strings.Cut(path, "?")
	if !ok {
		return path
	}
	if _, err := url.Parse(path); err != nil {
		return before + "?" + Hidden
	}
	return SafeURL(path)
}

// Secrets are the values in a target that Redacted takes out: what a server may repeat or requests
// hold.
func (t *Target) Secrets() []string {
	var all []string
	add := func(s string) {
		if s != "" {
			all = append(all, s)
		}
	}
	for _, raw := range append(slices.Clone(t.URLs), t.Path, t.Proxy) {
		u, err := url.Parse(raw)
		if err != nil {
			continue
		}
		if password, ok := u.User.Password(); ok {
			add(password)
			add(u.User.Username() + ":" + password) // as the Authorization header has it, encoded
		}
		for name, values := range u.Query() {
			for _, v := range values {
				if secretParameter(name) || secretValue(v) {
					add(v)
				}
			}
		}
	}
	for name, value := range t.Headers {
		if secretHeader(name, value) {
			scheme, bare, _ := strings.Cut(strings.TrimSpace(value), " ") // of Bearer and Basic
			bare = strings.TrimSpace(bare)
			add(strings.TrimSpace(value))
			add(bare)
			if pair, err := base64.StdEncoding.DecodeString(bare); err == nil && strings.EqualFold(scheme, "Basic") {
				_, password, _ := strings.Cut(string(pair), ":")
				add(string(pair))
				add(password)
			}
		}
	}
	secretsOf(t.Body, false, add)
	secretsOf(t.Triton.Parameters, false, add)
	return all
}

// secretsOf adds the secrets of a value; whole: it stands under a name that says that it is one.
func secretsOf(v any, whole bool, add func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for name, v := range v {
			secretsOf(v, whole || secretField(name, v), add)
		}
	case []any:
		for _, v := range v {
			secretsOf(v, whole, add)
		}
	case string:
		if whole || secretValue(v) {
			add(v)
		}
	case nil, bool:
	default:
		if whole {
			add(fmt.Sprint(v))
		}
	}
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
			return Hidden
		}
	}
	return v
}

func redactedObject(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for name, v := range m {
		if secretField(name, v) {
			v = Hidden
		}
		out[name] = redacted(v)
	}
	return out
}

// secretHeader reports whether a header holds a credential.
func secretHeader(name, value string) bool {
	return secretName(name) || strings.Contains(strings.ToLower(name), "token") || secretValue(value)
}

// secretParameter reports whether a query parameter of this name holds a credential.
func secretParameter(name string) bool {
	return secretName(name) || slices.Contains([]string{"sig", "code", "pwd", "pass"}, strings.ToLower(name))
}

// secretField reports whether a body field holds a credential, as switches and token counts never
// do.
func secretField(name string, v any) bool {
	switch v.(type) {
	case nil, bool:
		return false
	case string:
		return secretName(name)
	}
	return secretPart(name)
}

// secretName reports whether a header, body field or query parameter of this
// name holds a credential. Names such as max_tokens do not.
func secretName(name string) bool {
	name = strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	words := strings.Split(name, "_")
	last := words[len(words)-1]
	return secretPart(name) || last == "token" || last == "key" || slices.Contains(words, "auth")
}

// secretPart reports whether a part of a name leaves no doubt.
func secretPart(name string) bool {
	name = strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	parts := []string{"authorization", "api_key", "apikey", "cookie", "secret", "password", "passwd", "credential", "signature"}
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

// secretValue reports whether a text looks like a credential whatever it is called.
func secretValue(value string) bool {
	return slices.ContainsFunc([]string{"bearer ", "basic ", "sk-", "hf_", "nvapi-"}, func(prefix string) bool {
		return len(value) > len(prefix) && strings.EqualFold(value[:len(prefix)], prefix)
	})
}

// Hidden stands where a secret was.
const Hidden = "(secret)"

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
			r.Target.Headers[name] = Hidden
		}
	}
	r.Probes = p.Probes.redacted()
	if o := &r.Target.OAuth; o.TokenURL != "" {
		o.TokenURL = SafeURL(o.TokenURL)
	}
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

// shortestHidden: a shorter secret would be found in innocent text.
const shortestHidden = 6

// Hider is a writer that puts a placeholder where a secret would be written.
type Hider struct {
	to      io.Writer
	secrets [][]byte
	held    []byte // may be the begin of one
	longest int
}

// Hide is a Hider of secrets ahead of w, also as JSON has them, once or twice over. Close writes
// the rest.
func Hide(w io.Writer, secrets []string) *Hider {
	h := &Hider{to: w}
	for _, secret := range secrets {
		for range 3 {
			if len(secret) < shortestHidden {
				break
			}
			h.secrets, h.longest = append(h.secrets, []byte(secret)), max(h.longest, len(secret))
			quoted, err := json.Marshal(secret)
			if err != nil {
				break
			}
			secret = strings.TrimSuffix(strings.TrimPrefix(string(quoted), `"`), `"`)
		}
	}
	return h
}

// Write implements io.Writer.
func (h *Hider) Write(text []byte) (int, error) {
	if h.longest == 0 {
		return h.to.Write(text)
	}
	h.held = append(h.held, text...)
	for _, secret := range h.secrets {
		if bytes.Contains(h.held, secret) {
			h.held = bytes.ReplaceAll(h.held, secret, []byte(Hidden))
		}
	}
	if n := len(h.held) - h.longest + 1; n > 0 {
		if _, err := h.to.Write(h.held[:n]); err != nil {
			return 0, err
		}
		h.held = append(h.held[:0], h.held[n:]...)
	}
	return len(text), nil
}

// Close writes what was held back. It does not close what is written to.
func (h *Hider) Close() error {
	_, err := h.to.Write(h.held)
	h.held = nil
	return err
}
