package oteltrace

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/prompt/rows"
)

// reader gives the traces of a file as JSON.
type reader interface {
	next() ([]byte, error)
	close()
}

func open(name string, files limitio.Limit) (reader, error) {
	if strings.EqualFold(filepath.Ext(name), ".parquet") {
		r, err := rows.Open(files, name)
		if err != nil {
			return nil, err
		}
		return &table{r}, nil
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	return &values{file: f, in: json.NewDecoder(files.Reader(f, name))}, nil
}

// values reads one JSON value after the other. A list is its values.
type values struct {
	file   io.Closer
	in     *json.Decoder
	queued []json.RawMessage
}

func (v *values) next() ([]byte, error) {
	for len(v.queued) == 0 {
		var raw json.RawMessage
		if err := v.in.Decode(&raw); err != nil {
			return nil, err
		}
		if !bytes.HasPrefix(raw, []byte("[")) {
			return raw, nil
		}
		if err := json.Unmarshal(raw, &v.queued); err != nil {
			return nil, err
		}
	}
	raw := v.queued[0]
	v.queued = v.queued[1:]
	return raw, nil
}

func (v *values) close() { _ = v.file.Close() }

type table struct{ rows *rows.Reader }

func (t *table) next() ([]byte, error) {
	row, err := t.rows.Next()
	if err != nil {
		return nil, err
	}
	// Spans may be a column of JSON texts.
	if text, ok := row["spans"].(string); ok {
		row["spans"] = json.RawMessage(text)
	}
	return json.Marshal(row)
}

func (t *table) close() { _ = t.rows.Close() }
