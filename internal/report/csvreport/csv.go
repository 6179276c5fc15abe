// Package csvreport writes a result as summary.csv: one row for each stage,
// window and metric, for spreadsheets and data frames. Where there are several
// targets, each has rows of its own, with its URL in place of the window; what the
// metrics of the servers say has its source there.
//
// Every number is a plain decimal that any parser reads: no thousands
// separators, no exponent, no unit inside the cell. A cell is empty where the
// metric has no such value: a rate has an average alone.
package csvreport

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/csvsafe"
	"github.com/inferometer/inferometer/internal/result"
)

// The windows a row can be about.
const (
	whole  = "whole"
	steady = "steady"
	search = "search" // for the capacity, over all stages
)

// columns are the numbers of a metric with samples, in the order of the file.
func columns() []string {
	return []string{"min", "max", "std", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9"}
}

// Write writes the stages of r to w as CSV with a header line. Nothing is
// written when a number is not finite.
func Write(w io.Writer, r *result.Result) error {
	t := table{columns: columns(), run: r.Name}
	t.rows = append(t.rows, t.header())
	t.capacity(r)
	for i := range r.Stages {
		s := &r.Stages[i]
		t.counts(s, whole, s.Counts)
		t.metrics(s, whole, s.Metrics)
		if s.Steady != nil {
			t.counts(s, steady, s.Steady.Counts)
			t.metrics(s, steady, s.Steady.Metrics)
		}
		for _, target := range s.Targets {
			t.part(s, target.URL, target.Counts, target.Metrics)
		}
		for _, m := range s.Models {
			t.part(s, m.Name, m.Counts, m.Metrics)
		}
		t.serverRows(s)
		t.serviceRows(s)
	}
	if t.err != nil {
		return fmt.Errorf("write CSV report: %w", t.err)
	}
	for i, row := range t.rows {
		for k := range words {
			row[k] = csvsafe.Safe(row[k])
		}
		if i > 0 {
			t.rows[i] = append(row, csvsafe.Safe(t.run))
		}
	}
	// WriteAll flushes and gives the first error of any write.
	if err := csv.NewWriter(w).WriteAll(t.rows); err != nil {
		return fmt.Errorf("write CSV report: %w", err)
	}
	return nil
}

type table struct {
	columns []string
	run     string // its name
	rows    [][]string
	err     error // the first number that cannot be written
}

func (t *table) header() []string {
	h := []string{"stage", "name", "load", "window", "metric", "unit", "count", "avg"}
	return append(append(h, t.columns...), "thin", "at_least", "run")
}

// words is how many cells of a row, from its first on, may be texts of others.
const words = 6

// capacity adds what a search for it has found: a row for the response and for each end of its
// interval, with the outcome in place of the load. They are of no stage.
func (t *table) capacity(r *result.Result) {
	for _, f := range r.CapacityFigures() {
		metric := "capacity"
		if f.Stat != "value" {
			metric += "_" + f.Stat
		}
		row := append(t.start(&result.Stage{Load: r.Capacity.Outcome}, search, metric, r.Capacity.Unit, 0), t.number(&result.Stage{}, search, metric, "avg", f.Value))
		row[0] = ""
		t.rows = append(t.rows, append(row, make([]string, len(t.columns)+2)...))
	}
}

// counts adds the numbers of requests as rows of their own: figures without
// them would hide how many requests they leave out.
func (t *table) counts(s *result.Stage, window string, c result.Counts) {
	t.requests(s, window, "requests_sent", c.Sent)
	t.requests(s, window, "requests_ok", c.OK)
	t.requests(s, window, "requests_failed", c.Failed)
	t.requests(s, window, "requests_cut_off", c.CutOff)
	if c.UserCancelled > 0 {
		t.requests(s, window, "requests_user_cancelled", c.UserCancelled)
	}
}

func (t *table) requests(s *result.Stage, window, name string, n int64) {
	t.row(s, window, name, "requests", 0, strconv.FormatInt(n, 10))
}

// part adds what one of several targets or models has done in the whole stage.
func (t *table) part(s *result.Stage, name string, c result.TargetCounts, metrics map[string]result.Stat) {
	t.requests(s, name, "requests_sent", c.Sent)
	t.requests(s, name, "requests_ok", c.OK)
	t.requests(s, name, "requests_failed", c.Failed)
	t.metrics(s, name, metrics)
}

func (t *table) metrics(s *result.Stage, window string, all map[string]result.Stat) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m := all[name]
		row := append(t.start(s, window, name, m.Unit, m.Count), t.number(s, window, name, "avg", m.Avg))
		for _, c := range t.columns {
			cell := ""
			if m.Distribution != nil {
				cell = t.number(s, window, name, c, m.Distribution.Quantile(c))
			}
			row = append(row, cell)
		}
		t.rows = append(t.rows, append(row, strings.Join(m.LowSamples, " "), strings.Join(m.AtLeast, " ")))
	}
}

// start begins a row with the cells before the average.
func (t *table) start(s *result.Stage, window, metric, unit string, count int64) []string {
	n := ""
	if count != 0 {
		n = strconv.FormatInt(count, 10)
	}
	return []string{strconv.Itoa(s.Index), s.Name, s.Load, window, metric, unit, n}
}

// number writes v as a plain decimal with as many digits as it has.
func (t *table) number(s *result.Stage, window, metric, column string, v float64) string {
	if (math.IsNaN(v) || math.IsInf(v, 0)) && t.err == nil {
		t.err = fmt.Errorf("stage %d, %s window, %s %s is %v, which no reader can use: leave the metric out where it has no value", s.Index, window, metric, column, v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
