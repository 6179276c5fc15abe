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
	values  [][]parquet.Value // of some rows, by column
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
	return &rowGroup{w: p.w.BeginRowGroup(), columns: p.columns, values: make([][]parquet.Value, len(p.columns))}
}

func (g *rowGroup) row(cells []Cell) error {
	for i := range cells {
		g.values[i] = append(g.values[i], cells[i].value(g.columns[i].Kind))
	}
	if len(g.values[0]) == rowsAtOnce {
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
	for i, c := range g.w.ColumnWriters() {
		if _, err := c.WriteRowValues(g.values[i]); err != nil {
			return err
		}
		g.values[i] = g.values[i][:0]
	}
	return nil
}

// value is a cell as the library has it.
func (c *Cell) value(kind ColumnType) parquet.Value {
	if !c.set {
		return parquet.NullValue()
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
	return v.Level(0, 1, 0)
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
