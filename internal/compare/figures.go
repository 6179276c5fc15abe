package compare

import (
	"maps"
	"slices"

	"github.com/inferometer/inferometer/internal/metric"
)

// Directions in which a figure is better.
const (
	Lower   = "lower"
	Higher  = "higher"
	Neither = "neither"
)

// Direction says which way a metric is better. What describes the work, or this client, is
// better neither way.
func Direction(id string) string {
	switch id {
	case "request_throughput", "output_token_throughput", "input_token_throughput", "total_token_throughput",
		"request_goodput", "slo_attainment", "output_token_throughput_per_user":
		return Higher
	case "output_sequence_length", "input_sequence_length", "cached_prompt_tokens", "cached_prompt_share", "tokens_per_event",
		"request_count", "concurrency", "lag", "slot_wait", "dispatch_delay", "write_time", "read_delay", "resolve_time", "connect_time", "tls_time":
		return Neither
	}
	return Lower
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
		for _, stat := range []string{average, "p50", "p90", "p99"} {
			list = append(list, figure{id, stat})
		}
	}
	for _, id := range []string{
		"request_throughput", "output_token_throughput", "total_token_throughput", "request_goodput", "slo_attainment", "error_rate",
		"output_sequence_length", "input_sequence_length",
	} {
		list = append(list, figure{id, average})
	}
	return list
}

// every is all figures of all metrics.
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

// figuresOf are the rows for levels: those that are asked for and that one of the levels has,
// and behind them what is not in our table of metrics, such as costs.
func figuresOf(o *Options, levels ...*Level) []figure {
	list := usual()
	if o.All {
		list = every()
	}
	for _, f := range o.Figures {
		if want := (figure{f.Metric, f.Stat}); !slices.Contains(list, want) {
			list = append(list, want)
		}
	}
	others := map[string]bool{}
	for _, l := range levels {
		for id := range l.Metrics {
			if _, ours := metric.ByID(id); !ours {
				others[id] = true
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(others)) {
		if f := (figure{id, average}); !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return slices.DeleteFunc(list, func(f figure) bool {
		return !slices.ContainsFunc(levels, func(l *Level) bool { _, _, ok := l.at(f); return ok })
	})
}

// at is a figure of a level, with its unit.
func (l *Level) at(f figure) (v float64, unit string, ok bool) {
	s, ok := l.Metrics[f.metric]
	if !ok {
		return 0, "", false
	}
	v, ok = s.Values[f.stat]
	return v, s.Unit, ok
}

// nameOf is what a metric is called.
func nameOf(id string) string {
	if d, ok := metric.ByID(id); ok {
		return d.Name
	}
	return id
}
