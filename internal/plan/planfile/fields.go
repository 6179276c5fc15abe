// Package planfile reads plans from files and flags, checks them and prints them.
//
// How a plan stands in a file is said once, in fields.yaml: decoding,
// printing, the JSON Schema and the field list of docs/plan-fields.md come from it.
package planfile

import (
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/plan"
)

//go:embed fields.yaml
var fieldsText []byte

// row is what fields.yaml says of a field.
type row struct {
	Help, Go, Unless, Is, Kind, Most string
	Words                            wordList
	Always, Loose                    bool
}

// UnmarshalYAML reads a row, which may be no more than what the field means.
func (r *row) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		r.Help = n.Value
		return nil
	}
	type mapping row
	return n.Decode((*mapping)(r))
}

type wordList []string

// UnmarshalYAML reads the words, or what the program calls them.
func (w *wordList) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*w = map[string]func() []string{
			"protocols": protocolNames, "endpoints": endpointNames, "sources": sourceNames, "datasets": datasetKinds,
			"distributions": plan.Distributions, "traces": plan.TraceFormats, "themes": plan.ThemeNames,
		}[n.Value]()
		return nil
	}
	return n.Decode((*[]string)(w))
}

// bound is a bound by its name, or by its number.
func bound(name string) float64 {
	if b, ok := map[string]float64{
		"in flight": mostInFlight, "rate": mostRate, "cv": mostCV, "stability": mostStability, "requests": mostRequests, "length": mostLength, "prompts": mostPrompts,
		"ratio": mostRatio, "weight": mostWeight, "message": mostMessage, "string": mostString, "batch": mostBatch,
		"sequences": mostSequences, "retries": mostRetries, "gpus": mostGPUs, "price": mostPrice, "watts": mostWatts,
	}[name]; ok {
		return b
	}
	b, err := strconv.ParseFloat(name, 64)
	if err != nil {
		panic("plan: fields.yaml: there is no bound " + name)
	}
	return b
}

// specs are the forms of a plan and of all that is in it, by their types.
type specs struct {
	rows  map[string]yaml.Node
	forms map[reflect.Type]*form
}

func newSpecs() *specs {
	s := &specs{forms: plainForms()}
	if err := yaml.Unmarshal(fieldsText, &s.rows); err != nil {
		panic("plan: fields.yaml: " + err.Error())
	}
	s.form(reflect.TypeFor[plan.Plan]())
	return s
}

var allSpecs = sync.OnceValue(newSpecs)

// specOf is the form of what v points to.
func specOf(v any) *form { return allSpecs().forms[reflect.TypeOf(v).Elem()] }

func planSpec() *form { return specOf(&plan.Plan{}) }

// unset reports whether what v points to is left out of a printed plan.
func unset(v any) bool { return specOf(v).zero(v) }

// fields checks each field of what v points to by itself.
func (c *checker) fields(path string, v any) { specOf(v).check(c, path, v) }

func (s *specs) form(ty reflect.Type) *form {
	f := s.forms[ty]
	if f == nil {
		if ty.Kind() == reflect.Slice {
			f = list(ty, s.form(ty.Elem()))
		} else {
			f = special(ty, s.object(ty))
		}
		s.forms[ty] = f
	}
	return f
}

// object is the form of a struct.
func (s *specs) object(ty reflect.Type) *form {
	n := s.rows[ty.Name()]
	all := make(members, 0, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		var r row
		name := n.Content[i].Value
		if err := n.Content[i+1].Decode(&r); err != nil {
			panic(fmt.Sprintf("plan: fields.yaml: %s.%s: %v", ty.Name(), name, err))
		}
		field, ok := ty.FieldByNameFunc(func(n string) bool {
			return n == r.Go || r.Go == "" && strings.EqualFold(n, strings.ReplaceAll(name, "_", ""))
		})
		if !ok {
			panic(fmt.Sprintf("plan: fields.yaml: %s has no field for %s", ty.Name(), name))
		}
		m := &member{name: name, help: r.Help, always: r.Always, index: field.Index, form: s.fieldForm(field.Type, &r)}
		if unless, ok := ty.FieldByName(r.Unless); ok {
			m.unless = unless.Index
		}
		all = append(all, m)
	}
	return all.form()
}

// fieldForm is the form of a type, as a field has it.
func (s *specs) fieldForm(ty reflect.Type, r *row) *form {
	f := *s.form(ty)
	switch r.Is {
	case "share":
		f = *share()
	case "yes":
		f = *negated()
	case "limit":
		f.check = notNegative
	case "sound":
		f.check = checkSound
	case "tally":
		f.check = checkTally
	case "texts":
		f = *listOrOne(ty, text())
	case "urls":
		f = *urlsSpec()
	case "conditions":
		f = *conditionsSpec()
	}
	if words := []string(r.Words); words != nil {
		f.kind, f.schema = choices(words), schema{"type": "string", "enum": words}
		if !r.Loose {
			f.check = func(c *checker, path string, v any) {
				if word := *v.(*string); word != "" {
					c.choice(path, word, words)
				}
			}
		}
	}
	if r.Kind != "" {
		f.kind = r.Kind
	}
	if r.Most != "" {
		most := bound(r.Most)
		f.check = func(c *checker, path string, v any) {
			switch v := reflect.ValueOf(v).Elem(); {
			case v.CanFloat():
				c.amount(path, v.Float(), most)
			default:
				c.count(path, v.Int(), int64(most))
			}
		}
	}
	return &f
}

// choices are words for the documentation: `a`, `b` or `c`.
func choices(words []string) string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
	last := len(words) - 1
	if last < 1 {
		return "`" + strings.Join(words, "") + "`"
	}
	return "`" + strings.Join(words[:last], "`, `") + "` or `" + words[last] + "`"
}
