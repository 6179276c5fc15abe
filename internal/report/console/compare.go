package console

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/result"
)

// figure is a column of a table that compares stages or targets.
type figure struct {
	metric string
	above  string // first line of its title
	stat   string // statistic; empty: the average
	keep   int
}

func figures() []figure {
	return []figure{
		{"request_throughput", "Answered", "", 90},
		{"request_goodput", "Good", "", 89},
		{"output_token_throughput", "Output", "", 80},
		{"time_to_first_token", "TTFT", "p50", 82},
		{"time_to_first_token", "TTFT", "p99", 88},
		{"inter_token_latency", "ITL", "p50", 60},
		{"inter_token_latency", "ITL", "p99", 59},
		{"request_latency", "Latency", "p50", 50},
		{"request_latency", "Latency", "p99", 81},
		{"cost_per_million_output_tokens", "$ per M", "", 86},
		{"energy_per_output_token", "Joules per", "", 85},
	}
}

func (p *printer) comparison(r *result.Result) {
	stages := r.Stages
	t := table{columns: []column{
		{title: "Stage", left: true, keep: mustKeep},
		{title: "Load", left: true, keep: 92},
		{title: "OK", keep: 95},
		{title: "Failed", keep: 95},
	}}
	var all []map[string]result.Stat
	for i := range stages {
		s := &stages[i]
		name := screen.Clip(screen.Clean(s.Name), 20)
		if s.Name == "" || !p.named {
			name = strings.TrimSpace(strconv.Itoa(s.Index+1) + " " + name)
		}
		t.add(name, screen.Clip(screen.Clean(s.Load), p.loadWidth()), number.Count(s.Counts.OK), number.Count(s.Counts.Failed))
		all = append(all, s.Metrics)
	}
	if slices.ContainsFunc(stages, func(s result.Stage) bool { return s.Counts.UserCancelled > 0 }) {
		t.columns = append(t.columns, column{title: "Cancelled", keep: 94})
		for i := range stages {
			t.rows[i] = append(t.rows[i], number.Count(stages[i].Counts.UserCancelled))
		}
	}
	if !slices.ContainsFunc(stages, func(s result.Stage) bool { return s.Verdict == nil }) {
		t.columns = append(t.columns, column{title: "Verdict", left: true, keep: 94})
		for i := range stages {
			t.rows[i] = append(t.rows[i], strings.ToUpper(stages[i].Verdict.Status))
		}
	}
	if slices.ContainsFunc(stages, func(s result.Stage) bool { return s.Rate > 0 }) {
		t.columns = append(t.columns, column{title: "Requested\nper s", keep: 91})
		for i := range stages {
			cell := ""
			if stages[i].Rate > 0 {
				cell = number.Value(stages[i].Rate, "")
			}
			t.rows[i] = append(t.rows[i], cell)
		}
	}
	compare(&t, all)
	p.blank()
	p.line(p.style.Bold("Stages side by side"))
	p.table(&t)
	shown := strings.Join(t.render(p.width-len(indent), p.style), "")
	if strings.Contains(shown, thinMark) {
		p.wrapped(indent, thinText)
	}
	if strings.Contains(shown, number.Least) {
		p.wrapped(indent, leastText)
	}
}

// loadWidth is how much of a load a comparison shows.
func (p *printer) loadWidth() int {
	if p.width < DefaultWidth {
		return 16
	}
	return 24
}

func (p *printer) targets(targets []result.Target) {
	var rows []result.Model
	for _, t := range targets {
		rows = append(rows, result.Model{Name: t.URL, Counts: t.Counts, Metrics: t.Metrics})
	}
	p.parts("Target", rows)
}

// parts prints one row for each part of a stage's requests.
func (p *printer) parts(title string, parts []result.Model) {
	if len(parts) == 0 {
		return
	}
	t := table{columns: []column{
		{title: title, left: true, keep: mustKeep},
		{title: "OK", keep: 95},
		{title: "Failed", keep: 95},
	}}
	var all []map[string]result.Stat
	for i := range parts {
		t.add(screen.Clip(screen.Clean(parts[i].Name), 40), number.Count(parts[i].Counts.OK), number.Count(parts[i].Counts.Failed))
		all = append(all, parts[i].Metrics)
	}
	compare(&t, all)
	p.blank()
	p.table(&t)
}

// workers shows each worker beside the others, where everything is asked for.
func (p *printer) workers(list []result.Worker) {
	if !p.all {
		return
	}
	var parts []result.Model
	for _, w := range list {
		parts = append(parts, result.Model(w))
	}
	p.parts("Worker", parts)
}

// compare adds a column for each figure, in one unit for all rows.
func compare(t *table, rows []map[string]result.Stat) {
	for _, f := range figures() {
		unit, lo, hi := "", math.Inf(1), 0.0
		for _, metrics := range rows {
			if v, ok := f.lookup(metrics); ok {
				unit, lo, hi = metrics[f.metric].Unit, min(lo, v), max(hi, v)
			}
		}
		scale := number.ScaleForAll(unit, lo, hi)
		t.columns = append(t.columns, column{title: f.above + "\n" + f.below(scale.Unit), keep: f.keep})
		for i, metrics := range rows {
			cell := ""
			if v, ok := f.lookup(metrics); ok {
				m := metrics[f.metric]
				cell = number.AtLeast(scale.FormatOwn(v), m.Open(f.stat))
				if slices.Contains(m.LowSamples, f.stat) {
					cell = thinMark + cell
				}
			}
			t.rows[i] = append(t.rows[i], cell)
		}
	}
}

func (f figure) below(unit string) string {
	switch {
	case f.metric == "request_throughput" || f.metric == "request_goodput":
		return "per s"
	case f.metric == "output_token_throughput":
		return "tokens/s"
	case f.metric == "cost_per_million_output_tokens" || f.metric == "energy_per_output_token":
		return "output"
	default:
		return f.stat + " " + unit
	}
}

func (f figure) lookup(all map[string]result.Stat) (float64, bool) {
	m, ok := all[f.metric]
	switch {
	case f.stat == "":
		return m.Avg, ok
	case m.Distribution == nil:
		return 0, false
	}
	return m.Distribution.Quantile(f.stat), true
}
