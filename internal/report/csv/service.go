package csvreport

import (
	"strconv"

	"inferometer/internal/record"
	"inferometer/internal/result"
)

// serviceRows adds what the metrics of the servers say. The window is who said it:
// "scrape" or "prometheus", or the page of one of several servers.
func (t *table) serviceRows(s *result.Stage) error {
	for _, v := range s.Services {
		if err := t.figures(s, v.Source, v.Figures); err != nil {
			return err
		}
		for _, p := range v.Parts {
			window := p.Page
			if p.GPU != "" {
				window += " GPU " + p.GPU
			}
			if err := t.figures(s, window, p.Figures); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *table) figures(s *result.Stage, window string, all []result.Figure) error {
	for i := range all {
		if err := t.figure(s, window, &all[i]); err != nil {
			return err
		}
	}
	return nil
}

// figure adds a row with the rise of a counter, or with the values of a gauge or a
// histogram, and one with its rate where it has one. What was not said is an empty cell.
func (t *table) figure(s *result.Stage, window string, f *result.Figure) error {
	value, count := f.Mean, ""
	switch {
	case f.Kind == record.FigureCounter:
		value = f.Total
	case f.Kind == record.FigureHistogram && f.Total != nil:
		cell, err := number(*f.Total)
		if err != nil {
			return fault(s, window, f.Name, "count", err)
		}
		count = cell
	}
	if err := t.said(s, window, f.Name, f.Unit, count, value, f); err != nil {
		return err
	}
	if f.Rate == nil {
		return nil
	}
	per := "per sec" // of a histogram: values
	if f.Kind == record.FigureCounter && f.Unit != "" {
		per = f.Unit + "/sec"
	}
	return t.said(s, window, f.Name+"_rate", per, "", f.Rate, new(result.Figure))
}

// said adds one row, or none where nothing was said.
func (t *table) said(s *result.Stage, window, metric, unit, count string, value *float64, f *result.Figure) error {
	row := []string{strconv.Itoa(s.Index), s.Name, s.Load, window, metric, unit, count}
	spread := map[string]*float64{"min": f.Min, "max": f.Max, "p50": f.Median, "p90": f.P90, "p99": f.P99}
	none := count == ""
	add := func(column string, v *float64) error {
		cell := ""
		if v != nil {
			var err error
			if cell, err = number(*v); err != nil {
				return fault(s, window, metric, column, err)
			}
			none = false
		}
		row = append(row, cell)
		return nil
	}
	if err := add("avg", value); err != nil {
		return err
	}
	for _, c := range t.columns {
		if err := add(c.name, spread[c.name]); err != nil {
			return err
		}
	}
	if !none {
		t.rows = append(t.rows, append(row, ""))
	}
	return nil
}
