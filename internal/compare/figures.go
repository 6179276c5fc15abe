package compare

import (
	"slices"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/metric"
)

// Directions in which a figure is better.
const (
	Lower   = "lower"
	Higher  = "higher"
	Neither = "neither"
)

// Direction says which way a metric is better.
func Direction(id string) string {
	switch m, _ := gate.Named(id); {
	case m.Higher:
		return Higher
	case m.Lower:
		return Lower
	}
	return Neither
}

// figure is a row of a table: a statistic of a metric.
type figure struct{ metric, stat string }

// average is the statistic that every metric has.
const average = "avg"

// percentiles are the statistics besides the average. The smallest and the greatest sample
// and the standard deviation are not among them: single requests decide the former, and the
// latter is no figure that anybody is after.
func percentiles() []string {
	var names []string
	for _, p := range metric.Percentiles() {
		names = append(names, p.Name)
	}
	return names
}

// usual are the figures of a table unless all are asked for.
func usual() []figure {
	var list []figure
	for _, id := range []string{"time_to_first_token", "inter_token_latency", "time_per_output_token", "request_latency"} {
		list = append(list, spread(id)...)
	}
	for _, id := range []string{
		"request_throughput", "output_token_throughput", "total_token_throughput", "request_goodput", "slo_attainment", "error_rate",
		"output_sequence_length", "input_sequence_length",
		"cost_per_million_input_tokens", "cost_per_million_output_tokens", "cost_per_million_total_tokens",
		"energy_per_output_token", "energy_per_request", "output_tokens_per_second_per_megawatt",
	} {
		list = append(list, figure{id, average})
	}
	return list
}

// Metrics are those of a comparison's figures: the usual ones, or all.
func Metrics(all bool) []string {
	list := append(usual(), figure{eventGaps, average})
	if all {
		list = every()
	}
	return metricsOf(list)
}

func metricsOf(figures []figure) (metrics []string) {
	for _, f := range figures {
		if !slices.Contains(metrics, f.metric) {
			metrics = append(metrics, f.metric)
		}
	}
	return metrics
}

// eventGaps is compared where a side knows no gaps between tokens.
const eventGaps = "inter_event_latency"

// spread are the usual figures of a metric with samples.
func spread(id string) []figure {
	return []figure{{id, average}, {id, "p50"}, {id, "p90"}, {id, "p99"}}
}

func every() []figure {
	var list []figure
	for _, d := range metric.Defs() {
		list = append(list, figure{d.ID, average})
		if d.Rate != nil {
			continue
		}
		for _, stat := range percentiles() {
			list = append(list, figure{d.ID, stat})
		}
	}
	return list
}

// figuresOf are the rows for levels: those that are asked for and that one of the levels has.
func figuresOf(o *Options, levels ...*MeasuredLoad) []figure {
	list := usual()
	if o.All {
		list = every()
	}
	for _, f := range o.Figures {
		if want := (figure{f.Metric, f.Stat}); !slices.Contains(list, want) {
			list = append(list, want)
		}
	}
	if !o.All && slices.ContainsFunc(levels, func(l *MeasuredLoad) bool { return l.OK > 0 && l.lacks("inter_token_latency") }) {
		// Many tools know the gaps between events alone.
		at := slices.IndexFunc(list, func(f figure) bool { return f.metric == "time_per_output_token" })
		list = slices.Insert(list, at, spread(eventGaps)...)
	}
	return slices.DeleteFunc(list, func(f figure) bool {
		return !slices.ContainsFunc(levels, func(l *MeasuredLoad) bool { _, _, ok := l.stat(f); return ok })
	})
}

func (l *MeasuredLoad) stat(f figure) (v float64, unit string, ok bool) {
	s, ok := l.Metrics[f.metric]
	if !ok {
		return 0, "", false
	}
	v, ok = s.Values[f.stat]
	return v, s.Unit, ok
}

// lacks reports whether a level has no figure of a metric.
func (l *MeasuredLoad) lacks(id string) bool {
	_, ok := l.Metrics[id]
	return !ok
}

func nameOf(id string) string {
	if d, ok := metric.ByID(id); ok {
		return d.Name
	}
	return id
}
