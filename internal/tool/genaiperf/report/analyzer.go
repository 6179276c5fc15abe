package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Analyzed is what Perf Analyzer says of a run, for who wants to see it.
type Analyzed struct {
	Service     string // such as OPENAI
	Steps       int    // entries of the data
	Warmup      int
	Requests    int           // measured; 0: there are windows
	Window      time.Duration // of one
	Poisson     bool
	Rate        float64 // 0: it is concurrency
	Concurrency int
	GRPC        bool
	Sessions    bool          // the load is sessions, of whose measurement nothing is said
	Took        time.Duration // of the measurement
	// Latencies are those of the requests that were answered; Request, Send and Receive are
	// sums over them, of the whole exchange and of two parts of it.
	Latencies              []time.Duration
	Request, Send, Receive time.Duration
}

// Print writes the report.
func (a *Analyzed) Print(w io.Writer) error {
	var b strings.Builder
	a.settings(&b)
	load, unit := fmt.Sprintf("Request concurrency: %d", a.Concurrency), fmt.Sprintf("Concurrency: %d", a.Concurrency)
	if a.Rate > 0 {
		load, unit = "Request Rate: "+short(a.Rate)+" inference requests per second", "Request Rate: "+short(a.Rate)
	}
	n := len(a.Latencies)
	b.WriteString("\n")
	if a.Sessions {
		_, err := io.WriteString(w, b.String())
		return err
	}
	if a.Warmup > 0 { // which is a measurement of its own, of which nothing else is said
		warming := load
		if a.Rate == 0 && a.Concurrency > a.Warmup {
			b.WriteString("WARNING: The number of concurrent requests exceeds the warmup request count. Adjusting warmup concurrency to match the warmup request count.\n")
			warming = fmt.Sprintf("Request concurrency: %d", a.Warmup)
		}
		b.WriteString(warming + "\n")
	}
	fmt.Fprintf(&b, "%s\n  Client: \n    Request count: %d\n", load, n)
	if n == 0 || a.Took <= 0 {
		_, err := io.WriteString(w, b.String())
		return err
	}
	throughput := short(float64(n) / a.Took.Seconds())
	mean, deviation := a.spread()
	fmt.Fprintf(&b, "    Throughput: %s infer/sec\n    Avg latency: %d usec (standard deviation %d usec)\n", throughput, mean.Microseconds(), deviation.Microseconds())
	sorted := slices.Sorted(slices.Values(a.Latencies))
	for _, p := range []int{50, 90, 95, 99} {
		at := int(float64(p)/100*float64(n-1) + 0.5)
		fmt.Fprintf(&b, "    p%d latency: %d usec\n", p, sorted[at].Microseconds())
	}
	form := "    Avg HTTP time: %d usec (send/recv %d usec + response wait %d usec)\n"
	if a.GRPC {
		form = "    Avg gRPC time: %d usec ((un)marshal request/response %d usec + response wait %d usec)\n"
	}
	each := func(d time.Duration) int64 { return (d / time.Duration(n)).Microseconds() }
	fmt.Fprintf(&b, form, each(a.Request), each(a.Send+a.Receive), max(each(a.Request-a.Send-a.Receive), 0))
	fmt.Fprintf(&b, "Inferences/Second vs. Client Average Batch Latency\n%s, throughput: %s infer/sec, latency %d usec\n", unit, throughput, mean.Microseconds())
	_, err := io.WriteString(w, b.String())
	return err
}

func (a *Analyzed) settings(b *strings.Builder) {
	fmt.Fprintf(b, " Successfully read data for 1 stream/streams with %d step/steps.\n*** Measurement Settings ***\n  Service Kind: %s\n", a.Steps, a.Service)
	if a.Warmup > 0 {
		b.WriteString(sending(a.Warmup, "warmup"))
	}
	if a.Requests > 0 {
		b.WriteString(sending(a.Requests, "benchmark"))
	} else if a.Window > 0 {
		fmt.Fprintf(b, "  Using \"time_windows\" mode for stabilization\n  Stabilizing using average throughput\n  Measurement window: %d msec\n", a.Window.Milliseconds())
	}
	if a.Rate > 0 {
		kind := "uniform"
		if a.Poisson {
			kind = "poisson"
		}
		fmt.Fprintf(b, "  Using %s distribution on request generation\n", kind)
	}
	fmt.Fprintln(b, "  Using asynchronous calls for inference")
}

func sending(n int, kind string) string {
	if n == 1 {
		return fmt.Sprintf("  Sending 1 %s request\n", kind)
	}
	return fmt.Sprintf("  Sending %d %s requests\n", n, kind)
}

// spread is the mean of the latencies, and how far they lie around it.
func (a *Analyzed) spread() (mean, deviation time.Duration) {
	n := len(a.Latencies)
	var sum time.Duration
	for _, l := range a.Latencies {
		sum += l
	}
	mean = sum / time.Duration(n)
	if n < 2 {
		return mean, 0
	}
	squares := 0.0
	for _, l := range a.Latencies {
		squares += float64(l-mean) * float64(l-mean)
	}
	return mean, time.Duration(math.Sqrt(squares / float64(n-1)))
}

// short is a number with six digits.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
