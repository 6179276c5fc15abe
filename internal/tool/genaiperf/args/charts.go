package args

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/plan/document"
)

// Chart is a picture of one or several runs, as a config file of compare describes it.
type Chart struct {
	Title   string
	XMetric string `yaml:"x_metric"` // empty: of a box there is none
	YMetric string `yaml:"y_metric"`
	XLabel  string `yaml:"x_label"`
	YLabel  string `yaml:"y_label"`
	Width   int    // in dots
	Height  int
	Type    string   // box, heatmap or scatter
	Paths   []string `yaml:",flow"` // profile exports, or directories of runs
	Output  string   // directory
}

// The kinds of charts.
const (
	ChartBox     = "box"
	ChartHeat    = "heatmap"
	ChartScatter = "scatter"
)

// TokenPositions is the metric of where in an answer a token stands; it goes with gaps
// between tokens alone, which then are those of each response.
const (
	TokenPositions = "token_positions"
	Gaps           = "inter_token_latencies"
)

// ChartMetrics are the metrics that a chart can be of, and what they are in a summary.
// Those at the end had other names until 24.06.
func ChartMetrics() map[string]string {
	return map[string]string{
		"time_to_first_tokens": "time_to_first_token", "time_to_second_tokens": "time_to_second_token", Gaps: "inter_token_latency",
		"request_latencies": "request_latency", "output_token_throughputs_per_request": "output_token_throughput_per_request",
		"output_token_throughputs_per_user": "output_token_throughput_per_user",
		"output_sequence_lengths":           "output_sequence_length", "input_sequence_lengths": "input_sequence_length",
		"num_output_tokens": "output_sequence_length", "num_input_tokens": "input_sequence_length",
		TokenPositions: TokenPositions,
	}
}

// Stem is the name of the chart's files without their endings.
func (c *Chart) Stem() string {
	return strings.ReplaceAll(strings.Join(strings.Fields(strings.ToLower(c.Title)), "_"), "/", "_")
}

// UsualCharts are the charts that the original draws of runs unless it is told of others.
func UsualCharts(paths []string, output string) []Chart {
	width := usualWidth(paths)
	chart := func(title, kind, x, y, xLabel, yLabel string) Chart {
		return Chart{Title: title, XMetric: x, YMetric: y, XLabel: xLabel, YLabel: yLabel, Width: width, Height: usualHeight, Type: kind,
			Paths: paths, Output: output}
	}
	return []Chart{
		chart("Time to First Token", ChartBox, "", "time_to_first_tokens", "Time to First Token (ms)", ""),
		chart("Request Latency", ChartBox, "", "request_latencies", "Request Latency (ms)", ""),
		chart("Distribution of Input Sequence Lengths to Output Sequence Lengths", ChartHeat, "input_sequence_lengths", "output_sequence_lengths", "Input Sequence Length", "Output Sequence Length"),
		chart("Time to First Token vs Input Sequence Lengths", ChartScatter, "input_sequence_lengths", "time_to_first_tokens", "Input Sequence Length", "Time to First Token (ms)"),
		chart("Token-to-Token Latency vs Output Token Position", ChartScatter, TokenPositions, Gaps, "Output Token Position", "Token-to-Token Latency (ms)"),
	}
}

// The usual size of a chart, and the largest.
const (
	usualHeight = 450
	leastDots   = 100
	mostDots    = 8000
)

func usualWidth(paths []string) int {
	if len(paths) > 1 {
		return 1200
	}
	return 700
}

// ChartsText is the config file that describes charts.
func ChartsText(charts []Chart) (string, error) {
	var b strings.Builder
	for i, c := range charts {
		text, err := yaml.Marshal(map[string]Chart{fmt.Sprintf("plot%d", i+1): c})
		if err != nil {
			return "", err
		}
		b.Write(text)
	}
	return b.String(), nil
}

// readCharts reads a config file of compare. Every chart in it has a name, which says
// nothing.
func (b *builder) readCharts(name string, text []byte) {
	root, fault := document.Parse(name, text)
	if fault != nil {
		b.faults = append(b.faults, *fault)
		return
	}
	if root == nil || root.Kind != yaml.MappingNode || len(root.Content) == 0 {
		b.fault("--config", name+" describes no chart", "compare -f writes a file to start from: compare/config.yaml")
		return
	}
	pairs := root.Content
	seen := map[string]int{}
	for i := 0; i+1 < len(pairs); i += 2 {
		node := pairs[i+1]
		where := fmt.Sprintf("%s:%d: %s: ", name, pairs[i].Line, shorten(pairs[i].Value))
		c, ok := b.readChart(where, name, node)
		if !ok {
			continue
		}
		key := c.Output + "/" + c.Stem()
		if line, twice := seen[key]; twice {
			b.fault("--config", fmt.Sprintf("%sthe chart in line %d has the same title and output directory", where, line), "give one of them another title")
		}
		seen[key] = pairs[i].Line
		b.a.Charts = append(b.a.Charts, c)
	}
}

