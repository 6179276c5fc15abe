// Package report prints a run as NVIDIA's GenAI-Perf does: the tables, the CSV and
// the JSON of each of its releases. It does no arithmetic beyond units.
package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
)

// Options say what was measured and how it is shown.
type Options struct {
	Width     int    // of the terminal
	Endpoint  string // the endpoint's type, such as "chat" or "embeddings"
	Streaming bool
	Goodput   bool // there are objectives
	Verbose   bool // the console has the tables of GPUs too
	Telemetry dialect.Telemetry
}

type row struct {
	metric string
	name   string // in the table
	unit   string
}

// Console prints the table of a run, and below it, unlike the original, the failed requests.
func Console(w io.Writer, s *dialect.Summary, o Options) error {
	var b strings.Builder
	switch {
	case s.Release.Early():
		earlyTable(s, o).write(&b, o.Width)
		for _, r := range earlyTotals(s) {
			fmt.Fprintf(&b, "%s (per sec): %s\n", r.name, value(s, r.metric))
		}
	case s.Release == dialect.Release2408:
		laterTable(s, o).write(&b, o.Width)
		for _, r := range systemRows(s.Release, o) {
			fmt.Fprintf(&b, "%s: %s\n", r.shown(s.Release), value(s, r.metric))
		}
	default:
		laterTable(s, o).write(&b, o.Width)
	}
	if o.Verbose {
		gpuTables(&b, o.Telemetry, o.Width)
	}
	failures(&b, s)
	_, err := io.WriteString(w, b.String())
	return err
}

func failures(b *strings.Builder, s *dialect.Summary) {
	if s.Failed > 0 {
		fmt.Fprintf(b, "%s of %s requests failed and are not in the figures above:\n", number.Count(int64(s.Failed)), number.Count(int64(s.Failed+s.Requests)))
	}
	for _, f := range s.Failures {
		fmt.Fprintf(b, "  %s %s", number.Count(int64(f.Count)), f.Class)
		if f.Example != "" {
			fmt.Fprintf(b, ": %s", screen.Clip(screen.Clean(f.Example), 100))
		}
		b.WriteByte('\n')
	}
	if s.Empty > 0 {
		fmt.Fprintf(b, "%s requests were answered without any text.\n", number.Count(int64(s.Empty)))
	}
}

// value is the average of a metric with two decimals.
func value(s *dialect.Summary, metric string) string {
	st, ok := s.Stat(metric)
	if !ok {
		return absent
	}
	return fmt.Sprintf("%.2f", st.Avg)
}

type column struct {
	name string
	of   func(*dialect.Stat) float64
}

// columns are avg, min and max and the percentiles asked for.
func columns(percentiles ...int) []column {
	list := []column{
		{"avg", func(s *dialect.Stat) float64 { return s.Avg }},
		{"min", func(s *dialect.Stat) float64 { return s.Min }},
		{"max", func(s *dialect.Stat) float64 { return s.Max }},
	}
	for _, p := range percentiles {
		list = append(list, column{fmt.Sprintf("p%d", p), func(s *dialect.Stat) float64 { return s.Percentile(p) }})
	}
	return list
}

func names(first string, list []column) []string {
	out := []string{first}
	for _, c := range list {
		out = append(out, c.name)
	}
	return out
}

// group puts commas between the thousands of a number.
func group(text string) string {
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return sign + whole
}
