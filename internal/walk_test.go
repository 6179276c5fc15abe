package internal

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// roomWords is how many words explain a directory.
const roomWords = 5

// Each directory that a newcomer sees in `ls internal` and `ls internal/run` is explained in a few words
// near the top of CONTRIBUTING.md, and nothing else is.
func TestRoomsAreExplained(t *testing.T) {
	text, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, layout, _ := strings.Cut(string(text), "\n## Code layout\n")
	layout, _, _ = strings.Cut(layout, "\n## ")
	for _, dir := range []string{"internal", "internal/run"} {
		_, table, found := strings.Cut(layout, "| in `"+dir+"` |")
		if !found {
			t.Fatalf("CONTRIBUTING.md has no table of %s", dir)
		}
		table, _, _ = strings.Cut(table, "\n\n")
		explained := []string{}
		for _, cell := range regexp.MustCompile("\\| `([a-z]+)` \\| ([^|\n]+) ").FindAllStringSubmatch(table, -1) {
			explained = append(explained, cell[1])
			if n := len(strings.Fields(cell[2])); n > roomWords {
				t.Errorf("CONTRIBUTING.md explains %s/%s in %d words, more than %d: %s", dir, cell[1], n, roomWords, cell[2])
			}
		}
		var rooms []string
		entries, err := os.ReadDir(filepath.Join("..", dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.IsDir() && e.Name() != "testdata" {
				rooms = append(rooms, e.Name())
			}
		}
		slices.Sort(explained)
		if !slices.Equal(rooms, explained) {
			t.Errorf("CONTRIBUTING.md explains other directories than %s has:\n%q\n%q", dir, explained, rooms)
		}
	}
}
