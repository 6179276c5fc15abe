package args

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
)

// triton puts the flags of that protocol that need more than their value.
func (b *builder) triton() {
	for _, s := range b.flags["request-parameter"] {
		b.parameter(s)
	}
	p := &b.draft.Plan
	b.list("composing-model", "target.triton.composing", &p.Target.Triton.Composing)
	b.list("shape", "data.tensors.shapes", &p.Data.Tensors.Shapes)
	if b.given("input-data") {
		p.Data.Tensors.Files, p.Data.Tensors.Fill = nil, ""
	}
	for _, s := range b.flags["input-data"] {
		if s == plan.FillZero || s == plan.FillRandom {
			b.draft.Put("data.tensors.fill", "--input-data", s)
			continue
		}
		b.draft.Put(fmt.Sprintf("data.tensors.files[%d]", len(p.Data.Tensors.Files)), "--input-data", s)
	}
}

// parameter reads NAME:VALUE:TYPE. The value may have colons itself.
func (b *builder) parameter(s string) {
	name, rest, _ := strings.Cut(s, ":")
	at := strings.LastIndexByte(rest, ':')
	if name == "" || at < 0 {
		b.fault("--request-parameter", "is not NAME:VALUE:TYPE", "such as --request-parameter priority:2:int")
		return
	}
	where := "--request-parameter " + shorten(name)
	value, err := typed(rest[:at], rest[at+1:])
	if err != nil {
		b.fault(where, err.Error(), "such as priority:2:int")
		return
	}
	t := &b.draft.Plan.Target.Triton
	if t.Parameters == nil {
		t.Parameters = map[string]any{}
	}
	t.Parameters[name] = value
	b.draft.Set("target.triton.parameters."+name, where)
}

// typed is a value of the type that the user names.
func typed(value, kind string) (any, error) {
	var v any
	var err error
	switch kind {
	case "bool":
		v, err = strconv.ParseBool(value)
	case "int":
		v, err = strconv.Atoi(value)
	case "float", "double":
		v, err = strconv.ParseFloat(value, 64)
	case "string":
		return value, nil
	default:
		return nil, fmt.Errorf("has the unknown type %s: use bool, int, float or string", strconv.Quote(shorten(kind)))
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not a value of type %s", strconv.Quote(shorten(value)), kind)
	}
	return v, nil
}
