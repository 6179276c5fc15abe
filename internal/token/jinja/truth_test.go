package jinja

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// now is the time that the renderings of testdata/truth.py took place.
var now = time.Date(2026, 7, 4, 9, 5, 3, 0, time.UTC)

// truth is one rendering by Jinja2.
type truthLine struct {
	Name     string
	Template string
	Messages json.RawMessage
	Vars     json.RawMessage
	Text     *string
	Error    string
}

// render does what the line says.
func (l *truthLine) render() (string, error) {
	t, err := Parse(l.Template)
	if err != nil {
		return "", err
	}
	messages, err := FromJSON(l.Messages)
	if err != nil {
		return "", err
	}
	vars, err := FromJSON(l.Vars)
	if err != nil {
		return "", err
	}
	all := map[string]any{"messages": messages, "tools": nil, "documents": nil, "add_generation_prompt": false}
	for name, value := range vars.(*Dict).All() {
		all[name.(string)] = value
	}
	return t.Render(all, now)
}

// compareTruth renders every line of a file and returns how many there were.
func compareTruth(t *testing.T, path string) int {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, bad := 0, 0
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var l truthLine
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		n++
		got, err := l.render()
		switch {
		case l.Text == nil && err == nil:
			t.Errorf("%s: rendered %q, want the error %s", l.Name, got, l.Error)
		case l.Text != nil && err != nil:
			t.Errorf("%s: %v", l.Name, err)
		case l.Text != nil && got != *l.Text:
			t.Errorf("%s:\n got %q\nwant %q", l.Name, got, *l.Text)
		default:
			continue
		}
		if bad++; bad == 50 {
			t.Fatal("and more")
		}
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestReal compares with Jinja2 on the templates of real models, which are not part
// of the repository. See testdata/truth.py.
func TestReal(t *testing.T) {
	dir := os.Getenv("INFEROMETER_TOKENS")
	if dir == "" {
		t.Skip("INFEROMETER_TOKENS names no folder; make conformance-tokens does")
	}
	if n := compareTruth(t, filepath.Join(dir, "chat-truth.jsonl")); n < 1000 {
		t.Errorf("only %d renderings", n)
	}
}

// TestTruth compares with Jinja2 on templates of our own.
func TestTruth(t *testing.T) {
	if n := compareTruth(t, "testdata/truth.jsonl"); n < 80 {
		t.Errorf("only %d renderings", n)
	}
}
