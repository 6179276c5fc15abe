// Package export writes the requests of a run, or the events of their responses, as a table: one
// row for each, with columns of one type and a unit in their name, for data frames, databases
// and spreadsheets. Rows are written as records are read, so that memory does not grow with
// the run.
package export

import (
	"bufio"
	"fmt"
	"io"

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
	Result  *result.Result // of a search for the capacity, which columns tell of; nil means it was none
	Events  bool           // a row for each event instead of each request
}

// Written says what a table holds.
type Written struct {
	Rows   int64
	Folded int64 // long streams whose later events were not recorded one by one
}

type sink interface {
	row(cells []Cell) error
	close() error
}

// Write writes the table of a run.
func Write(w io.Writer, f Format, r Run) (done Written, err error) {
	opts := metric.OptionsFor(r.Plan)
	opts.Times = metric.TimesOf(r.Facts.Stages)
	v := newView(&r, metric.NewReader(opts))
	columns := requestColumns()
	if r.Events {
		columns = eventColumns()
	}
	buffered := bufio.NewWriterSize(w, 256<<10)
	to := open(buffered, f, columns)
	cells := make([]Cell, len(columns))
	put := func() error {
		for i := range columns {
			cells[i] = columns[i].of(v)
		}
		done.Rows++
		return to.row(cells)
	}
	err = r.Records.Requests(func(rec *record.Record) error {
		v.read(rec)
		if rec.Tail != nil {
			done.Folded++
		}
		if !r.Events {
			return put()
		}
		return v.eachEvent(put)
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
