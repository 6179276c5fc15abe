// Package rows reads columns of text out of the files that datasets come in: Parquet,
// JSON lines, and the JSON that the hub's viewer serves.
package rows

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
)

// Read reads the rows of a file: of each row the texts of the columns, in the order of
// the columns. A column that a row lacks is "". A most of 0 is no bound.
func Read(path string, columns []string, most int) ([][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var magic [4]byte
	if _, err := io.ReadFull(f, magic[:]); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("%s: the file is empty", path)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var rows [][]string
	if string(magic[:]) == "PAR1" {
		rows, err = readParquet(f, info.Size(), columns, most)
	} else if _, err = f.Seek(0, io.SeekStart); err == nil {
		rows, err = readJSON(f, columns, most)
	}
	if err == nil && len(rows) == 0 {
		err = errors.New("it has no rows")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rows, nil
}

// readParquet reads the columns that are asked for, and no others. The library panics
// on some broken files; that is an error of the file, not of the program.
func readParquet(f io.ReaderAt, size int64, columns []string, most int) (rows [][]string, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("the file is broken: %v", broken)
		}
	}()
	file, err := parquet.OpenFile(f, size)
	if err != nil {
		return nil, err
	}
	at := map[int]int{} // column of the file → of the answer
	for i, name := range columns {
		if leaf, ok := file.Schema().Lookup(name); ok {
			at[leaf.ColumnIndex] = i
		}
	}
	if len(at) == 0 {
		return nil, fmt.Errorf("it has none of the columns %q", columns)
	}
	for _, group := range file.RowGroups() {
		if rows, err = readGroup(group, rows, at, len(columns), most); err != nil || most > 0 && len(rows) >= most {
			return rows, err
		}
	}
	return rows, nil
}

func readGroup(group parquet.RowGroup, rows [][]string, at map[int]int, width, most int) ([][]string, error) {
	in := group.Rows()
	defer in.Close()
	buf := make([]parquet.Row, 64)
	for most == 0 || len(rows) < most {
		n, err := in.ReadRows(buf)
		for _, row := range buf[:n] {
			if most > 0 && len(rows) == most {
				break
			}
			texts := make([]string, width)
			for _, v := range row {
				if i, ok := at[v.Column()]; ok && !v.IsNull() {
					texts[i] += string(v.ByteArray())
				}
			}
			rows = append(rows, texts)
		}
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// readJSON reads lines of JSON, or one document with rows: [{row: …}].
func readJSON(r io.Reader, columns []string, most int) ([][]string, error) {
	in := bufio.NewReader(r)
	dec := json.NewDecoder(in)
	var rows [][]string
	for line := 1; most == 0 || len(rows) < most; line++ {
		var object map[string]json.RawMessage
		err := dec.Decode(&object)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", line, err)
		}
		inner, err := innerRows(object)
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", line, err)
		}
		for _, o := range inner {
			if most > 0 && len(rows) == most {
				break
			}
			rows = append(rows, texts(o, columns))
		}
	}
	return rows, nil
}

// innerRows are the rows of a document of the viewer, or the object itself.
func innerRows(object map[string]json.RawMessage) ([]map[string]json.RawMessage, error) {
	list, ok := object["rows"]
	if !ok || !bytes.HasPrefix(bytes.TrimSpace(list), []byte("[")) {
		return []map[string]json.RawMessage{object}, nil
	}
	var doc []struct{ Row map[string]json.RawMessage }
	if err := json.Unmarshal(list, &doc); err != nil {
		return nil, err
	}
	out := make([]map[string]json.RawMessage, len(doc))
	for i := range doc {
		out[i] = doc[i].Row
	}
	return out, nil
}

// texts are the columns of a row that are texts.
func texts(object map[string]json.RawMessage, columns []string) []string {
	out := make([]string, len(columns))
	for i, name := range columns {
		var s string
		if json.Unmarshal(object[name], &s) == nil {
			out[i] = s
		}
	}
	return out
}
