package genaiperf

import (
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/sweep"
	"github.com/inferometer/inferometer/internal/tool/analyzerreport"
)

// analysisOf is of four requests that end at 1, 2, 3 and 5 s of a measurement from 0 to 6 s.
func analysisOf() *Analysis {
	a := &Analysis{
		settings: analyzerreport.Settings{Streams: 1, Steps: 100, Service: "OPENAI", Warmup: 5, Requests: 4, Async: true, ConcurrencyEnd: 1, RateEnd: 1},
		options:  analyzerreport.Options{Library: true}, load: analyzerreport.LevelLoad{Value: 4}, end: 6 * time.Second,
	}
	for _, s := range []int{1, 2, 3, 5} {
		end, ms := time.Duration(s)*time.Second, time.Millisecond
		a.samples = append(a.samples, sweep.Sample{
			Due: end - 110*ms, Sent: end - 100*ms, Written: end - 98*ms,
			Start: end - 10*ms, First: end - 10*ms, End: end, Closed: end, Responses: 1,
		})
	}
	a.add(&record.Record{End: 2 * time.Second, Failure: &record.Failure{Class: record.TimedOut}})
	return a
}

func TestAnalysis(t *testing.T) {
	const head = " Successfully read data for 1 stream/streams with 100 step/steps.\n*** Measurement Settings ***\n  Service Kind: OPENAI\n"
	for _, tt := range []struct {
		name   string
		change func(*Analysis)
		want   []string
		not    string
	}{
		{"a number of requests", func(*Analysis) {}, []string{
			head + "  Sending 5 warmup requests\n  Sending 4 benchmark requests\n  Using asynchronous calls for inference\n\n" +
				"Request concurrency: 4\nRequest concurrency: 4\n  Client: \n    Request count: 4\n    Throughput: 0.666667 infer/sec\n" +
				"    Avg latency: 100000 usec (standard deviation 0 usec)\n    p50 latency: 100000 usec\n",
			"    Avg HTTP time: 100000 usec (send/recv 12000 usec + response wait 88000 usec)\n" +
				"Inferences/Second vs. Client Average Batch Latency\nConcurrency: 4, throughput: 0.666667 infer/sec, latency 100000 usec\n",
		}, "Pass ["},
		{"windows at a rate", func(a *Analysis) {
			a.settings.Requests, a.settings.WindowMS, a.settings.Rate, a.settings.Poisson = 0, 2000, true, true
			a.load, a.options.GRPC, a.options.Verbose, a.pass = analyzerreport.LevelLoad{Rate: true, Value: 2.5}, true, true, 2*time.Second
		}, []string{
			"  Measurement window: 2000 msec\n  Using poisson distribution on request generation\n",
			"Request Rate: 2.5 inference requests per second\n" +
				"  Pass [1] throughput: 1 infer/sec. Avg latency: 100000 usec (std 0 usec). \n  Pass [2] throughput: 0.5 infer/sec.",
			"  Pass [3] throughput: 0.5", "    Avg client overhead: 9.09%\n",
			"Avg gRPC time: 100000 usec (marshal 2000 usec + response wait 88000 usec + unmarshal 10000 usec)", "Request Rate: 2.5, throughput",
		}, "scheduled send"},
		{"a warm-up of fewer than are in flight", func(a *Analysis) { a.settings.Warmup, a.settings.Requests, a.options.Verbose = 1, 1, true }, []string{
			"  Sending 1 warmup request\n  Sending 1 benchmark request\n",
			"WARNING: The number of concurrent requests exceeds the warmup request count. Adjusting warmup concurrency to match the warmup request count.\n" +
				"Request concurrency: 1\nRequest concurrency: 4\n  Pass [1] throughput: 0.666667",
		}, "Pass [2]"},
		{"sessions", func(a *Analysis) { a.sessions = true }, []string{head}, "Request concurrency"},
		{"nothing", func(a *Analysis) { a.samples = nil }, []string{"Request concurrency: 4\n"}, "Client:"},
	} {
		a := analysisOf()
		tt.change(a)
		var b strings.Builder
		if err := a.Print(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: it lacks\n%s\nit is\n%s", tt.name, want, b.String())
			}
		}
		if strings.Contains(b.String(), tt.not) {
			t.Errorf("%s: it has %q:\n%s", tt.name, tt.not, b.String())
		}
	}
}
