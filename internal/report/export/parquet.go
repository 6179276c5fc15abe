package export

import (
	"bufio"
	"sync"

	"github.com/parquet-go/parquet-go"
)

// rowsAtOnce is how many rows are handed to the library at a time.
const rowsAtOnce = 128

// parquetFile is a table of typed columns. Each may be without a value. Its parts are row groups, which are
// encoded side by side.
type parquetFile struct {
	mu      sync.Mutex
	w       *parquet.GenericWriter[any]
	columns []Column
	spare   []*rowGroup // that were added
}

// rowGroup is rows of a parquetFile.
type rowGroup struct {
	w       *parquet.ConcurrentRowGroupWriter
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
		parquet.NewSchema("inferometer", node), parquet.Compression(&parquet.Zstd),
		parquet.CreatedBy("inferometer", "", ""),
	)}
}

// node is the type of a column.
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

func (p *parquetFile) part() part {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := len(p.spare) - 1; last >= 0 {
		g := p.spare[last]
		p.spare = p.spare[:last]
		return g
	}
	return &rowGroup{w: p.w.BeginRowGroup(), columns: p.columns}
}

func (g *rowGroup) row(cells []Cell) error {
	if len(g.rows) < cap(g.rows) {
		g.rows = g.rows[:len(g.rows)+1]
	} else {
		g.rows = append(g.rows, nil)
	}
	row := g.rows[len(g.rows)-1][:0]
	for i := range cells {
		row = append(row, cells[i].value(g.columns[i].Kind, i))
	}
	g.rows[len(g.rows)-1] = row
	if len(g.rows) == rowsAtOnce {
		return g.write()
	}
	return nil
}

func (g *rowGroup) done() error {
	if err := g.write(); err != nil {
		return err
	}
	return g.w.Flush()
}

// write hands the rows to the library.
func (g *rowGroup) write() error {
	_, err := g.w.WriteRows(g.rows)
	g.rows = g.rows[:0]
	return err
}

// value is a cell of a column as the library has it.
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

func (p *parquetFile) add(rows part) error {
	g := rows.(*rowGroup)
	_, err := g.w.Commit()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spare = append(p.spare, g)
	return err
}

func (p *parquetFile) close() error { return p.w.Close() }
