package importer

import (
	"math"
	"strings"
)

// Figures are figures by metric and statistic, in the metric's unit.
type Figures map[string]map[string]float64

// Set takes a figure, unless it is no number.
func (f Figures) Set(metric, statistic string, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	if f[metric] == nil {
		f[metric] = map[string]float64{}
	}
	f[metric][statistic] = v
}

// Statistic is our word for a statistic: median is p50, mean and value are avg, p001 and the
// like are GuideLLM's. It is empty where there is none.
func Statistic(name string) string {
	switch name {
	case "mean", "avg", "average", "value":
		return "avg"
	case "median", "p50":
		return "p50"
	case "std", "std_dev", "stddev":
		return "std"
	case "min", "max":
		return name
	case "p001":
		return "p0.1"
	case "p01":
		return "p1"
	case "p05":
		return "p5"
	case "p999", "p99.9", "p99_9":
		return "p99.9"
	}
	if rest, ok := strings.CutPrefix(name, "p"); ok && rest != "" && strings.Trim(rest, "0123456789.") == "" {
		return name
	}
	return ""
}

// Figures are those of the run. Names are the metrics by the words that stand in the keys
// between a statistic and the unit, such as mean_ttft_ms; rates those by whole keys.
func (b *Bench) Figures(names, rates map[string]string) Figures {
	f := Figures{}
	for key, v := range b.Numbers {
		if id := rates[key]; id != "" {
			f.Set(id, "avg", v)
		}
		stat, rest, _ := strings.Cut(key, "_")
		name, ok := strings.CutSuffix(rest, "_ms")
		if id := names[name]; ok && id != "" && Statistic(stat) != "" {
			f.Set(id, Statistic(stat), v)
		}
	}
	ok, failed := b.Numbers["completed"], b.Numbers["failed"]
	if _, known := b.Numbers["completed"]; known {
		f.Set("request_count", "avg", ok)
	}
	if _, known := b.Numbers["failed"]; known {
		f.Set("error_rate", "avg", failed/max(ok+failed, 1))
	}
	return f
}
