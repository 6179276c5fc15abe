package planfile

import (
	"bytes"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/plan"
)

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(JSONSchema(Known{})))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("plan.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("plan.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchemaAccepts(t *testing.T) {
	s := compileSchema(t)
	def := plan.Default()
	for name, p := range map[string]*plan.Plan{"default": &def, "full": fullPlan()} {
		if err := s.Validate(Echo(p)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The short forms that files use, beside the long ones that Encode prints.
	var raw any
	if err := yaml.Unmarshal([]byte(strings.Replace(full, "X-Number: 7", "X-Number: '7'", 1)), &raw); err != nil {
		t.Fatal(err)
	}
	body := raw.(map[string]any)["target"].(map[string]any)["body"].(map[string]any)
	delete(body, "logit_bias") // its key is a number, which JSON has no way to say
	if err := s.Validate(raw); err != nil {
		t.Error(err)
	}
}

func TestSchemaRefuses(t *testing.T) {
	s := compileSchema(t)
	for _, bad := range []string{
		"sede: 1", "target: {endpoint: chatt}", "drain: 5", "drain: soon", "stages: {}", "stages: [{concurency: 1}]",
		"seed: -1", "budgets: {cpu: much}", "data: {salt: pepper}", "target: {api_key: x}",
	} {
		var v any
		if err := yaml.Unmarshal([]byte(bad), &v); err != nil {
			t.Fatal(err)
		}
		if s.Validate(v) == nil {
			t.Errorf("%s: accepted", bad)
		}
	}
}

// TestSchemasAreTheirOwn: the names in one schema change no other, nor what the plan's fields take.
func TestSchemasAreTheirOwn(t *testing.T) {
	before, choices := JSONSchema(Known{}), Choices()("target.protocol")
	if other := JSONSchema(Known{Protocols: []string{"carrier-pigeon"}}); bytes.Equal(other, before) {
		t.Error("a schema does not have the protocols that are known")
	}
	if !bytes.Equal(JSONSchema(Known{}), before) {
		t.Error("a schema has the names of another")
	}
	if got := Choices()("target.protocol"); !slices.Equal(got, choices) {
		t.Errorf("protocols are %q, were %q", got, choices)
	}
}

// TestTablesCoverTheStructs: every field of the Go types is in the tables, and no
// two entries of a table set the same one.
func TestTablesCoverTheStructs(t *testing.T) {
	count := 0
	var structs func(reflect.Type)
	structs = func(ty reflect.Type) {
		if ty.Kind() == reflect.Slice {
			ty = ty.Elem()
		}
		// An SLO stands in a file as a key and its value, a range of addresses as text.
		if ty.Kind() != reflect.Struct || ty == reflect.TypeFor[plan.SLO]() || ty == reflect.TypeFor[netip.Prefix]() {
			return
		}
		for i := range ty.NumField() {
			if ty == reflect.TypeFor[plan.Data]() && ty.Field(i).Name == "Limits" {
				continue // the plan's own
			}
			if !ty.Field(i).Anonymous { // its fields are those of the plan
				count++
			}
			structs(ty.Field(i).Type)
		}
	}
	structs(reflect.TypeFor[plan.Plan]())
	count-- // DrawSeed is the absence of Seed
	listed := 0
	var walk func([]fieldDoc)
	walk = func(docs []fieldDoc) {
		for _, d := range docs {
			listed++
			if d.help == "" || d.kind == "" {
				t.Errorf("%s is not explained", d.name)
			}
			walk(d.fields)
		}
	}
	walk(planSpec().fields)
	if count != listed {
		t.Errorf("the types have %d fields, the tables %d", count, listed)
	}
}
