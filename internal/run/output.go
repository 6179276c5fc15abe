package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/inferometer/inferometer/internal/lib/aside"
	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	csvreport "github.com/inferometer/inferometer/internal/report/csvreport"
	jsonreport "github.com/inferometer/inferometer/internal/report/jsonreport"
	"github.com/inferometer/inferometer/internal/result"
)

// The files of an output directory.
const (
	PlanFile    = "plan.yaml"
	RecordsFile = "requests.jsonl.zst"
	ResultFile  = "result.json"
	SummaryFile = "summary.csv"
)

// Files are the files of an output directory, in the order in which to read them.
func Files() []string { return []string{ResultFile, SummaryFile, RecordsFile, PlanFile} }

// output is the directory that a run writes to. A nil output keeps nothing.
type output struct {
	dir     string
	passing bool // it is needed until the run ends, and no longer
	ended   bool // the record file is whole
	file    io.WriteCloser
	writer  *record.Writer

	mu    sync.Mutex
	err   error       // the first thing that could not be written
	alarm func(error) // is told of it while the run goes on; nil: nobody is
}

// openOutput makes the directory and starts its record file. A directory that
// holds anything is refused, so that no run overwrites another unless it is meant to. alarm is
// told of the first thing that cannot be written.
func openOutput(p *plan.Plan, opt *Options, h record.Header, alarm func(error)) (*output, error) {
	dir := p.Output.Dir
	if dir == "" && !findsWarmup(p) && opt.Fleet == nil && opt.Saved == nil && opt.Draw == nil && len(asksIntervals(p.Conditions)) == 0 {
		return nil, nil
	}
	passing := dir == ""
	if passing { // what was warm-up, what workers saw, what is exported or drawn and intervals take the records out again
		var err error
		if dir, err = os.MkdirTemp("", "inferometer-records-*"); err != nil {
			return nil, fmt.Errorf("creating the record file: %w", err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the output directory: %w", err)
	}
	if err := checkOutput(dir, opt.Replace); err != nil {
		return nil, err
	}
	for _, name := range Files() { // there are none unless they may be replaced
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("removing an earlier run: %w", err)
		}
	}
	text, err := plan.Encode(p)
	if err != nil {
		return nil, err
	}
	if err := atomicfile.Bytes(filepath.Join(dir, PlanFile), text); err != nil {
		return nil, fmt.Errorf("writing the plan: %w", err)
	}
	o := &output{dir: dir, passing: passing, alarm: alarm}
	create := opt.create
	if create == nil {
		create = func(name string) (io.WriteCloser, error) { return record.Create(name) }
	}
	if o.file, err = create(filepath.Join(dir, RecordsFile)); err != nil {
		return nil, fmt.Errorf("starting the record file: %w", err)
	}
	o.writer, err = record.NewWriter(o.file, h)
	return o, err
}

// CheckEmpty makes sure that a directory, which need not be there, holds nothing yet.
func CheckEmpty(dir string) error { return checkOutput(dir, false) }

// checkOutput makes sure that a directory holds nothing yet, or nothing but a run that may
// be replaced; it need not be there.
func checkOutput(dir string, replace bool) error {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the output directory: %w", err)
	}
	if replace {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return slices.Contains(Files(), e.Name()) })
	}
	for _, e := range entries {
		if e.Name() == RecordsFile {
			return fmt.Errorf("output directory %s already contains a run: use another directory or delete it", dir)
		}
	}
	if len(entries) > 0 {
		return fmt.Errorf("output directory %s is not empty (it holds %s): choose a new one", dir, entries[0].Name())
	}
	return nil
}

func (o *output) records() *record.Writer {
	if o == nil {
		return nil
	}
	return o.writer
}

// addError remembers an error of writing: it is told of at once, and at the end.
func (o *output) addError(err error) {
	if o == nil || err == nil {
		return
	}
	o.mu.Lock()
	first, alarm := o.err == nil, o.alarm
	if first {
		o.err = distinct(err)
	}
	o.mu.Unlock()
	if first && alarm != nil {
		alarm(o.err)
	}
}

// end makes the record file whole.
func (o *output) end() {
	if o == nil || o.ended {
		return
	}
	o.ended = true
	o.mu.Lock()
	o.alarm = nil // from now on it is told at the end, which is near
	o.mu.Unlock()
	o.addError(o.writer.Close())
	o.addError(o.file.Close())
}

// recordsPath is where the records are; empty: nowhere.
func (o *output) recordsPath() string {
	if o == nil {
		return ""
	}
	return filepath.Join(o.dir, RecordsFile)
}

// remove takes away what was needed for the run alone.
func (o *output) remove() {
	if o != nil && o.passing {
		_ = os.RemoveAll(o.dir)
	}
}

// finish ends the record file and writes the reports beside it.
func (o *output) finish(res *result.Result) error {
	if o == nil {
		return nil
	}
	o.end()
	if o.passing {
		return o.err
	}
	// A disk that is full for the records may be so for the reports: each that is not there
	// is told of.
	return distinct(errors.Join(o.err,
		writeReport(filepath.Join(o.dir, ResultFile), res, jsonreport.Write),
		writeReport(filepath.Join(o.dir, SummaryFile), res, csvreport.Write)))
}

// writeReport writes one report to a file.
func writeReport(name string, res *result.Result, format func(io.Writer, *result.Result) error) error {
	err := aside.Call(filepath.Base(name), func() error {
		return atomicfile.Write(name, func(w io.Writer) error { return format(w, res) })
	})
	if err != nil {
		return fmt.Errorf("writing a report: %w", err)
	}
	return nil
}

// distinct is a joined error without those that say the same: a full disk is met by every
// worker that writes.
func distinct(err error) error {
	var list []error
	var add func(error)
	add = func(err error) {
		if joined, ok := err.(interface{ Unwrap() []error }); ok && errors.Join(joined.Unwrap()...).Error() == err.Error() {
			for _, e := range joined.Unwrap() {
				add(e)
			}
			return
		}
		if err != nil && !slices.ContainsFunc(list, func(e error) bool { return e.Error() == err.Error() }) {
			list = append(list, err)
		}
	}
	add(err)
	return errors.Join(list...)
}
