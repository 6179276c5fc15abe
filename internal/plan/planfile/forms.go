package planfile

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/document"
)

// special is the form of a struct that is more than its fields: one that may be written in short, or
// whose fields have to fit each other.
func special(ty reflect.Type, f *form) *form {
	switch ty {
	case reflect.TypeFor[plan.Length]():
		return lengthForm(f)
	case reflect.TypeFor[plan.Measurement]():
		return measurementForm(f)
	case reflect.TypeFor[plan.Sequences]():
		return sequencesForm(f)
	case reflect.TypeFor[plan.Tokenizer]():
		return or(f, "mapping", func(name string) (plan.Tokenizer, error) { return plan.Tokenizer{Name: name}, nil }, schema{"type": "string"})
	case reflect.TypeFor[plan.Warmup]():
		return or(f, "duration, whole number, auto or mapping", plan.ParseWarmup, schema{"type": "integer"}, schema{"const": plan.WarmupAuto}, durationSchema())
	case reflect.TypeFor[plan.MaxErrors]():
		return or(f, "whole number, share or mapping", plan.ParseMaxErrors, schema{"type": "integer"}, schema{"type": "string", "pattern": `^[0-9.]+ ?%?$`})
	case reflect.TypeFor[plan.Limits]():
		f.zero = func(v any) bool { return *v.(*plan.Limits) == plan.DefaultLimits() }
	case reflect.TypeFor[plan.Spot]():
		f.check = func(c *checker, path string, v any) { c.spot(path, *v.(*plan.Spot)) }
	case reflect.TypeFor[plan.Bounds]():
		check := f.check
		f.check = func(c *checker, path string, v any) {
			check(c, path, v)
			if b := v.(*plan.Bounds); b.Max > 0 && b.Min > b.Max {
				c.add(path, "min is more than max", "")
			}
		}
	}
	return f
}

func lengthForm(f *form) *form {
	f = or(f, "length", plan.ParseLength, schema{"type": "number"}, schema{"type": "string"})
	f.check = func(c *checker, path string, v any) { c.length(path, *v.(*plan.Length)) }
	read, write := f.read, f.write
	f.read = func(r *reader, n *yaml.Node, path string, v any) {
		l := v.(*plan.Length)
		*l = plan.Length{} // a default's parameters do not mix with those of another distribution
		read(r, n, path, l)
		*l = l.Complete()
	}
	f.write = func(v any) *yaml.Node {
		if l := *v.(*plan.Length); l == (plan.Length{Dist: plan.DistFixed, Mean: l.Mean}) {
			return toNode(l.Mean)
		}
		n := write(v)
		n.Style = yaml.FlowStyle
		return n
	}
	return f
}

// checkTally checks how many of something there are: a Length that may be 0.
func checkTally(c *checker, path string, v any) {
	l := *v.(*plan.Length)
	if l != (plan.Length{}) && l.Mean < 1 && l.Mean >= 0 && l.Dist != plan.DistUniform {
		l.Mean = max(1, float64(l.Min))
	}
	c.length(path, l)
}

// measurementForm has the defaults of a measurement once any part of it is given.
func measurementForm(f *form) *form {
	read, put := f.read, f.put
	f.zero = func(v any) bool { return *v.(*plan.Measurement) == plan.Measurement{} }
	f.read = func(r *reader, n *yaml.Node, path string, v any) {
		*v.(*plan.Measurement) = plan.DefaultMeasurement()
		read(r, n, path, v)
	}
	f.put = func(r *reader, steps []string, n *yaml.Node, path string, v any) {
		if m := v.(*plan.Measurement); !m.On() {
			*m = plan.DefaultMeasurement()
		}
		put(r, steps, n, path, v)
	}
	return f
}

func sequencesForm(f *form) *form {
	return or(f, "mapping", func(mode string) (plan.Sequences, error) {
		word := map[string]string{"true": plan.SequencesOn, "false": plan.SequencesOff}[mode]
		return plan.Sequences{Mode: cmp.Or(word, mode)}, nil
	}, schema{"enum": []any{plan.SequencesOn, plan.SequencesOff, true, false}})
}

// urlsSpec is a list of URLs; a single one may stand alone.
func urlsSpec() *form {
	one := text()
	one.check = func(c *checker, path string, v any) { c.url(path, *v.(*string)) }
	f := listOrOne(reflect.TypeFor[[]string](), one)
	f.kind = "list of URLs"
	return f
}

// conditionsSpec is a list of conditions, or one. To YAML "at rate 40: rps < 39" is a mapping: it is
// taken for the text that it was meant to be.
func conditionsSpec() *form {
	one := text()
	read := one.read
	one.read = func(r *reader, n *yaml.Node, path string, v any) {
		if n.Kind == yaml.MappingNode && len(n.Content) == 2 && n.Content[0].Kind == yaml.ScalarNode && n.Content[1].Kind == yaml.ScalarNode {
			n = &yaml.Node{Kind: yaml.ScalarNode, Value: n.Content[0].Value + ": " + n.Content[1].Value, Line: n.Line, Column: n.Column}
		}
		read(r, n, path, v)
	}
	one.schema = schema{"anyOf": []any{one.schema, schema{"type": "object", "maxProperties": 1, "additionalProperties": schema{"type": "string"}}}}
	f := listOrOne(reflect.TypeFor[[]string](), one)
	f.kind = "list of conditions"
	return f
}

