package genaiperf

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"inferometer/internal/dialect/genaiperf"
)

// CSV writes the CSV file of the release.
func CSV(w io.Writer, s *genaiperf.Summary, o Options) error {
	lines := earlyCSV(s)
	if s.Release == genaiperf.Latest {
		lines = latestCSV(s, o)
	}
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

// JSON writes the JSON file of the latest release. Config is what it repeats of the
// command line, as JSON whose lines after the first are indented by two.
func JSON(w io.Writer, s *genaiperf.Summary, config string) error {
	var b strings.Builder
	b.WriteString("{\n")
	for i := range s.Stats {
		st := &s.Stats[i]
		fmt.Fprintf(&b, "  %q: {\n    \"unit\": %q,\n    \"avg\": %s", st.Name, unit(st.Name), python(scaled(st.Name, st.Avg)))
		if !st.System {
			for _, p := range genaiperf.Percentiles() {
				fmt.Fprintf(&b, ",\n    \"p%d\": %s", p, python(scaled(st.Name, st.Percentile(p))))
			}
			fmt.Fprintf(&b, ",\n    \"min\": %s,\n    \"max\": %s,\n    \"std\": %s",
				python(scaled(st.Name, st.Min)), python(scaled(st.Name, st.Max)), python(scaled(st.Name, st.Std)))
		}
		b.WriteString("\n  },\n")
	}
	b.WriteString(`  "input_config": ` + config + "\n}")
	_, err := io.WriteString(w, b.String())
	return err
}

// unit is what the JSON file calls a metric's unit.
func unit(metric string) string {
	switch {
	case isTime(metric):
		return "ms"
	case metric == genaiperf.RequestThroughput || metric == genaiperf.RequestGoodput:
		return "requests/sec"
	case metric == genaiperf.RequestCount:
		return "count"
	case metric == genaiperf.OutputThroughput:
		return "tokens/sec"
	case metric == genaiperf.OutputThroughputUser:
		return "tokens/sec/user"
	default:
		return "tokens"
	}
}

// python is a number as Python writes it: shortest, with a fraction or an exponent.
func python(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "null" // JSON has no word for it
	}
	const least, most = 1e-4, 1e16 // beyond these it takes an exponent
	if a := math.Abs(v); a != 0 && (a < least || a >= most) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
