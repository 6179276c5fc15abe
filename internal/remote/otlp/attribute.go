// Package otlp sends spans and metrics to an OpenTelemetry collector, over gRPC or HTTP, in
// protobuf or JSON. It knows OTLP's messages and retries, and nothing of what is measured.
package otlp

// Attribute says something about a span, a point or a resource. Its tags, and those of the other
// parts of an export, say how it is in JSON and in protobuf.
type Attribute struct {
	Key   string `json:"key" pb:"1"`
	Value Value  `json:"value" pb:"2"`
}

// Value has one field set.
type Value struct {
	String *string  `json:"stringValue,omitempty" pb:"1"`
	Bool   *bool    `json:"boolValue,omitempty" pb:"2"`
	Int    *int64   `json:"intValue,omitempty,string" pb:"3"`
	Double *float64 `json:"doubleValue,omitempty" pb:"4"`
	Array  *Array   `json:"arrayValue,omitempty" pb:"5"`
}

// Array is a list of values.
type Array struct {
	Values []Value `json:"values" pb:"1"`
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

// Int is an attribute that is an integer.
func Int(key string, n int) Attribute { return Attribute{key, Value{Int: new(int64(n))}} }

// Double is an attribute that is a number.
func Double(key string, v float64) Attribute { return Attribute{key, Value{Double: &v}} }

// Bool is an attribute that is true or false.
func Bool(key string, v bool) Attribute { return Attribute{key, Value{Bool: &v}} }
