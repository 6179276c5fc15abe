package triton

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/lib/kserve"
)

// shelf is a server whose models are ensembles of the steps named.
type shelf map[string][]string

func (shelf) alive(context.Context) error             { return nil }
func (shelf) index(context.Context) ([]listed, error) { return nil, nil }
func (s shelf) model(_ context.Context, name, _ string) (*kserve.ModelMetadata, *kserve.ModelConfig, error) {
	ensemble := &kserve.ModelEnsembling{}
	for _, step := range s[name] {
		ensemble.Step = append(ensemble.Step, kserve.EnsemblingStep{ModelName: step})
	}
	c := &kserve.ModelConfig{EnsembleScheduling: ensemble}
	return &kserve.ModelMetadata{Name: name}, c, nil
}

func TestNestedEnsembles(t *testing.T) {
	deep := shelf{}
	for i := range 20 {
		deep[strconv.Itoa(i)] = []string{strconv.Itoa(i + 1)}
	}
	for name, c := range map[string]struct {
		models shelf
		first  string
		all    []string
		fault  string
	}{
		"alone":        {shelf{}, "a", []string{"a"}, ""},
		"nested":       {shelf{"a": {"b", "c"}, "b": {"c", "d"}}, "a", []string{"a", "b", "c", "d"}, ""},
		"itself":       {shelf{"a": {"a"}}, "a", nil, "ensemble a is a step of itself"},
		"in a circle":  {shelf{"a": {"b"}, "b": {"c"}, "c": {"a"}}, "a", nil, "step b of ensemble a: step c of ensemble b: ensemble a is a step of itself"},
		"without name": {shelf{"a": {""}}, "a", nil, "a step of ensemble a has no model name"},
		"too deep":     {deep, "0", nil, "ensembles are nested more than 16 deep, down to 16"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := describeModel(t.Context(), c.models, c.first, "")
			if c.fault != "" {
				if err == nil || !strings.HasSuffix(err.Error(), c.fault) {
					t.Errorf("%v, want %q", err, c.fault)
				}
				return
			}
			all := slices.Compact(slices.Sorted(slices.Values(m.All())))
			if err != nil || !slices.Equal(all, c.all) {
				t.Errorf("%v, %v; want %v", all, err, c.all)
			}
		})
	}
}

// Requests form sequences where any model keeps state over them, at any depth.
func TestSequencesOfParts(t *testing.T) {
	stateful := ModelInfo{Sequence: true}
	for name, c := range map[string]struct {
		endpoint *Endpoint
		want     bool
	}{
		"none":      {&Endpoint{model: ModelInfo{Composing: []ModelInfo{{}}}, behind: []ModelInfo{{}}}, false},
		"the model": {&Endpoint{model: stateful}, true},
		"a step":    {&Endpoint{model: ModelInfo{Composing: []ModelInfo{{}, {Composing: []ModelInfo{stateful}}}}}, true},
		"a model that is called": {
			&Endpoint{behind: []ModelInfo{{}, stateful}}, true,
		},
	} {
		if got := c.endpoint.sequences(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
