package planfile

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
)

func TestProbes(t *testing.T) {
	const stage = "stages: [{concurrency: 1, duration: 1s}]\n"
	p, err := load("p.yaml", []byte(stage+"target: {urls: 'grpc://h:8001', model: m}\nprobes: {metrics: 'http://u:pw@h:8002/metrics', interval: 250ms}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if !p.TakesStatistics() {
		t.Error("the statistics of a Triton are taken unless told otherwise")
	}
	text, err := Encode(p)
	if err != nil || strings.Contains(string(text), "pw") || !strings.Contains(string(text), "http://h:8002/metrics") {
		t.Errorf("printed as %s, %v", text, err)
	}
	p.Probes.Statistics = plan.StatisticsOff
	if p.TakesStatistics() {
		t.Error("statistics are off")
	}
	if d := plan.Default(); d.TakesStatistics() {
		t.Error("OpenAI has no statistics")
	}
	for _, c := range []struct{ text, want string }{
		{"target: {urls: 'http://h'}\nprobes: {statistics: on}", "probes.statistics: only Triton has them"},
		{"target: {urls: 'http://h'}\nprobes: {metrics: 'http://h:8002/metrics'}", "probes.metrics: only Triton has them"},
		{"target: {urls: 'grpc://h'}\nprobes: {statistics: sometimes}", `probes.statistics: unknown value "sometimes"`},
		{"target: {urls: 'grpc://h'}\nprobes: {metrics: 'grpc://h'}", "probes.metrics: is a gRPC address"},
		{"target: {urls: 'grpc://h'}\nprobes: {metrics: 'h'}", "probes.metrics: has no scheme"},
		{"target: {urls: 'grpc://h'}\nprobes: {interval: 1ms}", "less than 10ms"},
	} {
		_, err := load("p.yaml", []byte(stage+c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q gives %v, want %q", c.text, err, c.want)
		}
	}
}
