package planfile

import (
	"reflect"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
)

// Every field of a plan can be set by its path.
func TestAssignAnyField(t *testing.T) {
	var leaves []string
	var walk func(docs []fieldDoc, path string)
	walk = func(docs []fieldDoc, path string) {
		for _, d := range docs {
			sub := strings.TrimPrefix(path+"."+d.name, ".")
			leaves = append(leaves, sub)
			if d.schema["type"] == "array" {
				sub += "[0]"
				leaves = append(leaves, sub)
			}
			walk(d.fields, sub)
		}
	}
	walk(planSpec().fields, "")
	if len(leaves) < 200 {
		t.Fatalf("only %d fields", len(leaves))
	}
	for _, path := range append(leaves, "target.headers.X-Team", "target.body.a.b", "goodput.ttft") {
		d := NewDraft()
		d.Assign(path, "--set", "1")
		for _, f := range d.Faults {
			if strings.Contains(f.Text, "unknown field") || strings.Contains(f.Text, "has no fields") || strings.Contains(f.Text, "has no element") {
				t.Errorf("%s: %v", path, f)
			}
		}
		if !d.Given(path) && !d.Given(strings.Replace(path, "ttft", "time_to_first_token", 1)) {
			t.Errorf("%s is not set", path)
		}
	}
}

func TestAssign(t *testing.T) {
	d := NewDraft()
	for path, text := range map[string]string{
		"data.adapters": "[{name: a, share: 30%}, {name: b, share: 0.7}]", "data.input": "{dist: uniform, min: 1, max: 9}",
		"target.body.a.b": "{c: [1, x]}", "target.headers.X-Team": "[blue]", "stages.0.warmup.drain": "true",
	} {
		d.Assign(path, "--set "+path, text)
	}
	if !reflect.DeepEqual(d.Plan.Data.Adapters, []plan.Adapter{{Name: "a", Share: 0.3}, {Name: "b", Share: 0.7}}) ||
		d.Plan.Data.Input != (plan.Length{Dist: plan.DistUniform, Min: 1, Max: 9}) || !d.Plan.Stages[0].Warmup.Drain ||
		!reflect.DeepEqual(d.Plan.Target.Body, map[string]any{"a": map[string]any{"b": map[string]any{"c": []any{1, "x"}}}}) {
		t.Errorf("%+v", d.Plan)
	}
	const want = "must be text, is a list"
	if len(d.Faults) != 1 || !strings.Contains(d.Faults[0].Text, want) {
		t.Errorf("faults %v, want %s", d.Faults, want)
	}
}
