package export

import (
	"bufio"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/csvsafe"
)

// textFile is a table of lines.
type textFile struct {
	w       *bufio.Writer
	columns []Column
	head    []byte
	line    lineFormat
}

// lineFormat appends a row.
type lineFormat func(dst []byte, columns []Column, cells []Cell) ([]byte, error)

// lines are rows of a textFile.
type lines struct {
	file *textFile
	text []byte
}

func (f *textFile) part() part { return &lines{file: f} }

func (l *lines) row(cells []Cell) (err error) {
	l.text, err = l.file.line(l.text, l.file.columns, cells)
	return err
}

func (l *lines) done() error { return nil }

func (f *textFile) add(p part) error {
	if err := f.close(); err != nil {
		return err
	}
	_, err := f.w.Write(p.(*lines).text)
	return err
}

// close writes the head, where nothing was written before.
func (f *textFile) close() error {
	_, err := f.w.Write(f.head)
	f.head = nil
	return err
}

// byteOrderMark tells spreadsheets that a file is UTF-8.
const byteOrderMark = "\uFEFF"

// newCSV is a table with commas, which spreadsheets open as they stand: UTF-8 with the mark
// that tells them so, plain decimals, and no text that they would take for a formula.
func newCSV(w *bufio.Writer, columns []Column) *textFile {
	head := []byte(byteOrderMark)
	for i := range columns {
		head = append(separate(head, i), columns[i].Name...)
	}
	return &textFile{w: w, columns: columns, head: append(head, '\n'), line: csvLine}
}

// separate appends what stands in front of a cell.
func separate(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}

func csvLine(dst []byte, columns []Column, cells []Cell) ([]byte, error) {
	for i := range cells {
		dst = separate(dst, i)
		switch cell := &cells[i]; {
		case !cell.set:
		case columns[i].Kind == Text:
			dst = appendCSV(dst, cell.text)
		default:
			dst = appendPlain(dst, columns[i].Kind, cell)
		}
	}
	return append(dst, '\n'), nil
}

func appendCSV(dst []byte, text string) []byte {
	safe := csvsafe.Safe(text)
	if !strings.ContainsAny(safe, `",;'`) && strings.TrimSpace(safe) == safe {
		return append(dst, safe...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(safe, `"`, `""`)...)
	return append(dst, '"')
}

func appendPlain(dst []byte, kind ColumnType, c *Cell) []byte {
	switch kind {
	case Number:
		return strconv.AppendFloat(dst, c.f, 'f', -1, 64)
	case Flag:
		return strconv.AppendBool(dst, c.n != 0)
	case Moment:
		return time.UnixMicro(c.n).UTC().AppendFormat(dst, "2006-01-02T15:04:05.000000Z")
	}
	return strconv.AppendInt(dst, c.n, 10)
}

// newJSONL is a JSON object on a line for each row. Every object has every column.
func newJSONL(w *bufio.Writer, columns []Column) *textFile {
	return &textFile{w: w, columns: columns, line: jsonLine}
}

func jsonLine(dst []byte, columns []Column, cells []Cell) ([]byte, error) {
	dst = append(dst, '{')
	for i := range cells {
		dst = append(append(append(separate(dst, i), '"'), columns[i].Name...), '"', ':')
		switch cell, kind := &cells[i], columns[i].Kind; {
		case !cell.set:
			dst = append(dst, "null"...)
		case kind == Text:
			text, err := json.Marshal(cell.text)
			if err != nil {
				return nil, err
			}
			dst = append(dst, text...)
		case kind == Moment:
			dst = append(appendPlain(append(dst, '"'), kind, cell), '"')
		default:
			dst = appendPlain(dst, kind, cell)
		}
	}
	return append(dst, '}', '\n'), nil
}
