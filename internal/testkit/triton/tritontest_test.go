package triton

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestModels(t *testing.T) {
	for _, name := range Models() {
		text, err := os.ReadFile(filepath.Join("testdata", "models", name, "config.pbtxt"))
		if err != nil || !strings.Contains(string(text), `name: "`+name+`"`) {
			t.Errorf("the configuration of %s does not name it: %v", name, err)
		}
	}
}
