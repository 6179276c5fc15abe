// Package prometheus reads servers' pages of metrics, and asks Prometheus servers that gathered
// them.
package prometheus

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/promtext"
	"github.com/inferometer/inferometer/internal/record"
)

// Parse reads a page of metrics and gives the samples whose names keep wants, in the
// order of the page. Values that are not finite are left out. An error names the line.
// The page goes to the library line by line, and only with the lines that are wanted:
// most of a page is not, and whatever else a server has on it does no harm.
func Parse(page []byte, keep func(name string) bool) ([]record.Sample, error) {
	counters := map[string]bool{}
	var samples []record.Sample
	number, reader := 0, promtext.NewReader()
	for line := range bytes.Lines(page) {
		number++
		text := string(bytes.TrimSpace(line))
		if text == "" {
			continue
		}
		if text[0] == '#' {
			if f := strings.Fields(text); len(f) == 4 && f[1] == "TYPE" {
				counters[f[2]] = f[3] == "counter"
			}
			continue
		}
		if name := text[:max(strings.IndexAny(text, "{ \t"), 0)]; promtext.IsName(name) && !keep(name) {
			continue
		}
		s, err := reader.Sample(text)
		if err != nil {
			return nil, fmt.Errorf("line %d of the metrics page: %w", number, err)
		}
		if !keep(s.Name) || math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
			continue
		}
		samples = append(samples, record.Sample{
			Name: s.Name, Labels: s.Labels, Value: s.Value,
			// Servers of the newer form name a counter's family without its suffix.
			Counter: counters[s.Name] || counters[strings.TrimSuffix(s.Name, "_total")],
		})
	}
	return samples, nil
}
