package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
)

// gpuName is a metric's name for people.
func gpuName(m *dialect.GPUMetric) string {
	name := capitals(strings.Split(m.Name, "_"))
	return fmt.Sprintf("%s (%s)", strings.ReplaceAll(name, "Gpu", "GPU"), m.Unit)
}

// gpuTables prints the figures of the GPUs: a table for each group, and in it one for
// each metric.
func gpuTables(b *strings.Builder, t dialect.Telemetry, width int) {
	const frame = 4 // bars and padding around the inner tables
	for _, group := range []struct {
		name    string
		metrics []string
	}{
		{"Power", []string{"gpu_power_usage", "gpu_power_limit", "energy_consumption"}},
		{"Memory", []string{"gpu_memory_used", "total_gpu_memory"}},
		{"Utilization", []string{"gpu_utilization"}},
	} {
		var lines []string
		widest := 0
		for _, name := range group.metrics {
			m := t.Find(name)
			if m == nil {
				continue
			}
			var inner strings.Builder
			gpuTable(m).write(&inner, width-frame)
			for line := range strings.SplitSeq(strings.TrimSuffix(inner.String(), "\n"), "\n") {
				lines = append(lines, line)
				widest = max(widest, screen.Width(line))
			}
		}
		if lines == nil {
			continue
		}
		centre(b, "NVIDIA GenAI-Perf | "+group.name+" Metrics", widest+frame)
		widths := []int{widest + padding}
		rule(b, widths, "┏━┳┓")
		fmt.Fprintf(b, "┃ %s ┃\n", spaces(widest))
		rule(b, widths, "┡━╇┩")
		for _, line := range lines {
			fmt.Fprintf(b, "│ %s%s │\n", line, spaces(widest-screen.Width(line)))
		}
		rule(b, widths, "└─┴┘")
	}
}

func gpuTable(m *dialect.GPUMetric) *table {
	cols := columns(99, 90, 75)
	t := &table{title: gpuName(m), header: names("GPU Index", cols), firm: true}
	for _, g := range m.GPUs {
		line := []string{g.ID}
		for i, c := range cols {
			switch v := c.of(&g.Stat); {
			case (m.Constant || m.Merged) && i > 0:
				line = append(line, absent)
			case m.Name == "gpu_utilization":
				line = append(line, fmt.Sprintf("%.0f", math.RoundToEven(v)))
			default:
				line = append(line, group(fmt.Sprintf("%.2f", v)))
			}
		}
		t.rows = append(t.rows, line)
	}
	return t
}

// gpuCSV are the blocks of the CSV file about GPUs: what changes, and what does not.
func gpuCSV(t dialect.Telemetry, release dialect.Release) [][]string {
	if len(t) == 0 {
		return nil
	}
	cols := fileColumns(release)
	lines := [][]string{nil, append([]string{"Metric"}, names("GPU", cols)...)}
	constant := [][]string{nil, {"Metric", "GPU", "Value"}}
	for i := range t {
		m := &t[i]
		for _, g := range m.GPUs {
			if m.Constant {
				constant = append(constant, []string{gpuName(m), g.ID, fmt.Sprintf("%.2f", g.Stat.Avg)})
				continue
			}
			line := []string{gpuName(m), g.ID}
			for i, c := range cols {
				if m.Merged && i > 0 {
					line = append(line, absent)
					continue
				}
				line = append(line, group(fmt.Sprintf("%.2f", c.of(&g.Stat))))
			}
			lines = append(lines, line)
		}
	}
	return append(lines, constant...)
}

// gpuJSON writes the member of the JSON file about GPUs, with a comma behind.
func gpuJSON(b *strings.Builder, t dialect.Telemetry, release dialect.Release) {
	if len(t) == 0 {
		return
	}
	b.WriteString("  \"telemetry_stats\": {")
	for i, m := range t {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(b, "\n    %q: {\n      \"unit\": %q", m.Name, m.Unit)
		for _, g := range m.GPUs {
			fmt.Fprintf(b, ",\n      %q: {\n        \"avg\": %s", g.ID, number.PythonJSON(g.Stat.Avg))
			if !m.Constant && !m.Merged {
				for _, p := range release.Percentiles() {
					fmt.Fprintf(b, ",\n        \"p%d\": %s", p, number.PythonJSON(g.Stat.Percentile(p)))
				}
				fmt.Fprintf(b, ",\n        \"min\": %s,\n        \"max\": %s,\n        \"std\": %s", number.PythonJSON(g.Stat.Min), number.PythonJSON(g.Stat.Max), number.PythonJSON(g.Stat.Std))
			}
			b.WriteString("\n      }")
		}
		b.WriteString("\n    }")
	}
	b.WriteString("\n  },\n")
}
