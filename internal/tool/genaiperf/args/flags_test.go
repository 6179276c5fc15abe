package args

import (
	"bytes"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/clidoc"
)

// What the table of flags misspells would be the zero of its type, or nothing.
func TestFlagTable(t *testing.T) {
	strict := yaml.NewDecoder(bytes.NewReader(flagTable))
	strict.KnownFields(true)
	if err := strict.Decode(&map[string]map[string]clidoc.Row{}); err != nil {
		t.Error(err)
	}
	for _, r := range flagRows() {
		if _, ok := kinds()[r.Kind]; !ok {
			t.Errorf("--%s: there is no kind %q", r.Name, r.Kind)
		}
		if _, ok := releasesByWord()[r.Releases]; !ok {
			t.Errorf("--%s: there are no releases %q", r.Name, r.Releases)
		}
	}
}
