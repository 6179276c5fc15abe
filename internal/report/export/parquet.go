package export

import (
	"bufio"

	"github.com/parquet-go/parquet-go"
)

// rowsAtOnce is how many rows are handed to the library at a time, and groupRows how many
// make a row group, which is held in memory until it is whole.
const (
	rowsAtOnce = 128
	groupRows  = 50_000
)

// parquetFile is a table of typed columns. Each may be without a value.
type parquetFile struct {
	w       *parquet.GenericWriter[any]
	columns []Column
	rows    []parquet.Row
}

// inOrder is a group whose fields keep their order: the library's own sorts them.
type inOrder struct {
	parquet.Group
	fields []parquet.Field
}

// Fields implements parquet.Node.
func (g *inOrder) Fields() []parquet.Field { return g.fields }

func newParquet(w *bufio.Writer, columns []Column) *parquetFile {
	group, byName := parquet.Group{}, map[string]parquet.Field{}
	for i := range columns {
		group[columns[i].Name] = parquet.Optional(columns[i].node())
	}
	for _, f := range group.Fields() {
		byName[f.Name()] = f
	}
	node := &inOrder{Group: group}
	for i := range columns {
		node.fields = append(node.fields, byName[columns[i].Name])
	}
	return &parquetFile{columns: columns, w: parquet.NewGenericWriter[any](w,
		parquet.NewSchema("inferometer", node), parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(groupRows),
		parquet.CreatedBy("inferometer", "", ""),
	)}
}

func (c *Column) node() parquet.Node {
	switch c.Kind {
	case Number:
		return parquet.Leaf(parquet.DoubleType)
	case Flag:
		return parquet.Leaf(parquet.BooleanType)
	case Moment:
		return parquet.Timestamp(parquet.Microsecond)
	case Text:
		if c.repeats {
			return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
		}
		return parquet.String()
	}
	return parquet.Int(64)
}

func (p *parquetFile) row(cells []Cell) error {
	if len(p.rows) < cap(p.rows) {
		p.rows = p.rows[:len(p.rows)+1]
	} else {
		p.rows = append(p.rows, nil)
	}
	row := p.rows[len(p.rows)-1][:0]
	for i := range cells {
		row = append(row, cells[i].value(p.columns[i].Kind, i))
	}
	p.rows[len(p.rows)-1] = row
	if len(p.rows) == rowsAtOnce {
		return p.flush()
	}
	return nil
}

func (c *Cell) value(kind Kind, column int) parquet.Value {
	if !c.set {
		return parquet.NullValue().Level(0, 0, column)
	}
	v := parquet.Int64Value(c.n)
	switch kind {
	case Number:
		v = parquet.DoubleValue(c.f)
	case Flag:
		v = parquet.BooleanValue(c.n != 0)
	case Text:
		v = parquet.ByteArrayValue([]byte(c.text))
	}
	return v.Level(0, 1, column)
}

func (p *parquetFile) flush() error {
	_, err := p.w.WriteRows(p.rows)
	p.rows = p.rows[:0]
	return err
}

func (p *parquetFile) close() error {
	if err := p.flush(); err != nil {
		return err
	}
	return p.w.Close()
}
