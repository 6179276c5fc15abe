package report

import (
	"strings"
	"testing"
	"time"
)

func TestAnalyzed(t *testing.T) {
	const ms = time.Millisecond
	a := Analyzed{
		Service: "OPENAI", Steps: 100, Warmup: 5, Requests: 3, Concurrency: 4, Took: 2 * time.Second,
		Latencies: []time.Duration{30 * ms, 10 * ms, 20 * ms}, Request: 66 * ms, Send: 3 * ms, Receive: 33 * ms,
	}
	for _, tt := range []struct {
		name   string
		change func(*Analyzed)
		want   []string
	}{
		{"a number of requests", func(*Analyzed) {}, []string{
			" Successfully read data for 1 stream/streams with 100 step/steps.\n*** Measurement Settings ***\n  Service Kind: OPENAI\n  Sending 5 warmup requests\n  Sending 3 benchmark requests\n  Using asynchronous calls for inference\n\nRequest concurrency: 4\nRequest concurrency: 4\n  Client: \n    Request count: 3\n",
			"    Throughput: 1.5 infer/sec\n    Avg latency: 20000 usec (standard deviation 10000 usec)\n    p50 latency: 20000 usec\n    p90 latency: 30000 usec\n",
			"    Avg HTTP time: 22000 usec (send/recv 12000 usec + response wait 10000 usec)\nInferences/Second vs. Client Average Batch Latency\nConcurrency: 4, throughput: 1.5 infer/sec, latency 20000 usec\n",
		}},
		{"windows at a rate", func(a *Analyzed) { a.Requests, a.Window, a.Rate, a.Poisson, a.GRPC = 0, time.Second, 2.5, true, true }, []string{
			"  Measurement window: 1000 msec\n  Using poisson distribution on request generation\n", "Request Rate: 2.5 inference requests per second\n", "Avg gRPC time: 22000 usec", "Request Rate: 2.5, throughput",
		}},
		{"a warm-up of fewer than are in flight", func(a *Analyzed) { a.Warmup, a.Requests = 1, 1 }, []string{
			"  Sending 1 warmup request\n  Sending 1 benchmark request\n",
			"WARNING: The number of concurrent requests exceeds the warmup request count. Adjusting warmup concurrency to match the warmup request count.\nRequest concurrency: 1\nRequest concurrency: 4\n",
		}},
		{"nothing", func(a *Analyzed) { a.Latencies = nil }, []string{"Request count: 0\n"}},
	} {
		one := a
		tt.change(&one)
		var b strings.Builder
		if err := one.Print(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: it lacks\n%s\nit is\n%s", tt.name, want, b.String())
			}
		}
	}

	a.Sessions = true
	var b strings.Builder
	if err := a.Print(&b); err != nil || !strings.HasSuffix(b.String(), "  Using asynchronous calls for inference\n\n") {
		t.Errorf("sessions: it is\n%s%v, want it to end behind its settings", b.String(), err)
	}
}
