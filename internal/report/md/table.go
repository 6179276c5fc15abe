package md

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/result"
)

// figure is a column of the table of stages.
type figure struct {
	metric string
	title  string
	stat   string // statistic; empty: the average
}

func figures() []figure {
	return []figure{
		{"request_throughput", "Requests/s", ""},
		{"output_token_throughput", "Output tokens/s", ""},
		{"time_to_first_token", "TTFT", "p50"},
		{"time_to_first_token", "TTFT", "p99"},
		{"inter_token_latency", "ITL", "p50"},
		{"inter_token_latency", "ITL", "p99"},
		{"request_latency", "Latency", "p50"},
		{"request_latency", "Latency", "p99"},
		{"slo_attainment", "Good", ""},
		{"output_token_throughput_per_gpu", "Output tokens/s/GPU", ""},
		{"cost_per_million_output_tokens", "USD/M output tokens", ""},
		{"cost_per_million_total_tokens", "USD/M tokens", ""},
		{"energy_per_output_token", "J/output token", ""},
		{"total_tokens_per_second_per_megawatt", "Tokens/s/MW", ""},
		{"gpu_power_avg", "W/GPU", ""},
	}
}

// lookup gives the figure out of metrics, where they have it, and whether there were too few
// samples for it.
func (f figure) lookup(all map[string]result.Stat) (v float64, thin, ok bool) {
	m, ok := all[f.metric]
	switch {
	case f.stat == "":
		return m.Avg, false, ok
	case m.Distribution == nil:
		return 0, false, false
	}
	return m.Distribution.Quantile(f.stat), slices.Contains(m.LowSamples, f.stat), true
}

// within says behind a figure how well it is known, where it has an interval of sampling.
func (f figure) within(all map[string]result.Stat) string {
	m, name := all[f.metric], f.stat
	if name == "" {
		name = "avg"
	}
	switch share, known, ok := m.Within(name); {
	case !ok:
		return ""
	case !known:
		return " ±?"
	default:
		return " " + number.PlusMinus(share)
	}
}

type column struct {
	title string
	left  bool // text, not a number
	cells []string
}

func (f figure) column(stages []result.Stage) (c column, thin, ok bool) {
	unit, lo, hi := "", math.Inf(1), 0.0
	for i := range stages {
		if v, _, has := f.lookup(stages[i].Metrics); has {
			unit, lo, hi, ok = stages[i].Metrics[f.metric].Unit, min(lo, v), max(hi, v), true
		}
	}
	scale := number.ScaleForAll(unit, lo, hi)
	c.title = f.title
	if f.stat != "" {
		c.title += " " + f.stat + ", " + scale.Unit
	}
	for i := range stages {
		cell := ""
		switch v, few, has := f.lookup(stages[i].Metrics); {
		case has && unit == "share":
			cell = number.Share(v)
		case has:
			m := stages[i].Metrics[f.metric]
			if cell = number.AtLeast(scale.FormatOwn(v), m.Open(f.stat)); few {
				cell, thin = `\~`+cell, true
			}
			cell += f.within(stages[i].Metrics)
		}
		c.cells = append(c.cells, cell)
	}
	return c, thin, ok
}

// figures prints the table with a row for each stage.
func (p *printer) figures(r *result.Result) {
	stages := r.Stages
	if len(stages) == 0 {
		return
	}
	stage, load, good, failed := column{title: "Stage", left: true}, column{title: "Load", left: true}, column{title: "OK"}, column{title: "Failed"}
	for i := range stages {
		s := &stages[i]
		stage.cells = append(stage.cells, strings.TrimSpace(strconv.Itoa(s.Index+1)+" "+prose(s.Name, nameWidth)))
		load.cells = append(load.cells, prose(s.Load, nameWidth))
		good.cells = append(good.cells, number.Count(s.Counts.OK))
		failed.cells = append(failed.cells, number.Count(s.Counts.Failed))
	}
	columns, anyThin := []column{stage, load, good, failed}, false
	if slices.ContainsFunc(stages, func(s result.Stage) bool { return s.Counts.UserCancelled > 0 }) {
		left := column{title: "Cancelled by users"}
		for i := range stages {
			left.cells = append(left.cells, number.Count(stages[i].Counts.UserCancelled))
		}
		columns = append(columns, left)
	}
	if r.Differs() {
		verdict := column{title: "Verdict", left: true}
		for i := range stages {
			word := stages[i].Verdict.Status
			if word != result.Valid {
				word = "**" + strings.ToUpper(word) + "**"
			}
			verdict.cells = append(verdict.cells, word)
		}
		columns = append(columns, verdict)
	}
	for _, f := range figures() {
		if c, thin, ok := f.column(stages); ok {
			columns, anyThin = append(columns, c), anyThin || thin
		}
	}
	p.line("")
	p.table(columns, mostTable)
	if slices.ContainsFunc(columns, func(c column) bool {
		return slices.ContainsFunc(c.cells, func(cell string) bool { return strings.Contains(cell, "±") })
	}) {
		p.line("\n± half the 95 %% confidence interval (sampling); ±? not known: too few requests")
	}
	if anyThin {
		p.line("\n\\~ too few samples for this percentile: likely to vary between runs")
	}
	if slices.ContainsFunc(columns, func(c column) bool {
		return slices.ContainsFunc(c.cells, func(cell string) bool { return strings.Contains(cell, number.Least) })
	}) {
		p.line("\n%srequests did not end: the figure is at least this much", number.Least)
	}
}

// table prints columns of equal length, as many rows as there is room for.
func (p *printer) table(columns []column, most int) {
	var head, rule strings.Builder
	for _, c := range columns {
		head.WriteString("| " + c.title + " ")
		if c.left {
			rule.WriteString("|:--")
		} else {
			rule.WriteString("|--:")
		}
	}
	p.line("%s|\n%s|", head.String(), rule.String())
	end, rows := p.Len()+most, len(columns[0].cells)
	for i := range rows {
		var row strings.Builder
		for _, c := range columns {
			row.WriteString("| " + c.cells[i] + " ")
		}
		if p.Len()+row.Len() > end {
			p.line("| … and %d more |", rows-i)
			return
		}
		p.line("%s|", row.String())
	}
}
