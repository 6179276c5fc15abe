// Package orderedjson is JSON whose members keep the order they were set, and
// which is written without spaces: bodies that servers and tools are known to be given.
package orderedjson

import (
	"bytes"
	"encoding/json"
)

// Object is a JSON object whose members keep their order.
type Object []struct {
	Name  string
	Value any
}

// Set gives a member a value, in its old place where there is one.
func (o *Object) Set(name string, value any) {
	for i := range *o {
		if (*o)[i].Name == name {
			(*o)[i].Value = value
			return
		}
	}
	*o = append(*o, Object{{name, value}}...)
}

// Get is the value of a member, or nil.
func (o Object) Get(name string) any {
	for _, m := range o {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (o Object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := Compact(m.Name)
		if err != nil {
			return nil, err
		}
		value, err := Compact(m.Value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}

// Compact is a value as JSON without spaces, and with no more escapes than needed.
func Compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
