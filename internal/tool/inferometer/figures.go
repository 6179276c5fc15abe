package inferometer

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/tool"
)

// statistics are those that are shown, in the order of their columns.
var statistics = []string{"avg", "min", "p50", "p90", "p95", "p99", "p99.9", "max", "std"}

// writeFigures writes what another tool has worked out: a table, JSON or CSV.
func writeFigures(w io.Writer, format, path string, f *tool.Figures) error {
	switch format {
	case "json":
		return figuresJSON(w, f)
	case "csv":
		return figuresCSV(w, f)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Figures of %s, which %s wrote without single requests\n", path, f.By)
	if m := f.Plan.Target.Model; m != "" || len(f.Plan.Target.URLs) > 0 {
		fmt.Fprintln(&b, tool.Subject(f.Plan))
	}
	for i := range f.Loads {
		l := &f.Loads[i]
		fmt.Fprintf(&b, "\nstage %d: %s\n  %d ok, %d failed", i+1, result.Load(&f.Plan.Stages[i]), l.OK, l.Failed)
		if l.Seconds > 0 {
			fmt.Fprintf(&b, " in %.4g s", l.Seconds)
		}
		b.WriteString("\n\n")
		loadTable(&b, l)
	}
	b.WriteString("\nNotes\n")
	for _, n := range f.Notes {
		fmt.Fprintf(&b, "  %s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// loadTable writes the figures of one load: the columns are the statistics that there are.
func loadTable(b *strings.Builder, l *tool.LoadFigures) {
	columns := slices.DeleteFunc(slices.Clone(statistics), func(s string) bool {
		for _, of := range l.Metrics {
			if _, ok := of[s]; ok {
				return false
			}
		}
		return true
	})
	fmt.Fprintf(b, "  %-32s %-16s", "", "")
	for _, c := range columns {
		fmt.Fprintf(b, "%12s", c)
	}
	b.WriteByte('\n')
	eachMetric(l, func(d *metric.Def, of map[string]float64) {
		line := fmt.Sprintf("  %-32s %-16s", d.Name, d.Unit)
		for _, c := range columns {
			text := ""
			if v, ok := of[c]; ok {
				text = strconv.FormatFloat(v, 'f', 2, 64)
			}
			line += fmt.Sprintf("%12s", text)
		}
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	})
}

// eachMetric goes through the metrics of a load in the order in which reports list them.
func eachMetric(l *tool.LoadFigures, f func(d *metric.Def, of map[string]float64)) {
	defs := metric.Defs()
	for i := range defs {
		if of := l.Metrics[defs[i].ID]; len(of) > 0 {
			f(&defs[i], of)
		}
	}
}

func figuresJSON(w io.Writer, f *tool.Figures) error {
	type load struct {
		Load     string                        `json:"load"`
		OK       int64                         `json:"ok"`
		Failed   int64                         `json:"failed"`
		Duration float64                       `json:"duration_s,omitempty"`
		Metrics  map[string]map[string]float64 `json:"metrics"`
	}
	doc := struct {
		Schema string   `json:"schema"`
		By     string   `json:"by"`
		Model  string   `json:"model,omitempty"`
		Notes  []string `json:"notes"`
		Loads  []load   `json:"loads"`
	}{Schema: "inferometer.figures/1", By: f.By, Model: f.Plan.Target.Model, Notes: f.Notes}
	for i, l := range f.Loads {
		doc.Loads = append(doc.Loads, load{result.Load(&f.Plan.Stages[i]), l.OK, l.Failed, l.Seconds, l.Metrics})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

func figuresCSV(w io.Writer, f *tool.Figures) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"stage", "load", "metric", "unit", "statistic", "value"}}
	for i := range f.Loads {
		eachMetric(&f.Loads[i], func(d *metric.Def, of map[string]float64) {
			for _, s := range statistics {
				if v, ok := of[s]; ok {
					rows = append(rows, []string{strconv.Itoa(i), result.Load(&f.Plan.Stages[i]), d.ID, d.Unit, s, strconv.FormatFloat(v, 'g', -1, 64)})
				}
			}
		})
	}
	return c.WriteAll(rows)
}
