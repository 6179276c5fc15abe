package args

import (
	"strings"
	"testing"
)

// TestScalars has values in the forms in which the original takes them beside the usual one.
func TestScalars(t *testing.T) {
	for _, c := range []struct{ config, want string }{
		{"load: {num_workers: true, ", "num_workers: 1"},
		{"load: {request_retries: false, ", "request_retries: 0"},
		{"load: {interval: True, ", "interval: 1"},
		{"load: {num_workers: ' 3 ', ", "num_workers: 3"},
		{"load: {num_workers: '3.0', ", "num_workers: 3"},
		{"load: {interval: '1e1', ", "interval: 10"},
		{"data: {type: random, input_distribution: {total_count: 0}, output_distribution: {total_count: -1}}\nload: {", "total_count: -1"}, // the stages decide
		{"api: {streaming: t}\nload: {", "streaming: true"},
		{"api: {streaming: 1.0}\nload: {", "streaming: true"},
		{"api: {streaming: 0.0}\nload: {", "streaming: false"},
	} {
		a, err := parse(strings.Replace(small, "load: {", c.config, 1))
		if err != nil {
			t.Errorf("%s: %v", c.config, err)
			continue
		}
		if !strings.Contains(string(a.Config), c.want+"\n") {
			t.Errorf("%s: there is no %q in\n%s", c.config, c.want, a.Config)
		}
	}
}
