package body

import "fmt"

// maxLogprobs is the most tokens whose log probability can be asked for at each place.
const maxLogprobs = 20

// outputField reads a body field about what a response has to be, or what has to be said of its tokens.
func (r *Reader) outputField(raw []byte) error {
	p := r.p
	switch name := string(raw); {
	case name == "response_format":
		return r.format(raw)
	case name == "guided_json":
		return r.schema()
	case name == "logprobs" && r.api == Chat:
		return r.boolean(raw, &p.Logprobs)
	case name == "top_logprobs" && r.api == Completions:
		if r.strict {
			p.unknown = append(p.unknown, name)
		}
		return r.skipElement()
	}
	n := -1
	if err := r.integer(raw, &n); err != nil || n == -1 {
		return err
	}
	if n < 0 || n > maxLogprobs {
		return fmt.Errorf("%s must be from 0 to %d, got %d", raw, maxLogprobs, n)
	}
	p.TopLogprobs = n
	p.Logprobs = p.Logprobs || r.api == Completions
	return nil
}

// format reads the format that a response has to have; of a chat the schema is in an object of its own.
func (r *Reader) format(name []byte) error {
	if r.null() {
		return nil
	}
	if r.peek() != '{' {
		return fmt.Errorf("%s: must be an object", name)
	}
	var kind []byte
	var member func(key []byte) error
	member = func(key []byte) error {
		switch {
		case string(key) == "type":
			return r.text(key, &kind)
		case string(key) == "schema":
			return r.schema()
		case string(key) == "json_schema" && r.peek() == '{':
			return r.object(member)
		}
		return r.skipElement()
	}
	if err := r.object(member); err != nil {
		return err
	}
	switch string(kind) {
	case "json_object":
		r.p.Schema = []byte("{}")
	case "json_schema":
		if r.p.Schema == nil {
			return fmt.Errorf("%s: json_schema: schema: field required", name)
		}
	case "text":
		r.p.Schema = nil
	default:
		return fmt.Errorf("%s: type: must be text, json_object or json_schema", name)
	}
	return nil
}

func (r *Reader) schema() error {
	if r.null() {
		return nil
	}
	v, err := r.skip()
	if err == nil && v[0] == '"' { // as vLLM's guided_json may be
		v = []byte(Unquote(v[1 : len(v)-1]))
	}
	r.p.Schema = v
	return err
}

// responseText reads the field of OpenAI's responses API that has the format in it.
func (r *Reader) responseText() error {
	if r.peek() != '{' {
		return r.skipElement()
	}
	return r.object(func(key []byte) error {
		if string(key) == "format" {
			return r.format(key)
		}
		return r.skipElement()
	})
}
