package rows

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/lib/limitio"
)

func all(t *testing.T, path string, columns ...string) ([]Row, error) {
	t.Helper()
	r, err := Open(limitio.Limit{}, path, columns...)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var list []Row
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		list = append(list, row)
	}
}

// The files were written by Arrow, as those of the hub are; the second one with the
// names that old versions give to the elements of lists.
func TestNestedColumns(t *testing.T) {
	for _, name := range []string{"arrow.parquet", "arrow-old.parquet"} {
		list, err := all(t, filepath.Join("testdata", name), "conversations")
		if err != nil || len(list) != 3 {
			t.Fatalf("%s: %d rows, %v", name, len(list), err)
		}
		want := []Row{
			{
				"conversations": []any{map[string]any{"from": "human", "value": "What is light?"}, map[string]any{"from": "gpt", "value": "Waves."}},
				"conversation":  []any{[]any{map[string]any{"from": "user", "value": "x"}}, []any{map[string]any{"from": "assistant", "value": "y"}}},
				"images":        []any{map[string]any{"bytes": "\x89PNG\xff", "path": nil}},
			},
			{"conversations": nil, "conversation": []any{}, "images": []any{}},
			{"conversations": []any{map[string]any{"from": "human", "value": nil}}, "conversation": nil, "images": nil},
		}
		for i := range list {
			delete(list[i], "id")
			delete(list[i], "n")
			delete(list[i], "when")
		}
		if diff := cmp.Diff(want, list); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestJSON(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write([]byte(`{"a":["x",{"b":1}]}` + "\n" + `{"c":2}`))
	w.Close()
	want := []Row{{"a": []any{"x", map[string]any{"b": 1.0}}}, {}}
	for name, text := range map[string]string{
		"list.json":    "\ufeff [ {\"a\":[\"x\",{\"b\":1}],\"z\":5} ,\n{\"c\":2}\n]\n",
		"lines.jsonl":  `{"a":["x",{"b":1}]}` + "\r\n\r\n" + `{"c":2}`,
		"lines.gz":     z.String(),
		"data.json":    `{"data":[{"a":["x",{"b":1}]},{}]}`,
		"viewer.json":  `{"rows":[{"row":{"a":["x",{"b":1}]}},{"row":{}}]}`,
		"pretty.json":  "{\n \"a\": [\"x\",\n {\"b\": 1}]\n}\n{\n}\n",
		"nullish.json": `[{"a":["x",{"b":1}]}, null]`,
	} {
		got, err := all(t, write(name, text), "a")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, text := range map[string]string{
		"row 2: unexpected EOF":     `[{"a":1},`,
		"row 1: ":                   `[5]`,
		"row 2: ":                   `{"a":1} {"a"`,
		"row 1: json: cannot":       `{"rows":[1]}`,
		"row 1: json: cannot unm":   `{"data":[1]}`,
		"row 2: invalid character ": `{"a":1} x`,
	} {
		if _, err := all(t, write("bad.json", text), "a"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want %s", text, err, name)
		}
	}
}

// A damaged file is an error, wherever the damage is.
func TestDamagedParquet(t *testing.T) {
	data, err := os.ReadFile("testdata/arrow.parquet")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	for at := 4; at < len(data); at += 37 {
		bad := bytes.Clone(data)
		bad[at] ^= 0x55
		if err := os.WriteFile(path, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		if list, err := all(t, path, "conversations"); err == nil && len(list) > 3 {
			t.Errorf("damage at %d: %d rows", at, len(list))
		}
	}
	if err := os.WriteFile(path, data[:len(data)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := all(t, path, "conversations"); err == nil {
		t.Error("half a file is taken for a whole one")
	}
}
