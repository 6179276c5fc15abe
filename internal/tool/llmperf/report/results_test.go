package report

import (
	"strings"
	"testing"
)

// The keys of the file stand in the order in which the original writes them.
func TestOrderOfResults(t *testing.T) {
	levels := []LevelReport{{Concurrency: 4, Payloads: 2, Results: 2, InputTokens: 8, OutputTokens: 4, Latency: Mean{Avg: 0.5, P99: 0.75},
		TTFT: Mean{Avg: 0.25, P99: 0.5}, Wall: 2}}
	var b strings.Builder
	if err := WriteResults(&b, levels, func(int) ([]Request, error) { return []Request{{Text: "a"}}, nil }); err != nil {
		t.Fatal(err)
	}
	const want = `{"4": {"concurrency":4,"client_requests":2,"throughput":1,` +
		`"perf_results":[{"output_text":"a","ttft":0,"e2e_latency":0,"input_tokens":0,"output_tokens":0}],` +
		`"metrics":{"average_input_token_per_sec":8,"average_output_token_per_sec":4,"average_ttft":0.25,"average_latency":0.5,"p99_ttft":0.5,"p99_latency":0.75}}}`
	if b.String() != want {
		t.Errorf("got  %s\nwant %s", b.String(), want)
	}
}
