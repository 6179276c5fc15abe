package rundir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/inferometer/inferometer/internal/lib/aside"
	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/lib/errlist"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/record"
	csvreport "github.com/inferometer/inferometer/internal/report/csvreport"
	jsonreport "github.com/inferometer/inferometer/internal/report/jsonreport"
	"github.com/inferometer/inferometer/internal/result"
)

// Writer writes the directory of a run. A nil one keeps nothing.
type Writer struct {
	dir     string
	passing bool // it is needed until the run ends, and no longer
	ended   bool // the record file is whole
	file    io.WriteCloser
	writer  *record.Writer

	mu    sync.Mutex
	err   error       // the first thing that could not be written
	alarm func(error) // is told of it while the run goes on. Optional.
}

// Options say how a run's directory is made.
type Options struct {
	Replace bool // an earlier run in it is removed
	// Temporary: the records are needed until the run ends also where the plan names no directory.
	Temporary bool
	// Alarm is told of the first thing that cannot be written, while the run goes on. Optional.
	Alarm func(error)
	// Create makes the record file. Optional: on disk.
	Create func(name string) (io.WriteCloser, error)
}

// Create makes the directory of a plan and starts its record file; nil means nothing is kept. A
// directory that holds anything is refused, so that no run overwrites another unless it is meant to.
func Create(p *plan.Plan, h record.Header, opt Options) (*Writer, error) {
	dir := p.Output.Dir
	if dir == "" && !opt.Temporary {
		return nil, nil
	}
	passing := dir == ""
	if passing {
		var err error
		if dir, err = os.MkdirTemp("", "inferometer-records-*"); err != nil {
			return nil, fmt.Errorf("creating the record file: %w", err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the output directory: %w", err)
	}
	if err := Check(dir, opt.Replace); err != nil {
		return nil, err
	}
	for _, name := range Files() { // there are none unless they may be replaced
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("removing an earlier run: %w", err)
		}
	}
	text, err := planfile.Encode(p)
	if err != nil {
		return nil, err
	}
	if err := atomicfile.Bytes(filepath.Join(dir, PlanFile), text); err != nil {
		return nil, fmt.Errorf("writing the plan: %w", err)
	}
	o := &Writer{dir: dir, passing: passing, alarm: opt.Alarm}
	create := opt.Create
	if create == nil {
		create = func(name string) (io.WriteCloser, error) { return record.Create(name) }
	}
	if o.file, err = create(filepath.Join(dir, RecordsFile)); err != nil {
		return nil, fmt.Errorf("starting the record file: %w", err)
	}
	o.writer, err = record.NewWriter(o.file, h)
	return o, err
}

// Path is the directory that it writes.
func (o *Writer) Path() string { return o.dir }

// Records writes to the record file; nil means nothing is kept.
func (o *Writer) Records() *record.Writer {
	if o == nil {
		return nil
	}
	return o.writer
}

// AddError remembers an error of writing: it is told of at once, and at the end.
func (o *Writer) AddError(err error) {
	if o == nil || err == nil {
		return
	}
	o.mu.Lock()
	first, alarm := o.err == nil, o.alarm
	if first {
		o.err = errlist.Distinct(err)
	}
	o.mu.Unlock()
	if first && alarm != nil {
		alarm(o.err)
	}
}

// Close makes the record file whole.
func (o *Writer) Close() {
	if o == nil || o.ended {
		return
	}
	o.ended = true
	o.mu.Lock()
	o.alarm = nil // from now on it is told at the end, which is near
	o.mu.Unlock()
	o.AddError(o.writer.Close())
	o.AddError(o.file.Close())
}

// RecordsPath is where the records are; empty: nowhere.
func (o *Writer) RecordsPath() string {
	if o == nil {
		return ""
	}
	return filepath.Join(o.dir, RecordsFile)
}

// Remove takes away what was needed for the run alone.
func (o *Writer) Remove() {
	if o != nil && o.passing {
		_ = os.RemoveAll(o.dir)
	}
}

// Finish ends the record file and writes the reports beside it.
func (o *Writer) Finish(res *result.Result) error {
	if o == nil {
		return nil
	}
	o.Close()
	if o.passing {
		return o.err
	}
	// A disk full for the records may be so for the reports: each missing one is told of.
	return errlist.Distinct(errors.Join(o.err,
		writeReport(filepath.Join(o.dir, ResultFile), res, jsonreport.Write),
		writeReport(filepath.Join(o.dir, SummaryFile), res, csvreport.Write)))
}

func writeReport(name string, res *result.Result, format func(io.Writer, *result.Result) error) error {
	err := aside.Call(filepath.Base(name), func() error {
		return atomicfile.Write(name, func(w io.Writer) error { return format(w, res) })
	})
	if err != nil {
		return fmt.Errorf("writing a report: %w", err)
	}
	return nil
}
