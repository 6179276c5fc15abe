package wekatrace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
)

// trace is a recorded session as its file has it: a hash for each block of tokens. nil: not given.
type trace struct {
	ID           string    `json:"id"`
	BlockSize    int       `json:"block_size"`
	Scope        string    `json:"hash_id_scope"`
	ToolTokens   int       `json:"tool_tokens"`
	SystemTokens int       `json:"system_tokens"`
	Requests     []request `json:"requests"`
}

// request is a call of a model, or the calls of a subagent.
type request struct {
	T      *float64 `json:"t"` // seconds
	Type   string   `json:"type"`
	Model  string   `json:"model"`
	In     *int     `json:"in"`
	Out    *int     `json:"out"`
	Hashes []int64  `json:"hash_ids"`
	API    float64  `json:"api_time"`   // seconds until the response was complete
	Think  float64  `json:"think_time"` // seconds since the response before

	// Of a subagent:
	Agent        string    `json:"agent_id"`
	ToolTokens   int       `json:"tool_tokens"`
	SystemTokens int       `json:"system_tokens"`
	Requests     []request `json:"requests"`
}

// The types of requests.
const (
	typePlain    = "n"
	typeStreamed = "s"
	typeSubagent = "subagent"
)

// The scopes of hashes: a number means one text in its trace, or in all of them.
const (
	scopeLocal  = "local"
	scopeGlobal = "global"
)

const (
	mostTokens  = 1 << 26 // of a request; more is a mistake
	mostSeconds = 1e9     // of a session
)

// decode reads a trace and holds it against the format. Unknown fields are passed over.
func decode(raw []byte) (*trace, error) {
	t, ok := scan(raw)
	if !ok {
		t = new(trace)
		if err := json.Unmarshal(raw, t); err != nil {
			return nil, misread(err)
		}
	}
	switch {
	case t.ID == "":
		return nil, &placeError{err: errors.New("id is missing")}
	case t.Scope != "" && t.Scope != scopeLocal && t.Scope != scopeGlobal:
		return nil, &placeError{err: fmt.Errorf("hash_id_scope is %q, not %q or %q", t.Scope, scopeLocal, scopeGlobal)}
	}
	for name, n := range map[string]int{"block_size": t.BlockSize, "tool_tokens": t.ToolTokens, "system_tokens": t.SystemTokens} {
		if n < 0 || n > mostTokens {
			return nil, &placeError{err: fmt.Errorf("%s is %d, which is not a number of tokens", name, n)}
		}
	}
	if path, err := check(t.Requests, false); err != nil {
		return nil, &placeError{at: locate(raw, path), err: fmt.Errorf("%s: %w", name(path), err)}
	}
	return t, nil
}

// misread is what is wrong with the JSON of a trace, and where.
func misread(err error) error {
	if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
		return &placeError{at: syntax.Offset - 1, err: err}
	}
	kind := new(json.UnmarshalTypeError)
	switch {
	case !errors.As(err, &kind):
		return err
	case kind.Field == "":
		return &placeError{err: fmt.Errorf("a %s is not a trace; it must be a mapping with id and requests", kind.Value)}
	}
	return &placeError{at: kind.Offset, err: fmt.Errorf("%s is a %s, not a %s", kind.Field, kind.Value, kindOf(kind.Type.Kind().String()))}
}

// kindOf is what a kind of Go is called in JSON.
func kindOf(kind string) string {
	switch kind {
	case "int", "int64", "float64":
		return "number"
	case "slice":
		return "list"
	case "struct":
		return "mapping"
	}
	return kind
}

// placeError is a fault at an offset in a trace.
type placeError struct {
	at  int64
	err error
}

func (e *placeError) Error() string { return e.err.Error() }

// check looks at requests and says which one is wrong.
func check(list []request, within bool) (path []int, err error) {
	for i := range list {
		r := &list[i]
		if err := r.check(within); err != nil {
			return []int{i}, err
		}
		if path, err := check(r.Requests, true); err != nil {
			return append([]int{i}, path...), err
		}
	}
	return nil, nil
}

func (r *request) check(within bool) error {
	switch {
	case r.Type == "":
		return errors.New("type is missing")
	case r.Type != typePlain && r.Type != typeStreamed && r.Type != typeSubagent:
		return fmt.Errorf("type is %q, not %q, %q or %q", r.Type, typePlain, typeStreamed, typeSubagent)
	case r.T == nil:
		return errors.New("t is missing")
	case math.Abs(*r.T) > 1e12 || r.API > mostSeconds || r.Think > mostSeconds:
		return errors.New("its times are not numbers of seconds")
	case r.Type == typeSubagent && within:
		return errors.New("a subagent cannot have subagents")
	case r.Type == typeSubagent && r.Agent == "":
		return errors.New("agent_id is missing")
	case r.Type == typeSubagent:
		if min(r.ToolTokens, r.SystemTokens) < 0 || max(r.ToolTokens, r.SystemTokens) > mostTokens {
			return errors.New("tool_tokens and system_tokens must be numbers of tokens")
		}
		return nil
	case len(r.Requests) > 0:
		return fmt.Errorf("a request of type %q has no requests of its own", r.Type)
	case r.In == nil || r.Out == nil:
		return errors.New("in or out is missing")
	case *r.In < 1 || *r.In > mostTokens:
		return fmt.Errorf("in is %d, which is not a prompt length", *r.In)
	case *r.Out < 0 || *r.Out > mostTokens:
		return fmt.Errorf("out is %d, which is not an output length", *r.Out)
	}
	return nil
}

// name is how a user finds a request.
func name(path []int) string {
	var b strings.Builder
	for i, at := range path {
		if i > 0 {
			b.WriteByte('.')
		}
		fmt.Fprintf(&b, "requests[%d]", at)
	}
	return b.String()
}

// locate finds where a request begins in the text of its trace.
func locate(raw []byte, path []int) int64 {
	at := int64(0)
	for _, want := range path {
		list, offset := member(raw, "requests")
		item, within := element(list, want)
		at += offset + within
		raw = item
	}
	return at
}

// member is the value of a key, and where it begins.
func member(raw []byte, key string) ([]byte, int64) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, 0
	}
	for d.More() {
		k, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			break
		}
		if text, ok := k.(string); ok && strings.EqualFold(text, key) {
			return value, d.InputOffset() - int64(len(value))
		}
	}
	return nil, 0
}

// element is the n-th element of a list, and where it begins.
func element(raw []byte, n int) ([]byte, int64) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, 0
	}
	for i := 0; d.More(); i++ {
		var value json.RawMessage
		if d.Decode(&value) != nil {
			break
		}
		if i == n {
			return value, d.InputOffset() - int64(len(value))
		}
	}
	return nil, 0
}
