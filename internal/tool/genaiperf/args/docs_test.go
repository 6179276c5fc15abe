package args

import (
	"os"
	"strings"
	"testing"
)

// Every command line of the page can be read.
func TestCommandLinesOfThePage(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/genai-perf.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, "genai-perf ")
		if !ok {
			continue
		}
		found++
		if _, err := (Parser{Analyzer: analyzer}).Parse(strings.Fields(rest)); err != nil {
			t.Errorf("%s%v", line, err)
		}
	}
	if found < 8 {
		t.Errorf("only %d command lines found", found)
	}
}
