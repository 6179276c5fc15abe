package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
)

// earlyRows are the rows of 24.03 to 24.06 that there is anything to say in.
func earlyRows(s *dialect.Summary, o Options) []row {
	rows := []row{
		{dialect.TimeToFirstToken, "Time to first token", "ns"},
		{dialect.InterTokenLatency, "Inter token latency", "ns"},
		{dialect.RequestLatency, "Request latency", "ns"},
		{dialect.OutputSequenceLength, "Num output token", ""},
	}
	if s.Release != dialect.Release2403 {
		rows = append(rows, row{dialect.InputSequenceLength, "Num input token", ""})
	}
	return slices.DeleteFunc(rows, func(r row) bool {
		switch r.metric {
		case dialect.InterTokenLatency:
			_, ok := s.Stat(r.metric)
			return !ok || !o.Streaming // Triton closes also a whole answer with a message of its own
		case dialect.TimeToFirstToken:
			return !o.Streaming || sameAsLatency(s)
		}
		return false
	})
}

// sameAsLatency reports whether all responses came in one piece: time to first token says nothing
// new.
func sameAsLatency(s *dialect.Summary) bool {
	ttft, ok := s.Stat(dialect.TimeToFirstToken)
	latency, both := s.Stat(dialect.RequestLatency)
	if !ok || !both {
		return true
	}
	return !slices.ContainsFunc(columns(99, 95, 90, 75, 50, 25), func(c column) bool { return c.of(ttft) != c.of(latency) })
}

// earlyTotals are the lines below the table: two, and goodput where there are
// objectives, at its place in the first release that had it.
func earlyTotals(s *dialect.Summary) []row {
	rows := []row{{dialect.OutputThroughput, "Output token throughput", "per sec"}}
	if _, ok := s.Stat(dialect.RequestGoodput); ok {
		rows = append(rows, row{dialect.RequestGoodput, "Request goodput", "per sec"})
	}
	return append(rows, row{dialect.RequestThroughput, "Request throughput", "per sec"})
}

func earlyTable(s *dialect.Summary, o Options) *table {
	cols := columns(99, 90, 75)
	t := &table{title: "LLM Metrics", header: names("Statistic", cols), firm: true}
	if s.Release == dialect.Release2403 {
		t.title = "PA LLM Metrics"
	}
	for _, r := range earlyRows(s, o) {
		name := r.name
		if r.unit != "" {
			name += " (" + r.unit + ")"
		}
		t.rows = append(t.rows, append([]string{name}, earlyCells(s, r, cols, true)...))
	}
	return t
}

// earlyCells are the figures of a row, rounded to integers.
func earlyCells(s *dialect.Summary, r row, cols []column, commas bool) []string {
	var cells []string
	st, ok := s.Stat(r.metric)
	for _, c := range cols {
		text := absent
		if ok {
			text = fmt.Sprintf("%.0f", c.of(st))
		}
		if ok && commas {
			text = group(text)
		}
		cells = append(cells, text)
	}
	return cells
}

// earlyCSV are the lines of the CSV file: of 24.03 one block, with identifiers; then two, with
// names.
func earlyCSV(s *dialect.Summary, o Options) [][]string {
	cols := fileColumns(s.Release)
	head, between, name := "Metric", [][]string{nil, {"Metric", "Value"}}, row.titled
	if s.Release == dialect.Release2403 {
		head, between, name = "Statistic", nil, row.snake
	}
	lines := [][]string{names(head, cols)}
	for _, r := range earlyRows(s, o) {
		lines = append(lines, append([]string{name(r)}, earlyCells(s, r, cols, false)...))
	}
	lines = append(lines, between...)
	for _, r := range earlyTotals(s) {
		lines = append(lines, []string{name(r), value(s, r.metric)})
	}
	return lines
}

// snake is the name of a row as a program writes it.
func (r row) snake() string {
	name := strings.ReplaceAll(strings.ToLower(r.name), " ", "_")
	if r.unit != "" {
		name += "(" + r.unit + ")"
	}
	return name
}

// capitals joins words, each with a capital letter.
func capitals(words []string) string {
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, " ")
}

// titled is the name of a row with a capital letter at each word.
func (r row) titled() string {
	name := capitals(strings.Fields(r.name))
	if r.unit != "" {
		name += " (" + r.unit + ")"
	}
	return name
}
