// Package analyzerreport prints measurements as Perf Analyzer does: the console report
// line by line, the CSV of its levels and one more for each composing model.
//
// It prints what it is given. Times are nanoseconds and are cut to whole microseconds
// where they are printed, rates have six significant digits, as in the original.
package analyzerreport

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/sweep"
)

// Settings are the first lines of a report.
type Settings struct {
	Streams, Steps int    // of the input data; 0: none was read
	Batch          int    // 0: not said
	Service        string // "TRITON", "OPENAI"
	Warmup         int64  // requests; 0: none
	Requests       int64  // of a run that measures exactly so many; 0: windows
	CountWindows   bool
	WindowMS       int64
	WindowRequests int64
	Percentile     int   // 0: the average
	Threshold      int64 // in ms
	Async          bool
	Decoupled      bool
	Binary         bool
	Rate           bool // the load is a rate
	Poisson        bool
	// The limits as they were given; an end of 1 is none, an end of 0 is open.
	ConcurrencyStart, ConcurrencyEnd float64
	RateStart, RateEnd               float64
}

// LevelLoad is what a level is about.
type LevelLoad struct {
	Rate  bool
	Value float64
}

func (l LevelLoad) kind() string {
	if l.Rate {
		return "Request Rate"
	}
	return "Concurrency"
}

// LevelReport is one level that was measured.
type LevelReport struct {
	Load   LevelLoad
	Client sweep.Window
	Server *record.ModelStats // nil means the server was not asked
	GPUs   []record.GPU       // nil means it was not asked about them
}

// Options say how levels are printed.
type Options struct {
	Verbose    bool
	Percentile int  // 0: the average
	GRPC       bool // else HTTP
	Decoupled  bool // responses are many
	Library    bool // the line on the time of sending and waiting is printed
	Sequence   bool // requests form sequences
}

type printer struct{ strings.Builder }

func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

func (p *printer) flush(w io.Writer) error {
	_, err := io.WriteString(w, p.String())
	return err
}

// number is a number with six significant digits, as C++ streams write it.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	return fmt.Sprintf("%.6g", v)
}

// WriteSettings prints the head of a report.
func WriteSettings(w io.Writer, s *Settings) error {
	p := new(printer)
	if s.Steps > 0 {
		with := ""
		if s.Streams == 1 {
			with = fmt.Sprintf(" with %d step/steps", s.Steps)
		}
		p.line(" Successfully read data for %d stream/streams%s.", s.Streams, with)
	}
	p.line("*** Measurement Settings ***")
	if s.Batch > 0 {
		p.line("  Batch size: %d", s.Batch)
	}
	p.line("  Service Kind: %s", s.Service)
	if s.Warmup > 0 {
		p.line("  Sending %d warmup request%s", s.Warmup, plural(s.Warmup))
	}
	if s.Requests > 0 {
		p.line("  Sending %d benchmark request%s", s.Requests, plural(s.Requests))
	} else {
		p.windows(s)
	}
	p.limits(s)
	if s.Rate {
		kind := "uniform"
		if s.Poisson {
			kind = "poisson"
		}
		p.line("  Using %s distribution on request generation", kind)
	}
	if s.Binary {
		p.line("  Using Binary Search algorithm")
	}
	if s.Async {
		p.line("  Using asynchronous calls for inference")
	} else {
		p.line("  Using synchronous calls for inference")
	}
	if s.Decoupled {
		p.line("  Detected decoupled model, using the first response for measuring latency")
	}
	p.line("")
	return p.flush(w)
}

func plural(n int64) string {
	if n > 1 {
		return "s"
	}
	return ""
}

func (p *printer) windows(s *Settings) {
	mode := "time_windows"
	if s.CountWindows {
		mode = "count_windows"
	}
	p.line("  Using %q mode for stabilization", mode)
	what := "latency and throughput"
	if s.Async {
		what = "throughput"
	}
	if s.Percentile == 0 {
		p.line("  Stabilizing using average %s", what)
	} else {
		p.line("  Stabilizing using p%d%s", s.Percentile, what) // as the original has it
	}
	if s.CountWindows {
		p.line("  Minimum number of samples in each window: %d", s.WindowRequests)
	} else {
		p.line("  Measurement window: %d msec", s.WindowMS)
	}
}

func (p *printer) limits(s *Settings) {
	if s.ConcurrencyEnd != 1 {
		p.line("  Latency limit: %d msec", s.Threshold)
		if s.ConcurrencyEnd != 0 {
			p.line("  Concurrency limit: %s concurrent requests", number(max(s.ConcurrencyStart, s.ConcurrencyEnd)))
		}
	}
	if s.RateEnd != 1 {
		p.line("  Latency limit: %d msec", s.Threshold)
		if s.RateEnd != 0 {
			p.line("  Request Rate limit: %s requests per seconds", number(max(s.RateStart, s.RateEnd)))
		}
	}
}

// WriteLoad prints the line that begins a level.
func WriteLoad(w io.Writer, l LevelLoad) error {
	p := new(printer)
	if l.Rate {
		p.line("Request Rate: %s inference requests per second", number(l.Value))
	} else {
		p.line("Request concurrency: %s", number(l.Value))
	}
	return p.flush(w)
}

// WritePass prints the line of one window.
func WritePass(w io.Writer, n int, c *sweep.Window, percentile int) error {
	p := new(printer)
	switch {
	case c.Requests == 0:
		p.line("  Pass [%d] cb::Error: No valid requests recorded within time interval. Please use a larger time window.", n)
	case percentile > 0:
		p.line("  Pass [%d] throughput: %s infer/sec. p%d latency: %d usec", n, number(c.Throughput), percentile, percentileOrMean(&c.Latency, percentile).Microseconds())
	default:
		p.line("  Pass [%d] throughput: %s infer/sec. Avg latency: %d usec (std %d usec). ", n, number(c.Throughput), c.Latency.Avg.Microseconds(), c.Latency.Std.Microseconds())
	}
	return p.flush(w)
}

// percentileOrMean is a percentile of a distribution, or the average where it was not worked out.
func percentileOrMean(s *sweep.LatencyStats, percentile int) time.Duration {
	if v, ok := s.Percentile(percentile); ok {
		return v
	}
	return s.Avg
}

// WriteSummary prints the closing list.
func WriteSummary(w io.Writer, levels []LevelReport, percentile int) error {
	if len(levels) == 0 {
		return nil
	}
	p := new(printer)
	if percentile == 0 {
		p.line("Inferences/Second vs. Client Average Batch Latency")
	} else {
		p.line("Inferences/Second vs. Client p%d Batch Latency", percentile)
	}
	for i := range levels {
		l := &levels[i]
		p.line("%s: %s, throughput: %s infer/sec, latency %d usec", l.Load.kind(), number(l.Load.Value), number(l.Client.Throughput), percentileOrMean(&l.Client.Latency, percentile).Microseconds())
	}
	return p.flush(w)
}
