package report

import (
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

// PartialFile is the file of a stage's part of a benchmark report, 0.2.1, which others complete.
func PartialFile(stage int) string { return fmt.Sprintf("inference-perf.partial.stage_%d.yaml", stage) }

// PartialPercentiles are those that a benchmark report has.
func PartialPercentiles() []float64 {
	return []float64{0.1, 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9}
}

// Partial is a stage's part of a benchmark report. The summary's percentiles are
// PartialPercentiles. The run began at run, the stage went from from to to.
func Partial(s *dialect.Summary, stage int, run, from, to time.Time) []byte {
	const layout = "2006-01-02T15:04:05.000000Z"
	aggregate := object{
		{"requests", drop(object{
			{"total", s.Count}, {"failures", s.Failed},
			{"input_length", statistics(s.Prompt.Each, "count")}, {"output_length", statistics(outputs(s), "count")},
		})},
		{"latency", drop(object{
			{"time_to_first_token", statistics(s.TTFT, "s")}, {"normalized_time_per_output_token", statistics(s.NTPOTOfTokens, "s/token")},
			{"time_per_output_token", statistics(s.TPOT, "s/token")}, {"inter_token_latency", statistics(s.ITL, "s/token")},
			{"request_latency", statistics(s.Latency, "s")},
		})},
	}
	if s.OK > 0 && s.Seconds > 0 {
		rate := func(n int64, unit string) object {
			return object{{"units", unit}, {"mean", per(float64(n), s.Seconds)}}
		}
		aggregate.put("throughput", object{
			{"input_token_rate", rate(s.Prompt.Total, "tokens/s")}, {"output_token_rate", rate(s.Out, "tokens/s")},
			{"total_token_rate", rate(s.Prompt.Total+s.Out, "tokens/s")}, {"request_rate", rate(s.OK, "queries/s")},
		})
	}
	return appendYAML(nil, object{
		{"version", "0.2.1"},
		{"run", object{
			{"uid", fmt.Sprintf("inference-perf-stage-%d-%s", stage, identity(run, stage))},
			{"eid", "inference-perf-experiment-" + identity(run, -1)},
			{"time", object{
				{"start", quoted(from.UTC().Format(layout))}, {"end", quoted(to.UTC().Format(layout))},
				{"duration", fmt.Sprintf("PT%.3fS", to.Sub(from).Seconds())},
			}},
		}},
		{"results", object{{"request_performance", object{{"aggregate", aggregate}}}}},
	}, 0)
}

// outputs are the lengths of responses that times were divided by.
func outputs(s *dialect.Summary) *dialect.Dist {
	if s.Out == s.ServerTotal && s.Server != nil {
		return s.Server
	}
	return s.Client
}

// identity is eight letters that no other run has.
func identity(run time.Time, stage int) string {
	h := fnv.New32a()
	fmt.Fprintf(h, "%d %d", run.UnixNano(), stage)
	return fmt.Sprintf("%08x", h.Sum32())
}

// statistics is a distribution as a benchmark report has it; nil means there are no samples.
func statistics(d *dialect.Dist, unit string) object {
	if d == nil {
		return nil
	}
	o := object{{"units", unit}, {"mean", d.Mean}}
	if d.N > 1 { // of the sample, not of the population
		o.put("stddev", d.Std*math.Sqrt(float64(d.N)/float64(d.N-1)))
	}
	o.put("min", d.Min)
	for i, p := range d.Ranks {
		o.put("p"+strings.ReplaceAll(strconv.FormatFloat(p, 'g', -1, 64), ".", "p"), d.Percentiles[i])
	}
	o.put("max", d.Max)
	return o
}

// drop takes out what has no samples: a merge must not overwrite what others know.
func drop(o object) object {
	var out object
	for _, f := range o {
		if inner, ok := f.value.(object); !ok || inner != nil {
			out = append(out, f)
		}
	}
	return out
}

// quoted is a text that YAML would take for something else.
type quoted string

func appendYAML(dst []byte, o object, indent int) []byte {
	for _, f := range o {
		dst = append(dst, strings.Repeat("  ", indent)...)
		dst = append(append(dst, f.name...), ':')
		switch v := f.value.(type) {
		case object:
			if len(v) > 0 {
				dst = appendYAML(append(dst, '\n'), v, indent+1)
				continue
			}
			dst = append(dst, " {}"...)
		case quoted:
			dst = append(dst, " '"+string(v)+"'"...)
		case string:
			dst = append(dst, " "+v...)
		default:
			dst = appendJSON(append(dst, ' '), v, 0)
		}
		dst = append(dst, '\n')
	}
	return dst
}
