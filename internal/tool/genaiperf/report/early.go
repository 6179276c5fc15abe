package genaiperf

import (
	"fmt"
	"slices"
	"strings"

	"inferometer/internal/dialect/genaiperf"
)

// earlyRows are the rows of 24.03 to 24.06 that there is anything to say in.
func earlyRows(s *genaiperf.Summary, o Options) []row {
	rows := []row{
		{genaiperf.TimeToFirstToken, "Time to first token", "ns"},
		{genaiperf.InterTokenLatency, "Inter token latency", "ns"},
		{genaiperf.RequestLatency, "Request latency", "ns"},
		{genaiperf.OutputSequenceLength, "Num output token", ""},
	}
	if s.Release != genaiperf.Release2403 {
		rows = append(rows, row{genaiperf.InputSequenceLength, "Num input token", ""})
	}
	return slices.DeleteFunc(rows, func(r row) bool {
		switch r.metric {
		case genaiperf.InterTokenLatency:
			_, ok := s.Stat(r.metric)
			return !ok || !o.Streaming // Triton closes also a whole answer with a message of its own
		case genaiperf.TimeToFirstToken:
			return !o.Streaming || sameAsLatency(s)
		}
		return false
	})
}

// sameAsLatency reports whether all answers came in one piece: the time to the first
// token then says nothing new.
func sameAsLatency(s *genaiperf.Summary) bool {
	ttft, ok := s.Stat(genaiperf.TimeToFirstToken)
	latency, both := s.Stat(genaiperf.RequestLatency)
	if !ok || !both {
		return true
	}
	for _, c := range columns(99, 95, 90, 75, 50, 25) {
		if c.of(ttft) != c.of(latency) {
			return false
		}
	}
	return true
}

// earlyTotals are the lines below the table: two, and goodput where there are
// objectives, at its place in the first release that had it.
func earlyTotals(s *genaiperf.Summary) []row {
	rows := []row{{genaiperf.OutputThroughput, "Output token throughput", "per sec"}}
	if _, ok := s.Stat(genaiperf.RequestGoodput); ok {
		rows = append(rows, row{genaiperf.RequestGoodput, "Request goodput", "per sec"})
	}
	return append(rows, row{genaiperf.RequestThroughput, "Request throughput", "per sec"})
}

func earlyTable(s *genaiperf.Summary, o Options) *table {
	cols := columns(99, 90, 75)
	t := &table{title: "LLM Metrics", header: names("Statistic", cols), firm: true}
	if s.Release == genaiperf.Release2403 {
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

// earlyCells are the figures of a row, rounded to whole numbers.
func earlyCells(s *genaiperf.Summary, r row, cols []column, commas bool) []string {
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

// earlyCSV are the lines of the CSV file: of 24.03 one block, with names as in a
// program; then two, with names for people.
func earlyCSV(s *genaiperf.Summary, o Options) [][]string {
	cols := fileColumns(s.Release)
	if s.Release == genaiperf.Release2403 {
		lines := [][]string{names("Statistic", cols)}
		for _, r := range earlyRows(s, o) {
			lines = append(lines, append([]string{r.snake()}, earlyCells(s, r, cols, false)...))
		}
		for _, r := range earlyTotals(s) {
			lines = append(lines, []string{r.snake(), value(s, r.metric)})
		}
		return lines
	}
	lines := [][]string{names("Metric", cols)}
	for _, r := range earlyRows(s, o) {
		lines = append(lines, append([]string{r.titled()}, earlyCells(s, r, cols, false)...))
	}
	lines = append(lines, nil, []string{"Metric", "Value"})
	for _, r := range earlyTotals(s) {
		lines = append(lines, []string{r.titled(), value(s, r.metric)})
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

// titled is the name of a row with a capital letter at each word.
func (r row) titled() string {
	words := strings.Fields(r.name)
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	name := strings.Join(words, " ")
	if r.unit != "" {
		name += " (" + r.unit + ")"
	}
	return name
}
