package args

import (
	"strings"
	"testing"
)

// What is wrong in a file of charts is told with its line.
func TestFaultsOfCharts(t *testing.T) {
	const ok = "  title: A\n  type: scatter\n  x_metric: input_sequence_lengths\n  y_metric: request_latencies\n  paths: [a.json]\n"
	for _, tt := range []struct{ text, want string }{
		{"p:\n" + strings.Replace(ok, "scatter", "pie", 1), `x.yaml:1: p: unknown type "pie" (one of box, heatmap, scatter)`},
		{"p:\n" + strings.Replace(ok, "request_latencies", "request_latency", 1), `unknown metric "request_latency" (did you mean request_latencies?)`},
		{"p:\n" + strings.Replace(ok, "  title: A\n", "", 1), "title is missing"},
		{"p:\n" + strings.Replace(ok, "[a.json]", "[]", 1), "paths is missing"},
		{"p:\n" + strings.Replace(ok, "  x_metric: input_sequence_lengths\n", "", 1), "x_metric is missing (a scatter needs two metrics)"},
		{"p:\n" + strings.Replace(ok, "  y_metric: request_latencies\n", "", 1), "y_metric is missing"},
		{"p:\n" + strings.Replace(ok, "input_sequence_lengths", "token_positions", 1), "token_positions needs y_metric inter_token_latencies"},
		{"p:\n" + ok + "  width: 9\n", "width and height are 9 and 450 pixels (choose both from 100 to 8000)"},
		{"p:\n" + ok + "  colour: red\n", `line 7: unknown key "colour"`},
		{"p:\n" + ok + "q:\n" + ok, "x.yaml:7: q: the chart in line 1 has the same title and output"},
		{"- a\n", "x.yaml describes no chart"},
		{"p: 1\n", "line 1 is not a chart"},
		{"p: [", "x.yaml:1: not valid YAML"},
	} {
		_, err := Parser{ReadFile: func(string) ([]byte, error) { return []byte(tt.text), nil }}.Parse([]string{"compare", "--config", "x.yaml"})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %s", tt.text, err, tt.want)
		}
	}
}
