// Package rows reads files of data sets: Parquet, JSON lines, lists in JSON, and the hub's viewer's
// JSON.
package rows

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/inferometer/inferometer/internal/lib/limitio"
)

// Row is a row: values by column, as in encoding/json. Bytes of a Parquet file are strings.
type Row map[string]any

// Reader reads the rows of a file in turn. It holds a part of the file in memory.
type Reader struct {
	path   string
	file   *os.File
	source source
	read   int
}

// source gives rows; io.EOF ends them.
type source interface {
	next() (Row, error)
	close() error
}

// Open opens a file, which says itself what it is. columns are those that are wanted;
// a row may have others, too. The limit is that of a row, or of a document of rows.
func Open(limit limitio.Limit, path string, columns ...string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := &Reader{path: path, file: f}
	if r.source, err = open(limit, f, columns); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func open(limit limitio.Limit, f *os.File, columns []string) (source, error) {
	var magic [4]byte
	n, err := io.ReadFull(f, magic[:])
	if n == 0 {
		return nil, errors.New("the file is empty")
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if string(magic[:]) == "PAR1" {
		return openParquet(limit, f, info.Size(), columns)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(bufio.NewReader(f))
		if err != nil {
			return nil, err
		}
		return openJSON(limit, z, columns)
	}
	return openJSON(limit, f, columns)
}

// Next is the next row; io.EOF: there is none.
func (r *Reader) Next() (Row, error) {
	row, err := r.source.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: row %d: %w", r.path, r.read+1, err)
	}
	r.read++
	return row, err
}

func (r *Reader) Close() error { return errors.Join(r.source.close(), r.file.Close()) }

// jsonSource reads objects: in turn, in a list, or in a document with rows: [{row: …}] or data:
// […].
type jsonSource struct {
	dec     *json.Decoder
	meter   *limitio.ByteCounter
	columns []string
	list    bool  // within a list
	inner   []Row // rows of a document that are left
}

func openJSON(limit limitio.Limit, r io.Reader, columns []string) (source, error) {
	meter := limit.Meter(r, "a row")
	in := bufio.NewReaderSize(meter, 1<<16)
	if mark, err := in.Peek(3); err == nil && bytes.Equal(mark, []byte("\ufeff")) {
		in.Discard(3)
	}
	s := &jsonSource{columns: columns, meter: meter}
	for {
		c, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			continue
		}
		s.list = c == '['
		in.UnreadByte()
		break
	}
	s.dec = json.NewDecoder(in)
	if s.list {
		if _, err := s.dec.Token(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *jsonSource) close() error { return nil }

func (s *jsonSource) next() (Row, error) {
	for len(s.inner) == 0 {
		if s.list && !s.dec.More() {
			if _, err := s.dec.Token(); err != nil { // the end of the list, or of a file that was cut off
				return nil, unexpected(err)
			}
			return nil, io.EOF
		}
		var object map[string]json.RawMessage
		s.meter.Next()
		err := s.dec.Decode(&object)
		if errors.Is(err, io.EOF) && !s.list {
			return nil, io.EOF
		}
		if err != nil {
			return nil, unexpected(err)
		}
		if err := s.addObject(object); err != nil {
			return nil, err
		}
	}
	row := s.inner[0]
	s.inner = s.inner[1:]
	return row, nil
}

// unexpected tells the end of a file in the middle from its end.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// addObject takes the row, or the rows, of an object.
func (s *jsonSource) addObject(object map[string]json.RawMessage) error {
	if list := object["rows"]; bytes.HasPrefix(bytes.TrimSpace(list), []byte("[")) && !slices.Contains(s.columns, "rows") {
		var doc []struct{ Row map[string]json.RawMessage }
		if err := json.Unmarshal(list, &doc); err != nil {
			return err
		}
		for i := range doc {
			s.inner = append(s.inner, s.row(doc[i].Row))
		}
		return nil
	}
	if list := object["data"]; bytes.HasPrefix(bytes.TrimSpace(list), []byte("[")) && !slices.Contains(s.columns, "data") {
		var doc []map[string]json.RawMessage
		if err := json.Unmarshal(list, &doc); err != nil {
			return err
		}
		for i := range doc {
			s.inner = append(s.inner, s.row(doc[i]))
		}
		return nil
	}
	s.inner = append(s.inner, s.row(object))
	return nil
}

// row reads the columns that are wanted.
func (s *jsonSource) row(object map[string]json.RawMessage) Row {
	row := make(Row, len(s.columns))
	for _, name := range s.columns {
		var value any
		if raw, ok := object[name]; ok && json.Unmarshal(raw, &value) == nil {
			row[name] = value
		}
	}
	return row
}
