package csvreport

import (
	"strconv"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// serviceRows adds what the metrics of the servers say. The window is who said it:
// "scrape" or "prometheus", or the page of one of several servers.
func (t *table) serviceRows(s *result.Stage) {
	for _, v := range s.Services {
		t.figures(s, v.Source, v.Figures)
		for _, p := range v.Parts {
			window := p.Page
			if p.GPU != "" {
				window += " GPU " + p.GPU
			}
			t.figures(s, window, p.Figures)
		}
	}
}

// figures adds a row for each figure with the rise of a counter, or with the values of a gauge or
// a histogram, and one with its rate where it has one. What was not said is an empty cell.
func (t *table) figures(s *result.Stage, window string, all []result.Figure) {
	for i := range all {
		f := &all[i]
		value, count := f.Mean, ""
		switch {
		case f.Kind == record.FigureCounter:
			value = f.Total
		case f.Kind == record.FigureHistogram && f.Total != nil:
			count = t.number(s, window, f.Name, "count", *f.Total)
		}
		t.said(s, window, f.Name, f.Unit, count, value, f)
		t.buckets(s, window, f)
		if f.Rate == nil {
			continue
		}
		per := "per sec" // of a histogram: values
		if f.Kind == record.FigureCounter && f.Unit != "" {
			per = f.Unit + "/sec"
		}
		t.said(s, window, f.Name+"_rate", per, "", f.Rate, new(result.Figure))
	}
}

// said adds one row, or none where nothing was said.
func (t *table) said(s *result.Stage, window, metric, unit, count string, value *float64, f *result.Figure) {
	row := []string{strconv.Itoa(s.Index), s.Name, s.Load, window, metric, unit, count}
	numbers := map[string]*float64{"avg": value, "min": f.Min, "max": f.Max, "p50": f.Median, "p90": f.P90, "p99": f.P99}
	none := count == ""
	for _, column := range append([]string{"avg"}, t.columns...) {
		cell := ""
		if v := numbers[column]; v != nil {
			cell, none = t.number(s, window, metric, column, *v), false
		}
		row = append(row, cell)
	}
	if !none {
		t.rows = append(t.rows, append(row, "", ""))
	}
}

// buckets adds the ranges that the quantiles of a histogram lie in: a row with their lower ends,
// and one with their upper ones, where they have any.
func (t *table) buckets(s *result.Stage, window string, f *result.Figure) {
	w := f.Within
	if w == nil {
		return
	}
	t.said(s, window, f.Name+"_above", f.Unit, "", nil, &result.Figure{Median: &w.Median.Above, P90: &w.P90.Above, P99: &w.P99.Above})
	t.said(s, window, f.Name+"_up_to", f.Unit, "", nil, &result.Figure{Median: w.Median.UpTo, P90: w.P90.UpTo, P99: w.P99.UpTo})
}
