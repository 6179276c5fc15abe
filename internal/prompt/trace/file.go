package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/replay"
	"github.com/inferometer/inferometer/internal/prompt/rows"
)

// file is a trace as it lies there, of which no more than the beginning has been read.
type file struct {
	path    string
	data    plan.Data // whose limits it is read by
	dir     bool
	chunks  bool // it is a directory of ServeGen's
	parquet bool
	lines   [][]byte        // the first
	fields  map[string]bool // of its first record, and of objects in it
}

const (
	firstBytes = 1 << 20
	firstLines = 20 // tell the layout
)

func openFile(d plan.Data) (*file, error) {
	f := &file{path: d.File, data: d}
	info, err := os.Stat(d.File)
	if err != nil {
		return nil, err
	}
	sample := d.File
	if f.dir = info.IsDir(); f.dir {
		chunks, _ := filepath.Glob(filepath.Join(d.File, "chunk-*-trace.csv"))
		if f.chunks = len(chunks) > 0; f.chunks {
			return f, nil
		}
		all, _ := filepath.Glob(filepath.Join(d.File, "*.json*"))
		if len(all) == 0 {
			return nil, fmt.Errorf("%s has no files that end in .json or .jsonl, and no chunk-*-trace.csv", d.File)
		}
		sample = all[0]
	}
	return f, f.begin(sample)
}

// begin reads the beginning of a file.
func (f *file) begin(path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	head := make([]byte, firstBytes)
	n, err := io.ReadFull(in, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("PAR1")):
		f.parquet = true
		return f.firstRow(path)
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		z, err := gzip.NewReader(bytes.NewReader(head))
		if err != nil {
			return err
		}
		unzipped := make([]byte, firstBytes)
		n, _ = io.ReadFull(z, unzipped) // the end of head may be in the middle
		head = unzipped[:n]
	}
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	for line := range bytes.Lines(head) {
		whole := bytes.HasSuffix(line, []byte("\n")) || len(head) < firstBytes
		if line = bytes.TrimSpace(line); len(line) > 0 && (whole || len(f.lines) == 0) {
			f.lines = append(f.lines, line)
		}
		if len(f.lines) == firstLines {
			break
		}
	}
	if !f.table() {
		f.fields = fieldsOf(head)
	}
	return nil
}

// firstRow has the columns of a Parquet file.
func (f *file) firstRow(path string) error {
	r, err := rows.Open(prompt.Files(f.data), path)
	if err != nil {
		return err
	}
	defer r.Close()
	row, err := r.Next()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(given(row))
	if err == nil {
		f.fields = fieldsOf(raw)
	}
	return err
}

// table reports whether it is a table, whose first line names its columns.
func (f *file) table() bool {
	return !f.parquet && len(f.lines) > 0 && !strings.ContainsRune("{[", rune(f.lines[0][0]))
}

// fieldsOf are the names of the fields of the first object in a text that may be cut off, and those of the first objects
// in them: "turns" and "turns.text".
func fieldsOf(text []byte) map[string]bool {
	dec := json.NewDecoder(bytes.NewReader(text))
	found := map[string]bool{}
	var path []string // of the objects that are open; a list has no name
	var keyed []bool  // an object, not a list
	key := ""         // the last that was read and has no value yet
	for {
		t, err := dec.Token()
		if err != nil {
			return found
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			if key != "" {
				path = append(path, key)
			} else {
				path = append(path, "")
			}
			keyed, key = append(keyed, t == json.Delim('{')), ""
			continue
		case json.Delim('}'), json.Delim(']'):
			path, keyed = path[:len(path)-1], keyed[:len(keyed)-1]
			if len(keyed) == 0 || !contains(keyed) {
				return found
			}
			continue
		}
		name, text := t.(string)
		if n := len(keyed); n > 0 && keyed[n-1] && key == "" && text {
			key = name
			full := strings.Join(append(nonEmpty(path), name), ".")
			found[full] = true
			continue
		}
		key = ""
	}
}

func contains(list []bool) bool {
	for _, b := range list {
		if b {
			return true
		}
	}
	return false
}

func nonEmpty(list []string) []string {
	out := make([]string, 0, len(list)+1)
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// given is a row without what it has no value for. Columns may hold JSON as a text.
func given(row rows.Row) rows.Row {
	for name, value := range row {
		if value = present(value); value == nil {
			delete(row, name)
			continue
		}
		if text, ok := value.(string); ok && len(text) > 1 && (text[0] == '[' || text[0] == '{') && json.Valid([]byte(text)) {
			value = json.RawMessage(text)
		}
		row[name] = value
	}
	return row
}

// present is a value of a Parquet file without fields that are null, as those are that another row has.
func present(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, one := range v {
			if one = present(one); one == nil {
				delete(v, name)
			} else {
				v[name] = one
			}
		}
	case []any:
		for i := range v {
			v[i] = present(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	}
	return value
}

// each reads the records of a file, one after the other. What take finds wrong is told with the line.
func (f *file) each(take func(raw []byte, line int) error) error {
	if f.parquet {
		return f.eachRow(take)
	}
	limit := prompt.Files(f.data)
	in, err := limit.Open(f.path)
	if err != nil {
		return err
	}
	defer in.Close()
	var text io.Reader = bufio.NewReaderSize(in, 1<<20)
	if magic, _ := text.(*bufio.Reader).Peek(2); string(magic) == "\x1f\x8b" {
		if text, err = gzip.NewReader(text); err != nil {
			return err
		}
	}
	s := replay.NewScanner(limit.Reader(text, f.path))
	for {
		v, err := s.Next()
		var at *replay.LineError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &at):
			return f.fault(at.Line, at.Err)
		case err != nil:
			return err
		}
		line := v.Line(0)
		if err := take(v.Raw, line); err != nil {
			if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
				line = v.Line(syntax.Offset - 1)
			}
			return f.fault(line, err)
		}
	}
}

func (f *file) eachRow(take func(raw []byte, line int) error) error {
	r, err := rows.Open(prompt.Files(f.data), f.path)
	if err != nil {
		return err
	}
	defer r.Close()
	for n := 1; ; n++ {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var raw []byte
		if err == nil {
			raw, err = json.Marshal(given(row))
		}
		if err != nil {
			return err
		}
		if err := take(raw, n); err != nil {
			return f.fault(n, err)
		}
	}
}

// lineFault is a fault of a line of a file that is not the one where it was found.
type lineFault struct {
	line int
	err  error
}

func (e *lineFault) Error() string { return e.err.Error() }

// fault is what is wrong with a line.
func (f *file) fault(line int, err error) error {
	if at := new(lineFault); errors.As(err, &at) {
		line, err = at.line, at.err
	}
	return plan.Faults{{Where: fmt.Sprintf("%s:%d", f.path, line), Text: err.Error()}}
}
