// Package export writes the requests of a run, or the events of their responses, as a table: one
// row for each, with columns of one type and a unit in their name, for data frames, databases
// and spreadsheets. Rows are written as records are read, on all cores, so that memory does not
// grow with the run.
package export

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/result/build"
)

// Format is a kind of file.
type Format string

// The formats.
const (
	Parquet Format = "parquet"
	CSV     Format = "csv"
	JSONL   Format = "jsonl"
)

// Run is what is exported.
type Run struct {
	Plan    *plan.Plan // as it was run: its levels are stages
	Facts   *build.Inputs
	Records record.File
	Result  *result.Result // of a search for the capacity, which columns tell of; nil: it was none
	Events  bool           // a row for each event instead of each request
}

// Written says what a table holds.
type Written struct {
	Rows   int64
	Folded int64 // long streams whose later events were not recorded one by one
}

type sink interface {
	// part begins one. Its rows may be added while other parts are begun and their rows are added.
	part() part
	// add appends a part to the table.
	add(part) error
	close() error
}

// part takes some rows of a table, one after the other.
type part interface {
	row(cells []Cell) error
	done() error // there are no more
}

// A part is made of so many bytes of records, which is some ten thousand rows.
const (
	requestBytes = 8 << 20
	eventBytes   = 1 << 20
)

// Write writes the table of a run.
func Write(w io.Writer, f Format, r Run) (done Written, err error) {
	columns, bytes := requestColumns(), requestBytes
	if r.Events {
		columns, bytes = eventColumns(), eventBytes
	}
	buffered := bufio.NewWriterSize(w, 256<<10)
	to := open(buffered, f, columns)
	type rows struct {
		part
		Written
	}
	err = record.InParts(r.Records, bytes, func(requests iter.Seq[*record.Record]) (rows, error) {
		made := rows{part: to.part()}
		var err error
		if made.Written, err = r.fill(made.part, columns, requests); err == nil {
			err = made.done()
		}
		return made, err
	}, func(made rows) error {
		done.Rows, done.Folded = done.Rows+made.Rows, done.Folded+made.Folded
		if made.Rows == 0 {
			return nil
		}
		return to.add(made.part)
	})
	if err == nil {
		err = to.close()
	}
	if err == nil {
		err = buffered.Flush()
	}
	if err != nil {
		return done, fmt.Errorf("exporting %s: %w", r.Records.Path, err)
	}
	return done, nil
}

// fill adds the rows of some requests to a part.
func (r *Run) fill(to part, columns []Column, requests iter.Seq[*record.Record]) (done Written, err error) {
	opts := metric.OptionsFor(r.Plan)
	opts.Times = metric.TimesOf(r.Facts.Stages)
	v := newView(r, metric.NewReader(opts))
	cells := make([]Cell, len(columns))
	put := func() error {
		for i := range columns {
			cells[i] = columns[i].of(v)
		}
		done.Rows++
		return to.row(cells)
	}
	for rec := range requests {
		v.read(rec)
		if rec.Tail != nil {
			done.Folded++
		}
		if r.Events {
			err = v.eachEvent(put)
		} else {
			err = put()
		}
		if err != nil {
			break
		}
	}
	return done, err
}

func open(w *bufio.Writer, f Format, columns []Column) sink {
	switch f {
	case Parquet:
		return newParquet(w, columns)
	case CSV:
		return newCSV(w, columns)
	default:
		return newJSONL(w, columns)
	}
}

// ColumnType is the type of a column.
type ColumnType uint8

// The kinds of columns.
const (
	Whole  ColumnType = iota // integers
	Number                   // fractions
	Text
	Flag   // true or false
	Moment // points in time, UTC
)

// Column is a column of a table.
type Column struct {
	Name string
	Kind ColumnType
	Help string
	// repeats: few different texts are to be expected in it.
	repeats bool
	of      func(*view) Cell
}

// Cell is a value of a table; the zero Cell is none.
type Cell struct {
	set  bool
	n    int64 // an integer; of a time, microseconds since 1970; of a flag, 1 or 0
	f    float64
	text string
}

func integer(n int64) Cell { return Cell{set: true, n: n} }

func fraction(f float64) Cell { return Cell{set: !math.IsNaN(f) && !math.IsInf(f, 0), f: f} }

func words(s string) Cell { return Cell{set: s != "", text: strings.ToValidUTF8(s, "\uFFFD")} }

func yesNo(on bool) Cell {
	if on {
		return integer(1)
	}
	return integer(0)
}

// seconds is a time of the run in seconds, where it was reached.
func seconds(t time.Duration) Cell {
	if t == record.Never {
		return Cell{}
	}
	return fraction(float64(t) / float64(time.Second))
}

func millis(d time.Duration) Cell { return fraction(float64(d) / float64(time.Millisecond)) }

func where(ok bool, c Cell) Cell {
	c.set = c.set && ok
	return c
}
