package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
)

// title is what the table is called, by the endpoint's type.
func title(release dialect.Release, endpoint string) string {
	kinds := map[string]string{"embeddings": "Embeddings", "rankings": "Rankings", "image_retrieval": "Image Retrieval", "multimodal": "Multi-Modal"}
	before := "NVIDIA GenAI-Perf | "
	switch release {
	case dialect.Release2408:
		before, kinds["multimodal"] = "", "LLM"
	case dialect.Release2412, dialect.Release2503:
		kinds["multimodal"], kinds["vision"] = "VLM", "VLM"
	}
	return before + cmp.Or(kinds[endpoint], "LLM") + " Metrics"
}

// plain reports whether an endpoint's answers have no tokens.
func plain(endpoint string) bool {
	return slices.Contains([]string{"embeddings", "rankings", "image_retrieval", "nvclip", "template"}, endpoint)
}

func requestRows(release dialect.Release, o Options) []row {
	latency := row{dialect.RequestLatency, "Request Latency", "ms"}
	if o.Endpoint == "image_retrieval" {
		return []row{latency, {dialect.ImageThroughput, "Image Throughput", "images/sec"}, {dialect.ImageLatency, "Image Latency", "ms/image"}}
	}
	if plain(o.Endpoint) {
		return []row{latency}
	}
	rows := []row{latency}
	if o.Streaming {
		first := row{dialect.TimeToFirstToken, "Time To First Token", "ms"}
		gap := row{dialect.InterTokenLatency, "Inter Token Latency", "ms"}
		second := row{dialect.TimeToSecondToken, "Time To Second Token", "ms"}
		switch release {
		case dialect.Release2408, dialect.Release2412:
			rows = []row{first, gap, latency}
		case dialect.Release2503:
			rows = []row{first, second, latency, gap}
		default:
			rows = []row{first, second, latency, gap, {dialect.OutputThroughputUser, "Output Token Throughput Per User", "tokens/sec/user"}}
		}
	}
	return append(rows, row{dialect.OutputSequenceLength, "Output Sequence Length", "tokens"},
		row{dialect.InputSequenceLength, "Input Sequence Length", "tokens"})
}

// systemRows are the rows with one value for the whole run.
func systemRows(release dialect.Release, o Options) []row {
	var rows []row
	if !plain(o.Endpoint) {
		tokens := row{dialect.OutputThroughput, "Output Token Throughput", "tokens/sec"}
		if release != dialect.Latest && release != dialect.Release2505 {
			tokens.unit = "per sec"
		}
		rows = append(rows, tokens)
	}
	rows = append(rows, row{dialect.RequestThroughput, "Request Throughput", "per sec"})
	if o.Goodput {
		rows = append(rows, row{dialect.RequestGoodput, "Request Goodput", "per sec"})
	}
	if release == dialect.Release2408 || release == dialect.Release2412 {
		return rows
	}
	return append(rows, row{dialect.RequestCount, "Request Count", "count"})
}

// full is what a release calls a row in its files: until 24.12 lengths have no unit.
func (r row) full(release dialect.Release) string {
	if r.unit == "tokens" && (release == dialect.Release2408 || release == dialect.Release2412) {
		return r.name
	}
	return fmt.Sprintf("%s (%s)", r.name, r.unit)
}

// shown is what a release calls a row on the screen: until 24.12 only the first word has
// a capital letter, and from 25.04 long names go on in the next line.
func (r row) shown(release dialect.Release) string {
	switch release {
	case dialect.Release2408, dialect.Release2412:
		r.name = r.name[:1] + strings.ToLower(r.name[1:])
		return r.full(release)
	case dialect.Release2503:
		return r.full(release)
	default:
		return strings.Join(wrap(r.full(release), widest), "\n")
	}
}

// widest is where the name of a metric goes on in the next line.
const widest = 36

const absent = "N/A"

// laterTable is the table of releases from 24.07 on. In 24.08 rows of the run are lines below it.
func laterTable(s *dialect.Summary, o Options) *table {
	cols := columns(99, 90, 75)
	t := &table{title: title(s.Release, o.Endpoint), header: names("Statistic", cols)}
	t.firm = s.Release != dialect.Latest && s.Release != dialect.Release2505
	for _, r := range requestRows(s.Release, o) {
		t.rows = append(t.rows, append([]string{r.shown(s.Release)}, cells(s, r.metric, cols)...))
	}
	if s.Release == dialect.Release2408 {
		return t
	}
	for _, r := range systemRows(s.Release, o) {
		line := []string{r.shown(s.Release), cells(s, r.metric, cols[:1])[0]}
		for len(line) < len(t.header) {
			line = append(line, absent)
		}
		t.rows = append(t.rows, line)
	}
	return t
}

// cells are the figures of a metric with two decimals.
func cells(s *dialect.Summary, metric string, cols []column) []string {
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
	return slices.Contains([]string{dialect.TimeToFirstToken, dialect.TimeToSecondToken, dialect.InterTokenLatency, dialect.RequestLatency,
		dialect.ImageLatency}, metric)
}

// laterCSV are the lines of the CSV file of releases from 24.07 on: two blocks with an
// empty line between. Until 24.12 the second has no commas in its numbers.
func laterCSV(s *dialect.Summary, o Options) [][]string {
	cols := fileColumns(s.Release)
	lines := [][]string{names("Metric", cols)}
	for _, r := range requestRows(s.Release, o) {
		lines = append(lines, append([]string{r.full(s.Release)}, cells(s, r.metric, cols)...))
	}
	lines = append(lines, nil, []string{"Metric", "Value"})
	for _, r := range systemRows(s.Release, o) {
		text := cells(s, r.metric, cols[:1])[0]
		if s.Release == dialect.Release2408 || s.Release == dialect.Release2412 {
			text = value(s, r.metric)
		}
		lines = append(lines, []string{r.full(s.Release), text})
	}
	return lines
}

// fileColumns are the columns of a release's CSV file: the percentiles from high to low.
func fileColumns(release dialect.Release) []column {
	percentiles := release.Percentiles()
	slices.Reverse(percentiles)
	return columns(percentiles...)
}
