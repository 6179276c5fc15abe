package report

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The integers behind the levels of the published example: every printed digit follows
// from them and from the means.
const (
	requests     = 1376
	inputTokens  = 400_817
	outputTokens = 190
)

func TestFormulasFitThePublishedDigits(t *testing.T) {
	for _, c := range []struct {
		concurrency                        int
		latency, throughput, input, output float64
	}{
		{1, 0.03720159222220266, 23.4745319777834, 7830.079494413578, 3.7117065991177514},
		{4, 0.12141682415507561, 32.68018036492472, 2399.1026486293395, 1.137250923088528},
		{8, 0.23423528549976128, 33.87773848529009, 1243.584730614387, 0.589498695955345},
	} {
		l := LevelReport{
			Concurrency: c.concurrency, Payloads: requests, Results: requests, InputTokens: inputTokens, OutputTokens: outputTokens,
			Latency: Mean{Avg: c.latency}, Wall: requests / c.throughput,
		}
		for name, pair := range map[string][2]float64{
			"input": {l.InputRate(), c.input}, "output": {l.OutputRate(), c.output}, "throughput": {l.Throughput(), c.throughput},
		} {
			if math.Abs(pair[0]/pair[1]-1) > 1e-14 {
				t.Errorf("concurrency %d: %s is %v, printed was %v", c.concurrency, name, pair[0], pair[1])
			}
		}
		// Requests in flight are never more than were let through.
		if in := l.Latency.Avg * l.Throughput(); in > float64(c.concurrency) {
			t.Errorf("concurrency %d: %v in flight", c.concurrency, in)
		}
	}
}

func TestWrite(t *testing.T) {
	var b strings.Builder
	if err := WriteHeader(&b, "localhost:9001", "grpc", "ensemble"); err != nil {
		t.Fatal(err)
	}
	l := LevelReport{
		Concurrency: 4, Payloads: 10, Results: 8, InputTokens: 400, OutputTokens: 80,
		Latency: Mean{Avg: 0.5, P99: 0.75}, TTFT: Mean{Avg: 0.25, P99: 0.00001}, Wall: 2,
	}
	if err := Write(&b, &l); err != nil {
		t.Fatal(err)
	}
	want := `triton_url: localhost:9001, protocol: grpc, model: ensemble
------------------------------------------------------------
Request concurrency: 4
average_input_token_per_sec: 100.0
average_output_token_per_sec: 20.0
average_ttft: 0.25
average_latency: 0.5
p99_ttft: 1e-05
p99_latency: 0.75
payload and results: 10 8
throughput: 4.0 infer/sec. 
aggregate_input_token_per_sec: 200.0 (all streams together)
aggregate_output_token_per_sec: 40.0 (all streams together)
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestNothingWasAnswered(t *testing.T) {
	l := LevelReport{Concurrency: 1, Payloads: 3}
	if l.InputRate() != 0 || l.OutputRate() != 0 || l.Throughput() != 0 {
		t.Errorf("rates of nothing: %v %v %v", l.InputRate(), l.OutputRate(), l.Throughput())
	}
}