// readChart reads one chart and finds what is wrong with it.
func (b *builder) readChart(where, name string, node *yaml.Node) (Chart, bool) {
	before := len(b.faults)
	var c Chart
	if err := decodeKnown(node, &c); err != nil {
		b.fault("--config", where+err.Error(), "a chart has title, type, x_metric, y_metric, x_label, y_label, width, height, paths and output")
		return c, false
	}
	c.Type, c.Output = cmp.Or(c.Type, ChartScatter), cmp.Or(c.Output, CompareDir)
	c.Width, c.Height = cmp.Or(c.Width, usualWidth(c.Paths)), cmp.Or(c.Height, usualHeight)
	wrong := func(text, hint string) { b.fault("--config", where+text, hint) }
	kinds := []string{ChartBox, ChartHeat, ChartScatter}
	switch {
	case c.Stem() == "" || strings.Trim(c.Stem(), ".") == "":
		wrong("title is missing", "it names the file")
	case !slices.Contains(kinds, c.Type):
		wrong(fmt.Sprintf("unknown type %q", shorten(c.Type)), "one of "+strings.Join(kinds, ", "))
	case len(c.Paths) == 0:
		wrong("paths is missing", "list profile exports, or output directories of runs")
	case c.Width < leastDots || c.Height < leastDots || c.Width > mostDots || c.Height > mostDots:
		wrong(fmt.Sprintf("width and height are %d and %d pixels", c.Width, c.Height), fmt.Sprintf("choose both from %d to %d", leastDots, mostDots))
	case c.Type != ChartBox && c.XMetric == "":
		wrong("x_metric is missing", "a "+c.Type+" needs two metrics")
	case c.YMetric == "":
		wrong("y_metric is missing", "")
	case c.YMetric == TokenPositions:
		wrong("token_positions is only for x_metric", "")
	case c.XMetric == TokenPositions && c.YMetric != Gaps:
		wrong("token_positions needs y_metric "+Gaps, "")
	}
	for _, metric := range []string{c.XMetric, c.YMetric} {
		if _, known := ChartMetrics()[metric]; metric != "" && !known {
			wrong(fmt.Sprintf("unknown metric %q", shorten(metric)), suggest.Hint(metric, slices.Sorted(maps.Keys(ChartMetrics()))))
		}
	}
	return c, len(b.faults) == before
}

// decodeKnown decodes a mapping that has no other keys than the chart's.
func decodeKnown(node *yaml.Node, c *Chart) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d is not a chart", node.Line)
	}
	known := []string{"title", "x_metric", "y_metric", "x_label", "y_label", "width", "height", "type", "paths", "output"}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if key := node.Content[i]; !slices.Contains(known, key.Value) {
			return fmt.Errorf("line %d: unknown key %q", key.Line, shorten(key.Value))
		}
	}
	return node.Decode(c)
}

// CompareDir is where the charts of several runs go, and ChartsFile the file in it that describes
// them.
const (
	CompareDir = "compare"
	ChartsFile = "config.yaml"
)

func (b *builder) compare(read func(name string) ([]byte, error)) (*Action, error) {
	s := &b.a.Settings
	b.a.Command, s.Plots = Compare, true
	s.Faithful, s.Tokenizer, s.TokenizerGiven = b.given("faithful"), b.text("tokenizer", ""), true
	s.TokenizerRevision = b.text("tokenizer-revision", "")
	u, files := b.last("files")
	switch {
	case files && b.given("plot-config"):
		b.fault("--config", "cannot be combined with "+u.as, "give one of the two")
	case files:
		b.a.Charts, b.a.File = UsualCharts(u.text, CompareDir), CompareDir+"/"+ChartsFile
	case b.given("plot-config"):
		b.plotConfig(read)
	default:
		b.fault("compare", "the runs are missing", "give their profile exports with -f FILE FILE…")
	}
	b.allow("compare", "it takes -f, --config and --tokenizer", "files", "plot-config", "faithful", "tokenizer", "tokenizer-revision", "verbose", "release")
	return b.done()
}

// plotConfig takes the charts out of a file that describes them.
func (b *builder) plotConfig(read func(name string) ([]byte, error)) {
	name := b.text("plot-config", "")
	if read == nil {
		b.fault("--config", "files are not read here", "")
		return
	}
	text, err := read(name)
	if err != nil {
		b.fault("--config", err.Error(), "")
		return
	}
	b.readCharts(name, text)
}
