package report

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
)

// CSV writes the CSV file of the release.
func CSV(w io.Writer, s *dialect.Summary, o Options) error {
	lines := earlyCSV(s, o)
	if !s.Release.Early() {
		lines = laterCSV(s, o)
	}
	lines = append(lines, gpuCSV(o.Telemetry, s.Release)...)
	out := csv.NewWriter(w)
	out.UseCRLF = true
	for _, line := range lines {
		if line == nil { // an empty line has no fields at all
			out.Flush()
			if _, err := io.WriteString(w, "\r\n"); err != nil {
				return err
			}
			continue
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// JSON writes the JSON file, which all releases after 24.04 have here. Config is what it repeats of the
// command line, as JSON whose lines after the first are indented by two. Sessions are
// the figures of each conversation; there may be none.
func JSON(w io.Writer, s *dialect.Summary, config string, sessions []dialect.Session, gpus dialect.Telemetry) error {
	var b strings.Builder
	b.WriteString("{\n")
	writeStats(&b, s, "  ")
	gpuJSON(&b, gpus, s.Release)
	b.WriteString(`  "input_config": ` + config)
	before := ",\n  \"sessions\": {"
	for _, session := range sessions {
		b.WriteString(before)
		before = ","
		var one strings.Builder
		writeStats(&one, session.Summary, "      ")
		quoted, err := json.Marshal(session.Name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "\n    %s: {\n%s\n    }", quoted, strings.TrimSuffix(one.String(), ",\n"))
	}
	if len(sessions) > 0 {
		b.WriteString("\n  }")
	}
	b.WriteString("\n}")
	_, err := io.WriteString(w, b.String())
	return err
}

// writeStats writes every metric as a member of an object, with a comma behind.
func writeStats(b *strings.Builder, s *dialect.Summary, indent string) {
	for i := range s.Stats {
		st := &s.Stats[i]
		if !s.Release.Has(st.Name) {
			continue
		}
		line := func(name, value string) { fmt.Fprintf(b, ",\n%s  %q: %s", indent, name, value) }
		put := func(name string, v float64) { line(name, number.PythonJSON(scaled(st.Name, v))) }
		fmt.Fprintf(b, "%s%q: {\n%s  \"unit\": %q", indent, st.Name, indent, unit(st.Name))
		put("avg", st.Avg)
		if !st.System {
			for _, p := range s.Release.Percentiles() {
				put(fmt.Sprintf("p%d", p), st.Percentile(p))
			}
			put("min", st.Min)
			put("max", st.Max)
			put("std", st.Std)
		}
		fmt.Fprintf(b, "\n%s},\n", indent)
	}
}

// unit is what the JSON file calls a metric's unit.
func unit(metric string) string {
	if isTime(metric) {
		return "ms"
	}
	return cmp.Or(map[string]string{
		dialect.RequestThroughput: "requests/sec", dialect.RequestGoodput: "requests/sec", dialect.RequestCount: "count", dialect.ImageThroughput: "pages/sec",
		dialect.OutputThroughput: "tokens/sec", dialect.OutputThroughputRequest: "tokens/sec", dialect.OutputThroughputUser: "tokens/sec/user",
	}[metric], "tokens")
}
