package rows

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/inferometer/inferometer/internal/lib/limitio"
)

// parquetSource reads rows a few at a time.
type parquetSource struct {
	reader *parquet.GenericReader[any]
	buf    []any
	left   []any
	end    error
}

// guard turns a panic of the library, which a damaged file can lead to, into an error.
func guard(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the Parquet file is damaged: %v", r)
	}
}

func openParquet(limit limitio.Limit, f io.ReaderAt, size int64, columns []string) (s source, err error) {
	defer guard(&err)
	file, err := parquet.OpenFile(f, size)
	if err != nil {
		return nil, err
	}
	var has []string
	for _, field := range file.Schema().Fields() {
		has = append(has, field.Name())
	}
	if len(columns) > 0 && !slices.ContainsFunc(columns, func(c string) bool { return slices.Contains(has, c) }) {
		return nil, fmt.Errorf("it has none of the columns %q; it has %q", columns, has)
	}
	for _, group := range file.Metadata().RowGroups {
		for _, c := range group.Columns {
			if limit.Over(c.MetaData.TotalUncompressedSize) {
				return nil, &limitio.Error{What: fmt.Sprintf("a part of the column %s, unpacked,", strings.Join(c.MetaData.PathInSchema, ".")), Limit: limit}
			}
		}
	}
	return &parquetSource{reader: parquet.NewGenericReader[any](file), buf: make([]any, 16)}, nil
}

func (s *parquetSource) next() (row Row, err error) {
	defer guard(&err)
	for len(s.left) == 0 {
		if s.end != nil {
			return nil, s.end
		}
		clear(s.buf)
		n, err := s.reader.Read(s.buf)
		s.left, s.end = s.buf[:n], err
		if n == 0 && err == nil {
			return nil, errors.New("the Parquet file gives no more rows")
		}
	}
	value := s.left[0]
	s.left = s.left[1:]
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("a row is a %T, not a set of columns", value)
	}
	return fields, nil
}

func (s *parquetSource) close() error { return s.reader.Close() }
