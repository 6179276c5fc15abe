// Package report prints how a language model's latency changes with the length of its
// prompts.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/report/screen"
)

// Subject is what a study is about.
type Subject struct {
	Line string // what its closing line calls the figure
	What string // the figure in words, at the beginning of a sentence
}

// Prefill is the time until the first token.
func Prefill() Subject { return Subject{"first-token", "First-token latency"} }

// Generation is the time between two tokens.
func Generation() Subject { return Subject{"token-to-token", "Token-to-token latency"} }

// Row is what was measured with prompts of one length. Times are in milliseconds.
type Row struct {
	Requested int     // length asked for, in tokens
	Input     float64 // mean length of the prompts, as counted
	Output    float64 // mean length of the responses
	Requests  int64   // that ended well
	Failed    int64
	Samples   int64 // that the figures are made of; 0: there are none
	Avg       float64
	P50       float64
	P90       float64
	P99       float64
	Thin      []string // percentiles for which there are too few samples
	AtLeast   []string // statistics that are lower bounds, because requests did not end
}

// WriteAverage prints the line with which a study of one length ends.
func WriteAverage(w io.Writer, k Subject, seconds float64) error {
	_, err := fmt.Fprintf(w, "Average %s latency: %s s\n", k.Line, number.Python(seconds))
	return err
}

// WriteNone prints instead of an average why there is none.
func WriteNone(w io.Writer, k Subject, why string) error {
	_, err := fmt.Fprintf(w, "Average %s latency: none, %s\n", k.Line, why)
	return err
}

// WriteLength prints the heading of one length.
func WriteLength(w io.Writer, tokens int) error {
	_, err := fmt.Fprintf(w, "Prompts of %s tokens\n", number.Count(int64(tokens)))
	return err
}

// WriteTable prints all lengths side by side.
func WriteTable(w io.Writer, k Subject, rows []Row) error {
	lowest, highest := 0.0, 0.0
	for i, r := range rows {
		if r.Samples > 0 && (i == 0 || lowest == 0 || r.Avg < lowest) {
			lowest = r.Avg
		}
		highest = max(highest, r.Avg)
	}
	scale := number.ScaleForAll("ms", lowest, highest)
	table := [][]string{{"prompt", "counted", "response", "requests", "failed", "avg", "p50", "p90", "p99"}}
	for _, r := range rows {
		line := []string{
			number.Count(int64(r.Requested)), tokens(r.Input), tokens(r.Output), number.Count(r.Requests), number.Count(r.Failed),
		}
		if r.Samples == 0 {
			table = append(table, append(line, "–", "–", "–", "–"))
			continue
		}
		figure := func(name string, v float64) string {
			text := number.AtLeast(scale.FormatOwn(v), slices.Contains(r.AtLeast, name))
			if slices.Contains(r.Thin, name) {
				return "~" + text
			}
			return text
		}
		table = append(table, append(line, figure("avg", r.Avg), figure("p50", r.P50), figure("p90", r.P90), figure("p99", r.P99)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s by prompt length, in %s; lengths in tokens\n\n", k.What, scale.Unit)
	for _, line := range table {
		b.WriteString(" ")
		for i, cell := range line {
			width := 0
			for _, l := range table {
				width = max(width, screen.Width(l[i]))
			}
			b.WriteString(" " + screen.Right(cell, width+1))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tokens is a mean length; one that was not counted is a dash.
func tokens(v float64) string {
	if v == 0 {
		return "–"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}
