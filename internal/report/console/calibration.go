package console

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/result"
)

// calibration prints the error bars that were found on the mock ahead of the run.
func (p *printer) calibration(c *result.Calibration) {
	if c == nil {
		return
	}
	p.blank()
	p.line(p.style.Bold("Calibration") + ": the built-in mock, measured on this host before the run")
	var bars []string
	for _, b := range c.Bars {
		if p.all && b.Unit == "ms" || slices.Contains(calibrated(), b.Metric) {
			bars = append(bars, b.Name+" ±"+number.Value(b.Error, b.Unit))
		}
	}
	p.paragraph("Error bars", strings.Join(bars, ", "))
	p.paragraph("Load", fmt.Sprintf("%s: %s, %s. This run: %s.", c.Load, held(c.Rate, c.InFlight, c.Events), strings.ToUpper(c.Verdict), held(c.Run.Rate, c.Run.InFlight, c.Run.Events)))
}

// calibrated are the metrics whose error bars are printed; --all prints those of all times.
func calibrated() []string {
	return []string{"time_to_first_token", "inter_token_latency", "request_latency", "request_throughput", "output_token_throughput"}
}

func held(rate, inFlight, events float64) string {
	return fmt.Sprintf("%s, %s in flight, %s events/s", number.Value(rate, "requests/sec"), number.Value(inFlight, "requests"), number.Value(events, ""))
}
