package console

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/result"
)

// row is a metric that the report shows, under the name a person knows it by.
type row struct {
	metric string
	label  string
	unit   string // in place of the metric's own, where the label has it already
}

// spreads are the metrics with samples that every report shows, in order.
func spreads() []row {
	return []row{
		{metric: "time_to_first_token", label: "Time to first token"},
		{metric: "time_to_first_output_token", label: "Time to first visible token"},
		{metric: "time_to_second_token", label: "Time to second token"},
		{metric: "inter_token_latency", label: "Inter-token latency"},
		{metric: "inter_event_latency", label: "Inter-event latency"},
		{metric: "time_per_output_token", label: "Time per output token"},
		{metric: "request_latency", label: "Request latency"},
		{metric: "request_latency_from_due", label: "Request latency, from due"},
		{metric: "output_sequence_length", label: "Output sequence length"},
		{metric: "input_sequence_length", label: "Input sequence length"},
		{metric: "cached_prompt_tokens", label: "Cached prompt tokens"},
		{metric: "tokens_per_event", label: "Tokens per event", unit: " "},
		{metric: "output_token_throughput_per_user", label: "Output tokens/s per user", unit: " "},
	}
}

// rates are the metrics of the whole stage that every report shows, in order.
func rates() []row {
	return []row{
		{metric: "request_throughput", label: "Requests/s"},
		{metric: "output_token_throughput", label: "Output tokens/s"},
		{metric: "input_token_throughput", label: "Input tokens/s"},
		{metric: "total_token_throughput", label: "Total tokens/s"},
		{metric: "request_goodput", label: "Good requests/s"},
		{metric: "concurrency", label: "Requests in flight"},
	}
}

// clients are the metrics of this program's own part. They fit in a few words
// where all is well.
func clients() []row {
	return []row{
		{metric: "lag", label: "send lag"},
		{metric: "slot_wait", label: "waited for a slot"},
		{metric: "dispatch_delay", label: "client delay"},
		{metric: "read_delay", label: "read delay"},
		{metric: "connect_time", label: "connect"},
		{metric: "tls_time", label: "TLS"},
	}
}

// known reports whether some part of the ordinary report shows the metric.
func known(metric string) bool {
	is := func(r row) bool { return r.metric == metric }
	return slices.ContainsFunc(spreads(), is) || slices.ContainsFunc(rates(), is) || ofCost(metric)
}

// rest are the metrics that only the full report shows, by name: with samples
// or without.
func rest(all map[string]result.Stat, samples bool) []row {
	var rows []row
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !known(name) && (all[name].Distribution != nil) == samples {
			rows = append(rows, row{metric: name, label: title(name)})
		}
	}
	return rows
}

func labelOf(metric string) string {
	for _, r := range slices.Concat(spreads(), rates()) {
		if r.metric == metric {
			return r.label
		}
	}
	return title(metric)
}

// title turns the name of a metric into words.
func title(name string) string {
	words := screen.Clean(plain(name))
	first, others, _ := strings.Cut(words, " ")
	switch first {
	case "slo", "tls":
		first = strings.ToUpper(first)
	case "":
	default:
		r, n := utf8.DecodeRuneInString(first)
		first = string(unicode.ToUpper(r)) + first[n:]
	}
	return strings.TrimRight(first+" "+others, " ")
}

// statistic is a number of a spread and its column.
type statistic struct {
	name   string
	keep   int
	within int // keep of the column beside it that says how well it is known; 0: there is none
}

// statistics are the columns of the table after the average, from the least
// value to the greatest. p50 and p99 are the last to go when room is short.
func statistics() []statistic {
	return []statistic{
		{"min", 60, 0}, {"p1", 5, 0}, {"p5", 6, 0}, {"p10", 7, 0}, {"p25", 20, 0}, {"p50", mustKeep, 45}, {"p75", 21, 0},
		{"p90", 80, 35}, {"p95", 50, 25}, {"p99", mustKeep, 75}, {"p99.9", 40, 0}, {"max", 70, 0}, {"std", 30, 0},
	}
}
