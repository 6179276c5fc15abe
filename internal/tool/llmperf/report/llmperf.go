// Package report prints measurements as llm_perf does: speeds per stream, first-token
// and whole latencies, and requests per second, level by level.
package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
)

// LevelReport is what was measured at one concurrency. Times are in seconds.
type LevelReport struct {
	Stage        int // of the run
	Concurrency  int
	Load         string // in words, where it is no concurrency or not the only one of its kind; else empty
	Payloads     int64  // requests that were sent
	Results      int64  // requests that were answered
	InputTokens  int64  // of those answered
	OutputTokens int64
	Latency      Mean // of whole requests
	TTFT         Mean // of first responses, empty ones included
	Wall         float64
}

// Mean is a mean with the 99th percentile beside it.
type Mean struct{ Avg, P99 float64 }

// busy is the time of all requests together.
func (l *LevelReport) busy() float64 { return l.Latency.Avg * float64(l.Results) }

// InputRate is input tokens ÷ Σ latency: the speed of one stream, not of the server.
func (l *LevelReport) InputRate() float64 { return over(float64(l.InputTokens), l.busy()) }

// OutputRate is output tokens ÷ Σ latency: the speed of one stream, not of the server.
func (l *LevelReport) OutputRate() float64 { return over(float64(l.OutputTokens), l.busy()) }

// Throughput is answered requests ÷ wall time.
func (l *LevelReport) Throughput() float64 { return over(float64(l.Results), l.Wall) }

// over is a ÷ b, 0 where there is nothing to divide by.
func over(a, b float64) float64 {
	if !(b > 0) {
		return 0
	}
	return a / b
}

// WriteHeader prints the first line.
func WriteHeader(w io.Writer, uri, protocol, model string) error {
	_, err := fmt.Fprintf(w, "triton_url: %s, protocol: %s, model: %s\n", uri, protocol, model)
	return err
}

// metric is one of a level's metrics, as the original calls it.
type metric struct {
	name  string
	value float64
}

// metrics are those of a level, in the order they are printed and written.
func (l *LevelReport) metrics() []metric {
	return []metric{
		{"average_input_token_per_sec", l.InputRate()},
		{"average_output_token_per_sec", l.OutputRate()},
		{"average_ttft", l.TTFT.Avg},
		{"average_latency", l.Latency.Avg},
		{"p99_ttft", l.TTFT.P99},
		{"p99_latency", l.Latency.P99},
	}
}

// Write prints a level.
func Write(w io.Writer, l *LevelReport) error {
	var b strings.Builder
	fmt.Fprintln(&b, strings.Repeat("-", 60))
	if l.Load != "" {
		fmt.Fprintf(&b, "Request load: %s\n", l.Load)
	} else {
		fmt.Fprintf(&b, "Request concurrency: %d\n", l.Concurrency)
	}
	for _, m := range l.metrics() {
		fmt.Fprintf(&b, "%s: %s\n", m.name, number.Python(m.value))
	}
	fmt.Fprintf(&b, "payload and results: %d %d\n", l.Payloads, l.Results)
	fmt.Fprintf(&b, "throughput: %s infer/sec. \n", number.Python(l.Throughput()))
	// The averages above are those of one stream and fall as more run side by side.
	fmt.Fprintf(&b, "aggregate_input_token_per_sec: %s (all streams together)\n", number.Python(over(float64(l.InputTokens), l.Wall)))
	fmt.Fprintf(&b, "aggregate_output_token_per_sec: %s (all streams together)\n", number.Python(over(float64(l.OutputTokens), l.Wall)))
	_, err := io.WriteString(w, b.String())
	return err
}
