package selftest

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/report/screen"
)

// shown are the metrics of the table; the document has all.
func shown() []string {
	return []string{
		"time_to_first_token", "time_to_second_token", "inter_token_latency", "time_per_output_token", "request_latency",
		"request_throughput", "output_token_throughput", "concurrency", "output_sequence_length", "input_sequence_length",
	}
}

// Write prints a report for a terminal of so many columns.
func Write(w io.Writer, r *Report, width int) error {
	var b bytes.Buffer
	where := "in the client's own process, which makes the errors look larger"
	switch {
	case len(r.Cores) > 0:
		where = fmt.Sprintf("as a separate process, on its own cores (%s)", strings.Trim(fmt.Sprint(r.Cores), "[]"))
	case r.Apart:
		where = "as a separate process, on the same cores"
	}
	paragraph(&b, "Measured against the built-in mock, which ran "+where+". Each row shows the mock's true figure and the error of the reported ones.", width)
	for i := range r.Levels {
		level(&b, &r.Levels[i], width)
	}
	b.WriteByte('\n')
	paragraph(&b, r.Summary, width)
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

func level(b *bytes.Buffer, l *Trial, width int) {
	fmt.Fprintf(b, "\n%s: %s\n", l.Load, strings.ToUpper(l.Verdict))
	held := fmt.Sprintf("%s requests/s, %s in flight, %s events/s; %d requests", count(l.Rate), count(l.InFlight), count(l.Events), l.Requests)
	paragraph(b, "  "+held, width)
	fmt.Fprintf(b, "  %-26s%12s%11s%11s%11s%11s%12s\n", "", "true avg", "avg", "p50", "p90", "p99", "error bar")
	for _, id := range shown() {
		i := slices.IndexFunc(l.Bars, func(x record.Bar) bool { return x.Metric == id })
		if i < 0 {
			continue
		}
		x := &l.Bars[i]
		p50, p90, p99, unit := signed(x.P50), signed(x.P90), signed(x.P99), x.Unit
		if unit != "ms" {
			p50, p90, p99, unit = "", "", "", "  " // rates have no percentiles, and their units no room
		}
		fmt.Fprintf(b, "  %-26s%12s%11s%11s%11s%11s%12s\n", x.Name, figure(x.True), signed(x.Avg), p50, p90, p99, "±"+figure(x.Error)+" "+unit)
	}
	for _, reason := range l.Reasons {
		paragraph(b, "  - "+reason, width)
	}
}

func paragraph(b *bytes.Buffer, text string, width int) {
	indent := text[:len(text)-len(strings.TrimLeft(text, " -"))]
	for i, line := range screen.Wrap(screen.Clean(text[len(indent):]), width-len(indent)) {
		if i > 0 {
			indent = strings.Repeat(" ", len(indent))
		}
		b.WriteString(indent + line + "\n")
	}
}

// figure prints a number with three digits behind the point, fewer where it is large.
func figure(v float64) string {
	switch {
	case v >= 1000 || v <= -1000:
		return fmt.Sprintf("%.0f", v)
	case v >= 100 || v <= -100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

func signed(v float64) string {
	if v >= 0 {
		return "+" + figure(v)
	}
	return figure(v)
}

func value(v float64, unit string) string { return figure(v) + " " + unit }

// count is a number that need not be exact.
func count(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}
