package rows

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// orca has the columns of OpenOrca.
type orca struct {
	ID       string `parquet:"id"`
	System   string `parquet:"system_prompt,dict"`
	Question string `parquet:"question,optional"`
	Response string `parquet:"response"`
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	list := filepath.Join(dir, "rows.parquet")
	var all []orca
	for i := range 200 {
		all = append(all, orca{ID: "x", System: []string{"", "Be kind."}[i%2], Question: strings.Repeat("q", i+1), Response: "r"})
	}
	if err := parquet.WriteFile(list, all, parquet.MaxRowsPerRowGroup(70)); err != nil {
		t.Fatal(err)
	}
	columns := []string{"system_prompt", "question"}
	want := [][]string{{"", "q"}, {"Be kind.", "qq"}, {"", "qqq"}}
	for _, path := range []string{
		list,
		write("rows.jsonl", `{"question":"q","system_prompt":""}`+"\n"+`{"system_prompt":"Be kind.","question":"qq"}`+"\n"+`{"question":"qqq","extra":1}`),
		write("viewer.json", `{"features":[],"rows":[{"row_idx":0,"row":{"question":"q"}},{"row":{"system_prompt":"Be kind.","question":"qq"}},{"row":{"question":"qqq"}},{"row":{}}]}`),
	} {
		got, err := Read(limitio.Limit{}, path, columns, 3)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if got, err := Read(limitio.Limit{}, list, columns, 0); err != nil || len(got) != 200 || len(got[199][1]) != 200 {
		t.Errorf("all rows: %d, %v", len(got), err)
	}
	for path, want := range map[string]string{
		write("empty", ""):                          "the file is empty",
		write("none.jsonl", "  \n\n\n\n"):           "it has no rows",
		write("bad.jsonl", `{"a":1}`+"\n"+`{"a":`):  "row 2",
		write("text.parquet", "PAR1 not a parquet"): "text.parquet: ",
		filepath.Join(dir, "missing"):               "no such file",
	} {
		if _, err := Read(limitio.Limit{}, path, columns, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if _, err := Read(limitio.Limit{}, list, []string{"article"}, 1); err == nil || !strings.Contains(err.Error(), "none of the columns") {
		t.Errorf("no such column: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"question":"q"}`))
	f.Add([]byte(`{"rows":[{"row":{"question":"q"}}]}`))
	f.Add([]byte("PAR1"))
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		if strings.HasPrefix(string(data), "PAR1") && len(data) > 1<<12 {
			return
		}
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		rows, err := Read(limitio.Limit{}, path, []string{"question"}, 5)
		if err == nil && (len(rows) == 0 || len(rows) > 5) {
			t.Errorf("%d rows", len(rows))
		}
	})
}

// Read reads the rows of a file: of each row the texts of the columns, in the order of
// the columns. A column that a row lacks is "". A most of 0 is no bound.
func Read(limit limitio.Limit, path string, columns []string, most int) ([][]string, error) {
	r, err := Open(limit, path, columns...)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var all [][]string
	for most == 0 || len(all) < most {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		texts := make([]string, len(columns))
		for i, name := range columns {
			texts[i], _ = row[name].(string)
		}
		all = append(all, texts)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: it has no rows", path)
	}
	return all, nil
}
