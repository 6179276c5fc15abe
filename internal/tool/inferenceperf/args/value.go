package args

import (
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/plan/document"
)

// value is part of the config: a scalar, a list, or a mapping. nil is null.
type value struct {
	where  string // where it was set; empty: it is a default
	scalar any    // bool, int64, float64 or string; what a free value is
	list   []*value
	names  []string // of fields, in order
	fields map[string]*value
	kind   kind // list, object or mapping; another one: it is a scalar
}

// child is the part that a dotted path leads to; nil where there is none.
func (v *value) child(path string) *value {
	for name := range strings.SplitSeq(path, ".") {
		if v == nil {
			return nil
		}
		v = v.fields[name]
	}
	return v
}

// scalarOf is the scalar of a value; the zero one where it is of another type, or null.
func scalarOf[T any](v *value) T {
	var s T
	if v != nil {
		s, _ = v.scalar.(T)
	}
	return s
}

func (v *value) text() string { return scalarOf[string](v) }

func (v *value) yes() bool { return scalarOf[bool](v) }

func (v *value) number() float64 { return scalarOf[float64](v) + float64(scalarOf[int64](v)) }

func (v *value) integer() int64 { return scalarOf[int64](v) + int64(scalarOf[float64](v)) }

func (v *value) given() bool { return v != nil && v.where != "" }

func (v *value) items() []*value {
	if v == nil {
		return nil
	}
	return v.list
}

func (v *value) texts() []string {
	var out []string
	for _, e := range v.items() {
		out = append(out, e.text())
	}
	return out
}

func (v *value) textMap() map[string]string {
	if v == nil || len(v.names) == 0 {
		return nil
	}
	m := make(map[string]string, len(v.names))
	for _, n := range v.names {
		m[n] = v.fields[n].text()
	}
	return m
}

func (v *value) put(name string, field *value) {
	if v.fields == nil {
		v.fields = map[string]*value{}
	}
	if _, ok := v.fields[name]; !ok {
		v.names = append(v.names, name)
	}
	v.fields[name] = field
}

func (v *value) plain() any {
	switch {
	case v == nil:
		return nil
	case v.kind == list:
		out := make([]any, len(v.list))
		for i, e := range v.list {
			out[i] = e.plain()
		}
		return out
	case v.kind == object || v.kind == mapping:
		m := make(map[string]any, len(v.names))
		for _, n := range v.names {
			m[n] = v.fields[n].plain()
		}
		return m
	}
	return v.scalar
}

// fresh is the default of a key; nil means null.
func (k *key) fresh() *value {
	switch {
	case k.form.kind == object && !k.open && !k.must:
		v := &value{kind: object}
		k.form.fill(v)
		return v
	case k.def == nil:
		return nil
	}
	return defaultOf(k.form, k.def)
}

func defaultOf(f form, def any) *value {
	switch d := def.(type) {
	case []any:
		v := &value{kind: list}
		for _, e := range d {
			v.list = append(v.list, defaultOf(*f.item, e))
		}
		return v
	case map[string]any:
		return &value{kind: mapping}
	case int:
		return &value{scalar: int64(d)}
	}
	return &value{scalar: def}
}

// fill adds the defaults of keys that an object does not have.
func (f *form) fill(v *value) {
	for i := range f.keys {
		k := &f.keys[i]
		if _, ok := v.fields[k.name]; !ok {
			v.put(k.name, k.fresh())
		}
	}
}

// complete fills in all defaults and says which keys are missing.
func complete(f *form, v *value, path string, missing func(v *value, path string)) {
	if v == nil {
		return
	}
	switch f.kind {
	case union:
		switch v.kind {
		case object:
			complete(f.mapped, v, path, missing)
		case list:
			complete(f.listed, v, path, missing)
		}
	case list:
		for i, e := range v.list {
			complete(f.item, e, path+"["+strconv.Itoa(i)+"]", missing)
		}
	case object:
		f.fill(v)
		for i := range f.keys {
			k := &f.keys[i]
			if field := v.fields[k.name]; field != nil {
				complete(&k.form, field, document.Join(path, k.name), missing)
			} else if k.must {
				missing(v, document.Join(path, k.name))
			}
		}
	}
}
