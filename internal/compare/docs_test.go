package compare

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestPageIsComplete: docs/compare.md names every word for a difference and every field of a plan
// that decides about a comparison. Fields of the document are listed from its schema.
func TestPageIsComplete(t *testing.T) {
	text, err := os.ReadFile("../../docs/compare.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	names := []string{Schema, Better, Worse, Differs, NoneSeen, NotKnown, Lower, Higher, Neither, ByRequests, ByPrompts, ByRuns, ByPairs,
		ByNothing}
	names = slices.Concat(names, matter, stageMatter)
	for _, name := range names {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("the page does not mention `%s`", name)
		}
	}
}
