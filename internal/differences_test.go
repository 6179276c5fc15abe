package internal

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// rule is a difference between an original and ours, as docs/differences.json has it. The
// page is made from it, and scripts/fuzz explains with its patterns what it finds.
type rule struct {
	ID       string    `json:"id"`
	Tool     string    `json:"tool"`
	Group    string    `json:"group"`
	What     string    `json:"what"`
	Original string    `json:"original"`
	Here     string    `json:"here"`
	Faithful string    `json:"faithful"`
	Patterns []pattern `json:"patterns"`
}

// pattern says which differences of a run a rule explains: regular expressions of the place, of
// the command line with the server's features, and of what stands on either side.
type pattern struct {
	Place    string `json:"place"`
	When     string `json:"when"`
	Unless   string `json:"unless"`
	Original string `json:"original"`
	Ours     string `json:"ours"`
}

func rules(t *testing.T) []rule {
	t.Helper()
	text, err := os.ReadFile("../docs/differences.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Rules []rule `json:"rules"`
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		t.Fatalf("docs/differences.json: %v", err)
	}
	return file.Rules
}

// faithfully is what --faithful changes of what a rule says of ours.
func faithfully(r rule) string {
	switch r.Faithful {
	case "as here", r.Here:
		return ""
	case "as the original":
		return " †"
	}
	return " (`--faithful`: " + r.Faithful + ")"
}

// ruleTables are the rules of a tool as the page shows them, a table for each group. Groups are in
// the order of their first rules.
func ruleTables(all []rule, tool string) string {
	var groups []string
	rows := map[string]string{}
	for _, r := range all {
		if r.Tool != tool {
			continue
		}
		if rows[r.Group] == "" {
			groups = append(groups, r.Group)
		}
		rows[r.Group] += fmt.Sprintf("| %s | %s | %s |\n", r.What, r.Original, r.Here+faithfully(r))
	}
	var b strings.Builder
	for _, group := range groups {
		fmt.Fprintf(&b, "\n**%s**\n\n| what | the original | here |\n|---|---|---|\n%s", group, rows[group])
	}
	return b.String() + "\n"
}

// TestDifferencesPage holds docs/differences.md against the rules that it is made from.
func TestDifferencesPage(t *testing.T) {
	const file, end = "../docs/differences.md", "<!-- end of rules -->"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all, want := rules(t), string(page)
	for _, tool := range []string{"genai-perf", "perf_analyzer", "llm_perf", "inference-perf", "vllm bench serve"} {
		begin := "<!-- rules of " + tool + ": `go test ./internal -run TestDifferences -update` writes them from differences.json -->\n"
		before, rest, ok1 := strings.Cut(want, begin)
		_, after, ok2 := strings.Cut(rest, end)
		if !ok1 || !ok2 {
			t.Fatalf("%s has no place for the rules of %s: the lines %q and %q", file, tool, begin, end)
		}
		want = before + begin + ruleTables(all, tool) + end + after
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(page) != want {
		t.Errorf("%s is not what differences.json says: go test ./internal -run TestDifferences -update writes it anew", file)
	}
}

// TestDifferencesHaveCases holds the lists against the cases: what is listed as different
// from an original is shown by a case or found by the fuzzer, and what a case shows is listed.
// docs/differences.md says how to mark either.
func TestDifferencesHaveCases(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	shown, on := cases(t), map[string]string{}
	for _, r := range rules(t) {
		checkRule(t, r)
		if on[r.ID] != "" {
			t.Errorf("docs/differences.json has two rules %s", r.ID)
		}
		on[r.ID] = "differences.json"
		if len(shown[r.ID]) == 0 && len(r.Patterns) == 0 {
			t.Errorf("docs/differences.json: %s: no test or conformance script has a line \"// differs: %s\" (or # …) at the case that shows this, and no pattern finds it", r.ID, r.ID)
		}
	}
	for _, path := range pages {
		if filepath.Base(path) != "differences.md" {
			checkPage(t, path, shown, on)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(shown)) {
		if on[id] == "" {
			t.Errorf("%s: nothing lists the difference %s: docs/differences.json needs a rule with that id", shown[id][0], id)
		}
	}
	if len(on) < 90 {
		t.Errorf("only %d differences were found", len(on))
	}
}

// checkRule: a rule says all that the page shows, in one line, and its patterns can be read.
func checkRule(t *testing.T, r rule) {
	t.Helper()
	for _, text := range []string{r.ID, r.Tool, r.Group, r.What, r.Original, r.Here, r.Faithful} {
		if text == "" || strings.ContainsAny(text, "\n") {
			t.Errorf("docs/differences.json: %s: every text is one line, and none is empty: %q", r.ID, text)
		}
	}
	for _, p := range r.Patterns {
		for _, text := range []string{p.Place, p.When, p.Unless, p.Original, p.Ours} {
			if _, err := regexp.Compile(text); err != nil {
				t.Errorf("docs/differences.json: %s: %v", r.ID, err)
			}
		}
		if p.Place == "" {
			t.Errorf("docs/differences.json: %s: a pattern without a place", r.ID)
		}
	}
}

// checkPage goes through the differences that another page lists.
func checkPage(t *testing.T, path string, shown map[string][]string, on map[string]string) {
	t.Helper()
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
