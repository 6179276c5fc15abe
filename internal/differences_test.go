package internal

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mark names a difference: on the pages at the end of its row or item, in the cases that
// show it as a comment of its own.
var mark = regexp.MustCompile(`(?:<!--|//|#) differs: ([a-z0-9, -]+?)(?: -->|$)`)

// differences are the identifiers in a line.
func differences(line string) []string {
	m := mark.FindStringSubmatch(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), "|")))
	if m == nil {
		return nil
	}
	return strings.Split(m[1], ", ")
}

// listed goes through the differences that a page lists: the rows of tables that have a
// column "the original", and the items behind the words "differ on purpose" or "different from
// the original".
func listed(page string, each func(line int, text string)) {
	table, items := false, false
	lines := strings.Split(page, "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "| what | the original |"):
			table = true
		case strings.HasPrefix(line, "|---"):
		case strings.HasPrefix(line, "|") && table:
			each(i+1, line)
		case strings.HasPrefix(line, "- ") && items:
			text := line
			for _, more := range lines[i+1:] {
				if !strings.HasPrefix(more, "  ") {
					break
				}
				text += more
			}
			each(i+1, text)
		default:
			table = false
			if strings.Contains(line, "differ on purpose") || strings.HasPrefix(line, "## ") && strings.Contains(line, "different from the original") {
				items = true
			} else if line != "" && !strings.HasPrefix(line, "  ") {
				items = false
			}
		}
	}
}

// cases are the places that show a difference: tests, scripts of command lines and those
// that run the original beside.
func cases(t *testing.T) map[string][]string {
	out := map[string][]string{}
	for _, root := range []string{".", "../scripts", "../deploy", "../cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path == "differences_test.go" {
				return err
			}
			if !strings.HasSuffix(path, "_test.go") && !slices.Contains([]string{".txtar", ".py", ".sh"}, filepath.Ext(path)) {
				return nil
			}
			text, err := os.ReadFile(path)
			for line := range strings.Lines(string(text)) {
				for _, id := range differences(line) {
					out[id] = append(out[id], strings.TrimPrefix(filepath.Join("internal", path), "internal/../"))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestDifferencesHaveCases holds the pages against the cases: what a page lists as different
// from an original is shown by a case, and what a case shows is listed. docs/differences.md
// says how to mark either.
func TestDifferencesHaveCases(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	shown, on := cases(t), map[string]string{}
	for _, path := range pages {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		listed(string(page), func(line int, text string) {
			ids := differences(text)
			if len(ids) == 0 {
				t.Errorf("%s:%d: no mark at its end: add <!-- differs: ID --> here, and // differs: ID (or # differs: ID) at the case that shows it", path, line)
			}
			for _, id := range ids {
				if on[id] != "" {
					t.Errorf("%s:%d: %s is the mark of %s, too", path, line, id, on[id])
				}
				on[id] = path
				if len(shown[id]) == 0 {
					t.Errorf("%s:%d: no test or conformance script has a line \"// differs: %s\" (or # …) at the case that shows this", path, line, id)
				}
			}
		})
	}
	for _, id := range slices.Sorted(maps.Keys(shown)) {
		if on[id] == "" {
			t.Errorf("%s: no page lists the difference %s: docs/differences.md needs a row that ends in <!-- differs: %s -->", shown[id][0], id, id)
		}
	}
	if len(on) < 90 {
		t.Errorf("only %d differences were found on the pages: are their tables still headed \"| what | the original |\"?", len(on))
	}
}

// TestListed tries the reading of pages.
func TestListed(t *testing.T) {
	const page = "# Differ\n- no\n\n| what | the original | here |\n|---|---|---|\n| a | b | c <!-- differs: x-1 --> |\n| d | e | f |\n\n| what | here |\n|---|---|\n| g | h |\n\n" +
		"Things that differ on purpose:\n\n- one,\n  and more. <!-- differs: y, z -->\n- two\n\nOther words.\n\n- three\n"
	var got []string
	listed(page, func(_ int, text string) { got = append(got, strings.Join(differences(text), "+")) })
	if want := []string{"x-1", "", "y+z", ""}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
