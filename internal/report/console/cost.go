package console

import (
	"fmt"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/result"
)

// costRow is a row of the table of costs: the same figure of all tokens, of output and of input. A %s in
// its name is the kind of tokens.
type costRow struct{ metric, label string }

func costRows() []costRow {
	return []costRow{
		{"%s_token_throughput_per_gpu", "Tokens/s per GPU"},
		{"cost_per_million_%s_tokens", "$ per million tokens"},
		{"energy_per_%s_token", "Joules per token"},
		{"%s_tokens_per_second_per_megawatt", "Tokens/s per MW"},
	}
}

func costKinds() []string { return []string{"total", "output", "input"} }

// ofCost reports whether a metric is one that the part about cost shows.
func ofCost(metric string) bool {
	switch metric {
	case "total_gpu_energy", "gpu_power_avg", "gpu_power_peak", "energy_per_request":
		return true
	}
	for _, r := range costRows() {
		before, after, _ := strings.Cut(r.metric, "%s")
		if strings.HasPrefix(metric, before) && strings.HasSuffix(metric, after) {
			return true
		}
	}
	return false
}

// cost prints what the tokens cost in money and energy.
func (p *printer) cost(s *result.Stage) {
	c := s.Cost
	if c == nil {
		return
	}
	t := table{columns: []column{{title: "", left: true, keep: mustKeep}}}
	for _, k := range costKinds() {
		t.columns = append(t.columns, column{title: k, keep: mustKeep})
	}
	for _, r := range costRows() {
		cells, some := []string{r.label}, false
		for _, k := range costKinds() {
			m, ok := s.Metrics[fmt.Sprintf(r.metric, k)]
			cell := ""
			if ok {
				cell, some = number.ScaleFor("", m.Avg).Format(m.Avg), true
			}
			cells = append(cells, cell)
		}
		if some {
			t.add(cells...)
		}
	}
	p.blank()
	if len(t.rows) > 0 {
		p.table(&t)
	}
	p.paragraph("Cost", costText(s))
}

// costText says what the figures of cost are based on.
func costText(s *result.Stage) string {
	c := s.Cost
	parts := []string{number.Plural(int64(c.GPUs), "GPU")}
	switch {
	case c.GPUs == 0:
		parts[0] = "the number of GPUs is not known"
	case c.Price > 0:
		parts[0] += fmt.Sprintf(" at $%.2f an hour", c.Price)
		if c.GPUs > 1 {
			parts[0] += " each"
		}
	}
	w := c.Power
	if w == nil {
		return parts[0]
	}
	if !w.Valid {
		return parts[0] + "; energy is not valid: " + strings.Join(w.Reasons, "; ")
	}
	value := func(metric string) string { return number.Value(s.Metrics[metric].Avg, s.Metrics[metric].Unit) }
	text := value("gpu_power_avg") + " per GPU"
	if _, ok := s.Metrics["gpu_power_peak"]; ok {
		text += " on average, " + value("gpu_power_peak") + " at most"
	}
	parts = append(parts, text, value("total_gpu_energy")+" in all")
	if _, ok := s.Metrics["energy_per_request"]; ok {
		parts = append(parts, value("energy_per_request"))
	}
	return strings.Join(parts, "; ") + " (" + powerSource(w) + ")"
}

// powerSource says how the energy is known.
func powerSource(w *result.Power) string {
	switch w.Method {
	case result.MethodGiven:
		return "power as given, not measured"
	case result.MethodCounter:
		return "by the GPUs' energy counters, " + from(w.Source)
	}
	return fmt.Sprintf("power %s, %s per GPU", from(w.Source), number.Plural(int64(w.Readings), "reading"))
}

func from(source string) string {
	if source == result.SourceScrape {
		return "scraped from the exporter"
	}
	return "read by " + source
}
