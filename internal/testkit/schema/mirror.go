package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// Mirror makes sure that a schema has the fields of a Go type and no others, that it
// requires those that are always written, and that it refuses any other. marshaled are types that
// marshal themselves, each with the one that they write.
func Mirror(t testing.TB, text []byte, of reflect.Type, marshaled ...reflect.Type) {
	t.Helper()
	m := mirror{seen: map[string]bool{}, written: map[reflect.Type]reflect.Type{}}
	for pair := range slices.Chunk(marshaled, 2) {
		m.written[pair[0]] = pair[1]
	}
	if err := json.Unmarshal(text, &m.root); err != nil {
		t.Fatal(err)
	}
	m.walk("", m.root, of)
	for _, fault := range m.faults {
		t.Error(fault)
	}
}

// mirror is a walk through a schema and a type side by side.
type mirror struct {
	root    map[string]any
	seen    map[string]bool // parts that were looked at, with the type beside them
	written map[reflect.Type]reflect.Type
	faults  []string
}

func (m *mirror) walk(path string, at map[string]any, of reflect.Type) {
	if ref, ok := at["$ref"].(string); ok {
		key := ref + " " + of.String()
		if m.seen[key] {
			return
		}
		m.seen[key] = true
		defs, _ := m.root["$defs"].(map[string]any)
		at, _ = defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if as, ok := m.written[of]; ok {
		of = as
	}
	switch kind := of.Kind(); {
	case kind == reflect.Slice:
		items, _ := at["items"].(map[string]any)
		m.walk(path+"[]", items, of.Elem())
	case kind == reflect.Map:
		values, _ := at["additionalProperties"].(map[string]any)
		m.walk(path+".*", values, of.Elem())
	case kind == reflect.Struct && of != reflect.TypeFor[time.Time]():
		m.fields(path, at, of)
	}
}

func (m *mirror) fields(path string, at map[string]any, of reflect.Type) {
	properties, _ := at["properties"].(map[string]any)
	var has, must []string
	for _, f := range reflect.VisibleFields(of) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "-" || !f.IsExported() {
			continue
		}
		// What is embedded by its address may be missing as a whole.
		whole := len(f.Index) == 1 || of.Field(f.Index[0]).Type.Kind() != reflect.Pointer
		if has = append(has, name); options != "omitempty" && options != "omitzero" && whole {
			must = append(must, name)
		}
		if field, ok := properties[name].(map[string]any); ok {
			m.walk(path+"."+name, field, f.Type)
		}
	}
	m.same(path+": its fields", has, slices.Collect(maps.Keys(properties)))
	var required []string
	list, _ := at["required"].([]any)
	for _, name := range list {
		required = append(required, fmt.Sprint(name))
	}
	m.same(path+": what it always has", must, required)
	if at["additionalProperties"] != false {
		m.faults = append(m.faults, path+" takes any other field")
	}
}

func (m *mirror) same(what string, want, got []string) {
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		m.faults = append(m.faults, fmt.Sprintf("%s are %q, those of the schema %q", what, want, got))
	}
}
