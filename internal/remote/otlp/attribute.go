// Package otlp sends spans and metrics to an OpenTelemetry collector, over gRPC or HTTP, in
// protobuf or JSON. It knows what OTLP's messages are and how exports are repeated or given
// up, and nothing of what is measured.
package otlp

// Attribute says something about a span, a point or a resource.
type Attribute struct {
	Key   string `json:"key"`
	Value Value  `json:"value"`
}

// Value has one field set.
type Value struct {
	String *string  `json:"stringValue,omitempty"`
	Bool   *bool    `json:"boolValue,omitempty"`
	Int    *int64   `json:"intValue,omitempty,string"`
	Double *float64 `json:"doubleValue,omitempty"`
	Array  *Array   `json:"arrayValue,omitempty"`
}

// Array is a list of values.
type Array struct {
	Values []Value `json:"values"`
}

// Text is an attribute that is a text.
func Text(key, s string) Attribute { return Attribute{key, Value{String: &s}} }

// Texts is an attribute that is a list of texts.
func Texts(key string, list ...string) Attribute {
	a := Array{Values: make([]Value, len(list))}
	for i := range list {
		a.Values[i].String = &list[i]
	}
	return Attribute{key, Value{Array: &a}}
}

// Int is an attribute that is a whole number.
func Int(key string, n int) Attribute { return Attribute{key, Value{Int: new(int64(n))}} }

// Double is an attribute that is a number.
func Double(key string, v float64) Attribute { return Attribute{key, Value{Double: &v}} }

// Bool is an attribute that is true or false.
func Bool(key string, v bool) Attribute { return Attribute{key, Value{Bool: &v}} }
