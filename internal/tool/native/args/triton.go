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
	for i, name := range b.flags["composing-model"] {
		b.draft.Put(fmt.Sprintf("target.triton.composing[%d]", i), "--composing-model", name)
	}
	for i, s := range b.flags["shape"] {
		b.draft.Put(fmt.Sprintf("data.tensors.shapes[%d]", i), "--shape", s)
	}
	b.inputData()
}

// inputData tells what makes tensors up from the names of files.
func (b *builder) inputData() {
	files := 0
	for _, s := range b.flags["input-data"] {
		if s == plan.FillZero || s == plan.FillRandom {
			b.draft.Put("data.tensors.fill", "--input-data", s)
			continue
		}
		b.draft.Put(fmt.Sprintf("data.tensors.files[%d]", files), "--input-data", s)
		files++
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
		return nil, fmt.Errorf("has the type %s, which is none of bool, int, float and string", strconv.Quote(shorten(kind)))
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no %s", strconv.Quote(shorten(value)), kind)
	}
	return v, nil
}