// listOrOne is a list of which a single element may stand alone.
func listOrOne(ty reflect.Type, one *form) *form {
	f := list(ty, one)
	readList := f.read
	f.read = func(r *reader, n *yaml.Node, path string, v any) {
		if n.Kind == yaml.ScalarNode {
			r.draft.Set(path+"[0]", document.Position(r.file, n))
			n = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}}
		}
		readList(r, n, path, v)
	}
	f.schema = schema{"anyOf": []any{f.schema, schema{"type": "string"}}}
	return f
}

// goodputSpec is a mapping of metric to longest time, or the same on one line.
func goodputSpec() *form {
	return &form{
		kind: "mapping of metric to duration",
		zero: func(v any) bool { return len(*v.(*[]plan.SLO)) == 0 },
		schema: schema{"anyOf": []any{
			schema{"type": "object", "additionalProperties": durationSchema()},
			schema{"type": "string"},
		}},
		read: func(r *reader, n *yaml.Node, path string, v any) {
			slos := v.(*[]plan.SLO)
			if readText(r, n, path, slos, ParseGoodput) {
				return
			}
			if n.Kind != yaml.MappingNode {
				r.wrong(n, path, "a mapping such as {ttft: 200ms, itl: 30ms}")
				return
			}
			*slos = nil
			limit := duration()
			r.pairs(n, path, func(key string, _, value *yaml.Node) {
				slo := plan.SLO{Metric: plan.SLOMetric(key)}
				sub := document.Join(path, slo.Metric)
				if value = r.enter(value, sub); value != nil {
					limit.read(r, value, sub, &slo.Max)
				}
				*slos = append(*slos, slo)
			})
		},
		put: func(r *reader, steps []string, n *yaml.Node, path string, v any) {
			slos := v.(*[]plan.SLO)
			slo := plan.SLO{Metric: plan.SLOMetric(strings.Join(steps, "."))}
			duration().set(r, nil, n, document.Join(path, slo.Metric), &slo.Max)
			*slos = append(slices.DeleteFunc(*slos, func(s plan.SLO) bool { return s.Metric == slo.Metric }), slo)
		},
		write: func(v any) *yaml.Node {
			m := &yaml.Node{Kind: yaml.MappingNode}
			for _, s := range *v.(*[]plan.SLO) {
				m.Content = append(m.Content, toNode(s.Metric), toNode(s.Max.String()))
			}
			return m
		},
	}
}

// headersSpec is a mapping of header to value.
func headersSpec() *form {
	return &form{
		kind:   "mapping of name to text",
		schema: schema{"type": "object", "additionalProperties": schema{"type": "string"}},
		zero:   func(v any) bool { return len(*v.(*map[string]string)) == 0 },
		read: func(r *reader, n *yaml.Node, path string, v any) {
			if n.Kind != yaml.MappingNode {
				r.wrong(n, path, "a mapping of header to value")
				return
			}
			headers := map[string]string{}
			r.pairs(n, path, func(key string, _, value *yaml.Node) {
				var s string
				sub := document.Join(path, key)
				if value = r.enter(value, sub); value != nil {
					text().read(r, value, sub, &s)
				}
				headers[key] = s
			})
			*v.(*map[string]string) = headers
		},
		put: func(r *reader, steps []string, n *yaml.Node, path string, v any) {
			headers := v.(*map[string]string)
			if *headers == nil {
				*headers = map[string]string{}
			}
			name, value := strings.Join(steps, "."), ""
			text().set(r, nil, n, document.Join(path, name), &value)
			(*headers)[name] = value
		},
		write: func(v any) *yaml.Node {
			m, headers := &yaml.Node{Kind: yaml.MappingNode}, *v.(*map[string]string)
			for _, k := range slices.Sorted(maps.Keys(headers)) {
				m.Content = append(m.Content, toNode(k), toNode(headers[k]))
			}
			return m
		},
	}
}

// ParseGoodput reads objectives: "ttft:200ms,itl:30ms". Names are those of SLOMetrics or short
// ones. Every part that cannot be read is in the error.
func ParseGoodput(s string) ([]plan.SLO, error) {
	var slos []plan.SLO
	var errs []error
	for part := range strings.SplitSeq(s, ",") {
		name, value, ok := strings.Cut(part, ":")
		if !ok {
			errs = append(errs, fmt.Errorf("%s is not an objective: write it as ttft:200ms,itl:30ms", truncate.Quote(part)))
			continue
		}
		limit, err := plan.ParseDuration(value)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", strings.TrimSpace(name), err))
			continue
		}
		slos = append(slos, plan.SLO{Metric: plan.SLOMetric(name), Max: limit})
	}
	if len(errs) == 0 {
		return slos, nil
	}
	// What can be read is not looked at again: its faults are told here too.
	var c checker
	c.goodput(slos)
	for _, f := range c.faults {
		errs = append(errs, fmt.Errorf("%s: %s", strings.TrimPrefix(f.Path, "goodput."), f.Text))
	}
	return slos, errors.Join(errs...)
}
