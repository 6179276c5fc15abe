package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/record"
)

// PrometheusSummaryFile is the name of the report of what the servers say of a run.
const PrometheusSummaryFile = "summary_prometheus_metrics.json"

// PrometheusStageFile is the name of the report of what the servers say of a stage.
func PrometheusStageFile(stage int) string {
	return fmt.Sprintf("stage_%d_prometheus_metrics.json", stage)
}

// MetricSeries is how a metric of the servers went over time.
type MetricSeries struct {
	Name   string
	Points [][2]float64 // seconds since the start of the run, value
}

// ServerMetrics is what the servers' own metrics say of a stretch of time.
type ServerMetrics struct {
	Seconds float64 // how long it was
	Figures []record.Figure
	Series  []MetricSeries
	// Faithful: as the original, with 0 for what is not known, and tokens per second as the mean
	// length.
	Faithful bool
}

// Prometheus is the report of the servers' own metrics. What no server says is null.
func Prometheus(s *ServerMetrics) []byte {
	time := s.Seconds
	if s.Faithful {
		time = 0
	}
	o := object{
		{"benchmark_time_seconds", time},
		{"load_summary", object{}},
		{"successes", s.successes()},
		{"failures", object{}},
	}
	if len(s.Series) > 0 && !s.Faithful {
		series := object{}
		for _, one := range s.Series {
			points := list{}
			for _, p := range one.Points {
				points = append(points, list{p[0], p[1]})
			}
			series.put(one.Name, points)
		}
		o.put("series", series)
	}
	return appendJSON(nil, o, 0)
}

func (s *ServerMetrics) successes() object {
	o := object{
		{"count", s.total("requests")},
		{"rate", s.known(s.figure("requests").Rate)},
		{"prompt_len", s.length("prompt_tokens")},
		{"output_len", s.length("output_tokens")},
		{"queue_len", s.mean("queue_length")},
		{"request_latency", s.spread("request_latency")},
		{"time_to_first_token", s.spread("time_to_first_token")},
		{"time_per_output_token", s.spread("time_per_output_token")},
		{"kv_cache_usage_percentage", s.spread("kv_cache_usage")},
		{"num_requests_swapped", s.mean("num_requests_swapped")},
		{"num_preemptions_total", object{{"mean", s.total("num_preemptions_total")}}},
		{"prefix_cache_hit_percent", s.percent("prefix_cache_hits", "prefix_cache_queries")},
		{"inter_token_latency", s.spread("inter_token_latency")},
		{"num_requests_running", s.mean("num_requests_running")},
	}
	for _, name := range []string{
		"request_queue_time", "request_inference_time", "request_prefill_time", "request_decode_time", "request_prompt_tokens",
		"request_generation_tokens", "request_max_num_generation_tokens", "request_params_n", "request_params_max_tokens",
	} {
		o.put(name, s.spread(name))
	}
	o = append(o, object{
		{"request_success_count", s.total("request_success_count")},
		{"iteration_tokens", s.spread("iteration_tokens")},
		{"prompt_tokens_cached", s.total("prompt_tokens_cached")},
		{"external_prefix_cache_hit_percent", s.percent("external_prefix_cache_hits", "external_prefix_cache_queries")},
		{"mm_cache_hit_percent", s.percent("mm_cache_hits", "mm_cache_queries")},
		{"corrupted_requests", s.total("corrupted_requests")},
	}...)
	for _, name := range []string{
		"request_prefill_kv_computed_tokens", "kv_block_idle_before_evict", "kv_block_lifetime", "kv_block_reuse_gap",
	} {
		o.put(name, s.spread(name))
	}
	for i := range s.Figures { // what the original has no name for
		if f := &s.Figures[i]; strings.HasPrefix(f.Name, "gpu_") && !s.Faithful {
			o.put(f.Name, s.spread(f.Name))
		}
	}
	return o
}

// figure finds a figure by its name; one that says nothing where there is none.
func (s *ServerMetrics) figure(name string) *record.Figure {
	if i := slices.IndexFunc(s.Figures, func(f record.Figure) bool { return f.Name == name }); i >= 0 {
		return &s.Figures[i]
	}
	return new(record.Figure)
}

// known is a number, or the text for a missing one.
func (s *ServerMetrics) known(v *float64) *float64 {
	if v == nil && s.Faithful {
		return new(0.0)
	}
	return v
}

func (s *ServerMetrics) total(name string) *float64 { return s.known(s.figure(name).Total) }

func (s *ServerMetrics) mean(name string) object {
	return object{{"mean", s.known(s.figure(name).Mean)}}
}

func (s *ServerMetrics) spread(name string) object {
	f := s.figure(name)
	return object{{"mean", s.known(f.Mean)}, {"median", s.known(f.Median)}, {"p90", s.known(f.P90)}, {"p99", s.known(f.P99)}}
}

// length is the mean length in tokens, and the tokens per second.
func (s *ServerMetrics) length(name string) object {
	mean, rate := quotient(s.figure(name), s.figure("requests"), 1), s.figure(name).Rate
	if s.Faithful {
		mean = rate
	}
	return object{{"mean", s.known(mean)}, {"rate", s.known(rate)}}
}

func (s *ServerMetrics) percent(hits, queries string) object {
	return object{{"mean", s.known(quotient(s.figure(hits), s.figure(queries), 100))}}
}

// quotient is one total over another, times a factor; nil means it cannot be known.
func quotient(a, b *record.Figure, factor float64) *float64 {
	if a.Total == nil || b.Total == nil || *b.Total <= 0 {
		return nil
	}
	return new(factor * *a.Total / *b.Total)
}
