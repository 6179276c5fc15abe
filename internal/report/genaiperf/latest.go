package genaiperf

import (
	"fmt"
	"strings"

	"inferometer/internal/dialect/genaiperf"
)

// titles are what the table is called, by the endpoint's type.
func title(endpoint string) string {
	what := "LLM Metrics"
	switch endpoint {
	case "embeddings":
		what = "Embeddings Metrics"
	case "rankings":
		what = "Rankings Metrics"
	case "image_retrieval":
		what = "Image Retrieval Metrics"
	case "multimodal":
		what = "Multi-Modal Metrics"
	}
	return "NVIDIA GenAI-Perf | " + what
}

// plain reports whether an endpoint's answers have no tokens.
func plain(endpoint string) bool {
	switch endpoint {
	case "embeddings", "rankings", "image_retrieval", "nvclip", "template":
		return true
	}
	return false
}

// requestRows are the rows with one value a request.
func requestRows(o Options) []row {
	latency := row{genaiperf.RequestLatency, "Request Latency", "ms"}
	if o.Endpoint == "image_retrieval" {
		return []row{latency, {genaiperf.ImageThroughput, "Image Throughput", "images/sec"}, {genaiperf.ImageLatency, "Image Latency", "ms/image"}}
	}
	if plain(o.Endpoint) {
		return []row{latency}
	}
	var rows []row
	if o.Streaming {
		rows = append(rows, row{genaiperf.TimeToFirstToken, "Time To First Token", "ms"}, row{genaiperf.TimeToSecondToken, "Time To Second Token", "ms"})
	}
	rows = append(rows, latency)
	if o.Streaming {
		rows = append(rows, row{genaiperf.InterTokenLatency, "Inter Token Latency", "ms"},
			row{genaiperf.OutputThroughputUser, "Output Token Throughput Per User", "tokens/sec/user"})
	}
	return append(rows, row{genaiperf.OutputSequenceLength, "Output Sequence Length", "tokens"},
		row{genaiperf.InputSequenceLength, "Input Sequence Length", "tokens"})
}

// systemRows are the rows with one value for the whole run.
func systemRows(o Options) []row {
	var rows []row
	if !plain(o.Endpoint) {
		rows = append(rows, row{genaiperf.OutputThroughput, "Output Token Throughput", "tokens/sec"})
	}
	rows = append(rows, row{genaiperf.RequestThroughput, "Request Throughput", "per sec"})
	if o.Goodput {
		rows = append(rows, row{genaiperf.RequestGoodput, "Request Goodput", "per sec"})
	}
	return append(rows, row{genaiperf.RequestCount, "Request Count", "count"})
}

// widest is where the name of a metric goes on in the next line.
const widest = 36

const absent = "N/A"

func latestTable(s *genaiperf.Summary, o Options) *table {
	cols := columns(99, 90, 75)
	t := &table{title: title(o.Endpoint), header: names("Statistic", cols)}
	for _, r := range requestRows(o) {
		t.rows = append(t.rows, append([]string{strings.Join(wrap(r.full(), widest), "\n")}, cells(s, r.metric, cols)...))
	}
	for _, r := range systemRows(o) {
		line := []string{strings.Join(wrap(r.full(), widest), "\n"), cells(s, r.metric, cols[:1])[0]}
		for len(line) < len(t.header) {
			line = append(line, absent)
		}
		t.rows = append(t.rows, line)
	}
	return t
}

func (r row) full() string { return fmt.Sprintf("%s (%s)", r.name, r.unit) }

// cells are the figures of a metric with two decimals.
func cells(s *genaiperf.Summary, metric string, cols []column) []string {
	var out []string
	st, ok := s.Stat(metric)
	for _, c := range cols {
		if !ok {
			out = append(out, absent)
			continue
		}
		out = append(out, group(fmt.Sprintf("%.2f", scaled(metric, c.of(st)))))
	}
	return out
}

// scaled is a value in the unit that it is printed in.
func scaled(metric string, v float64) float64 {
	if isTime(metric) {
		return v * (1 / 1e6)
	}
	return v
}

func isTime(metric string) bool {
	switch metric {
	case genaiperf.TimeToFirstToken, genaiperf.TimeToSecondToken, genaiperf.InterTokenLatency, genaiperf.RequestLatency, genaiperf.ImageLatency:
		return true
	}
	return false
}

// latestCSV are the lines of the CSV file: two blocks with an empty line between.
func latestCSV(s *genaiperf.Summary, o Options) [][]string {
	cols := columns(99, 95, 90, 75, 50, 25, 10, 5, 1)
	lines := [][]string{names("Metric", cols)}
	for _, r := range requestRows(o) {
		lines = append(lines, append([]string{r.full()}, cells(s, r.metric, cols)...))
	}
	lines = append(lines, nil, []string{"Metric", "Value"})
	for _, r := range systemRows(o) {
		lines = append(lines, []string{r.full(), cells(s, r.metric, cols[:1])[0]})
	}
	return lines
}
