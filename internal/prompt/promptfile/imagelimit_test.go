package promptfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/plan"
)

// An image that a line names is bounded by the plan's limit, as the file itself is.
func TestImagesAreBounded(t *testing.T) {
	dir := t.TempDir()
	image := filepath.Join(dir, "a.png")
	data := append([]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte{0}, 1000)...)
	if err := os.WriteFile(image, data, 0o600); err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("{\"text\":\"what is this?\",\"image\":%q}\n", image)
	read := func(string) ([]byte, error) { return []byte(line), nil }
	prompts := filepath.Join(dir, "prompts.jsonl")
	if err := os.WriteFile(prompts, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	d := plan.Data{Source: plan.SourceFile, File: prompts, Limits: plan.Limits{File: 1000}}
	if _, err := New(d, nil, 1, read); err == nil || !strings.Contains(err.Error(), "larger than 1000 bytes: raise limits.file") {
		t.Errorf("%v", err)
	}
	if _, err := picture(image, limitio.Limit{Name: plan.LimitFile, Bytes: 2000}); err != nil {
		t.Error(err)
	}
}
