//go:build linux

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// steadySamples is a load of 1,000 requests/s from second 1 to second 11, sampled
// every 100 ms, after a second of start-up and before one of reporting.
func steadySamples() []sample {
	began := time.Unix(1000, 0)
	var out []sample
	for i := range 130 {
		at := time.Duration(i) * 100 * time.Millisecond
		loaded := min(max(at-time.Second, 0), 10*time.Second)
		out = append(out, sample{
			at:      began.Add(at),
			served:  50 + int64(loaded/time.Millisecond),
			running: 8,
			server:  loaded / 2,
			client:  at * 9 / 10, // busy from start to end
			idle:    at - loaded/2,
			spare:   0, // the rest of the client's core went to others
		})
	}
	return out
}

func TestSummariseLoad(t *testing.T) {
	l, err := summariseLoad(steadySamples(), 50, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if l.requests != 10000 {
		t.Errorf("requests %d, want 10000", l.requests)
	}
	if l.rate < 999 || l.rate > 1001 {
		t.Errorf("rate %v, want 1000: start-up or reporting is in it", l.rate)
	}
	if l.cpu != 900*time.Microsecond || l.serverCPU != 500*time.Microsecond {
		t.Errorf("CPU per request %v and %v, want 900µs and 500µs", l.cpu, l.serverCPU)
	}
	if l.busy < 0.499 || l.busy > 0.501 {
		t.Errorf("busy %v, want 0.5", l.busy)
	}
	if c := l.ceiling(1); c < 1999 || c > 2001 {
		t.Errorf("ceiling %v, want 2000", c)
	}
	if l.clientNoise < 0.099 || l.clientNoise > 0.101 || l.serverNoise > 0.001 {
		t.Errorf("noise %v and %v, want 0.1 and 0: the client had 0.9 of its core and the rest was not idle", l.clientNoise, l.serverNoise)
	}
	if l.running != 8 {
		t.Errorf("running %v, want 8", l.running)
	}
}

func TestSummariseLoadRefuses(t *testing.T) {
	all := steadySamples()
	tests := []struct {
		name    string
		samples []sample
		before  int64
	}{
		{"nothing sampled", nil, 0},
		{"nothing served", all[:5], 50},
		{"all served between two samples", []sample{all[0], all[129]}, 50},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if l, err := summariseLoad(tt.samples, tt.before, 1, 1); err == nil {
				t.Errorf("got %+v, want an error", l)
			}
		})
	}
}

func TestParseCounters(t *testing.T) {
	const text = `# HELP vllm:request_success_total Count.
# TYPE vllm:request_success_total counter
vllm:request_success_total{finished_reason="length",model_name="mock"} 1200
vllm:request_success_total{finished_reason="stop",model_name="mock"} 34.0
vllm:num_requests_running{model_name="mock"} 7
vllm:num_requests_waiting{model_name="mock"} 99
`
	c, err := parseCounters(strings.NewReader(text))
	if err != nil || c != (counters{served: 1234, running: 7}) {
		t.Errorf("parseCounters = %+v, %v", c, err)
	}
	if _, err := parseCounters(strings.NewReader("up 1\n")); err == nil {
		t.Error("metrics without a request count were accepted")
	}
	if _, err := parseCounters(strings.NewReader("vllm:request_success_total{} many\n")); err == nil {
		t.Error("a count that is no number was accepted")
	}
}

func FuzzParseCounters(f *testing.F) {
	f.Add("vllm:request_success_total{a=\"b c\"} 1\n\n# x\nvllm:num_requests_running 2")
	mutate.Fuzz(f, func(t *testing.T, text string) {
		_, _ = parseCounters(strings.NewReader(text)) // it must not panic
	})
}
