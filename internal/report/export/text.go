package export

import (
	"bufio"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/csvsafe"
)

// csvFile is a table with commas, which spreadsheets open as they stand: UTF-8 with the mark
// that tells them so, plain decimals, and no text that they would take for a formula.
type csvFile struct {
	w       *bufio.Writer
	columns []Column
	line    []byte
}

// byteOrderMark tells spreadsheets that a file is UTF-8.
const byteOrderMark = "\uFEFF"

func newCSV(w *bufio.Writer, columns []Column) *csvFile {
	c := &csvFile{w: w, columns: columns}
	c.line = append(c.line, byteOrderMark...)
	for i := range columns {
		c.separate(i)
		c.line = append(c.line, columns[i].Name...)
	}
	c.line = append(c.line, '\n')
	return c
}

func (c *csvFile) separate(i int) {
	if i > 0 {
		c.line = append(c.line, ',')
	}
}

func (c *csvFile) row(cells []Cell) error {
	for i := range cells {
		c.separate(i)
		switch cell := &cells[i]; {
		case !cell.set:
		case c.columns[i].Kind == Text:
			c.line = appendCSV(c.line, cell.text)
		default:
			c.line = appendPlain(c.line, c.columns[i].Kind, cell)
		}
	}
	c.line = append(c.line, '\n')
	return c.close()
}

// close writes what has been gathered: of a table without rows, its head.
func (c *csvFile) close() error {
	_, err := c.w.Write(c.line)
	c.line = c.line[:0]
	return err
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

func appendPlain(dst []byte, kind Kind, c *Cell) []byte {
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

// jsonFile is a JSON object on a line for each row. Every object has every column.
type jsonFile struct {
	w       *bufio.Writer
	columns []Column
	line    []byte
}

func newJSONL(w *bufio.Writer, columns []Column) *jsonFile { return &jsonFile{w: w, columns: columns} }

func (j *jsonFile) row(cells []Cell) error {
	j.line = append(j.line[:0], '{')
	for i := range cells {
		if i > 0 {
			j.line = append(j.line, ',')
		}
		j.line = append(append(append(j.line, '"'), j.columns[i].Name...), '"', ':')
		switch cell, kind := &cells[i], j.columns[i].Kind; {
		case !cell.set:
			j.line = append(j.line, "null"...)
		case kind == Text:
			text, err := json.Marshal(cell.text)
			if err != nil {
				return err
			}
			j.line = append(j.line, text...)
		case kind == Moment:
			j.line = append(appendPlain(append(j.line, '"'), kind, cell), '"')
		default:
			j.line = appendPlain(j.line, kind, cell)
		}
	}
	j.line = append(j.line, '}', '\n')
	_, err := j.w.Write(j.line)
	return err
}

func (j *jsonFile) close() error { return nil }
