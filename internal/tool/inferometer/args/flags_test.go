package args

import (
	"bytes"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/clidoc"
)

// What the table of flags misspells would be nothing, and so would the flags of a group that the
// commands do not name.
func TestFlagTable(t *testing.T) {
	strict := yaml.NewDecoder(bytes.NewReader(flagTable))
	strict.KnownFields(true)
	if err := strict.Decode(&map[string]map[string]clidoc.Row{}); err != nil {
		t.Error(err)
	}
	for _, g := range runGroups() {
		if len(g.options) == 0 {
			t.Errorf("group %q has no flags", g.title)
		}
	}
}
