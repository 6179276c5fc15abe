package console

import (
	"math"
	"slices"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/result"
)

// serviceNames are the figures that are always shown, in order, in the words of people.
func serviceNames() []struct{ name, title string } {
	return []struct{ name, title string }{
		{"requests", "Requests"},
		{"prompt_tokens", "Prompt tokens"},
		{"output_tokens", "Output tokens"},
		{"queue_length", "Requests waiting"},
		{"num_requests_running", "Requests running"},
		{"batch_size", "Batch size"},
		{"kv_cache_usage", "KV cache in use"},
		{"prefix_cache_hit_ratio", "Prefix cache hits"},
		{"num_preemptions_total", "Preemptions"},
		{"spec_decode_acceptance_rate", "Draft tokens accepted"},
		{"spec_decode_acceptance_length", "Acceptance length, tokens"},
		{"spec_decode_tokens_per_step", "Tokens per step"},
		{"request_queue_time", "Time in queue, ms"},
		{"time_to_first_token", "Time to first token, ms"},
		{"inter_token_latency", "Inter-token latency, ms"},
		{"time_per_output_token", "Time per output token, ms"},
		{"request_latency", "Request latency, ms"},
		{"gpu_utilization", "GPU busy"},
		{"gpu_memory_used", "GPU memory used, GiB"},
		{"gpu_power", "GPU power, W"},
		{"gpu_energy", "GPU energy, J"},
	}
}

// services prints what the servers' metrics say. What they do not is among the notes.
func (p *printer) services(all []result.ServerMetrics) {
	for i := range all {
		s := &all[i]
		if len(s.Figures) == 0 {
			continue
		}
		t := table{columns: []column{
			{title: "Metric", left: true, keep: mustKeep},
			{title: "total", keep: 95}, {title: "per s", keep: 60}, {title: "avg", keep: mustKeep},
			{title: "p50", keep: 70}, {title: "p90", keep: 50}, {title: "p99", keep: 80}, {title: "max", keep: 65},
		}}
		shown := serviceNames()
		for _, n := range shown {
			if f := s.Figure(n.name); f != nil {
				t.add(serviceRow(n.title, f)...)
			}
		}
		if p.all {
			for k := range s.Figures {
				f := &s.Figures[k]
				if !slices.ContainsFunc(shown, func(n struct{ name, title string }) bool { return n.name == f.Name }) {
					t.add(serviceRow(screen.Clip(screen.Clean(f.Metric), nameWidth), f)...)
				}
			}
		}
		if len(t.rows) == 0 {
			continue
		}
		p.blank()
		from := "scraped from the servers"
		if s.Source == result.SourcePrometheus {
			from = "queried from Prometheus"
		}
		p.wrapped(indent, "Server metrics, summed over all servers, warm-up included, "+from+":")
		p.table(&t)
		p.blank()
	}
}

// serviceRow is one line of the table. What was not said is empty.
func serviceRow(title string, f *result.Figure) []string {
	row := []string{title}
	for i, v := range []*float64{f.Total, f.Rate, f.Mean, f.Median, f.P90, f.P99, f.Max} {
		text := ""
		if v != nil {
			unit := f.Unit
			if f.Kind == "histogram" && i < 2 {
				unit = "" // a number of values
			}
			text = serviceValue(*v, unit)
			if i == 0 && *v == math.Trunc(*v) {
				text = number.Count(int64(*v))
			}
		}
		row = append(row, text)
	}
	if w := f.Within; w != nil {
		for i, b := range []*record.Bucket{&w.Median, &w.P90, &w.P99} {
			row[firstQuantile+i] = bucket(b, f.Unit)
		}
	}
	return row
}

// firstQuantile is the column of the median.
const firstQuantile = 4

func bucket(b *record.Bucket, unit string) string {
	if b.UpTo == nil {
		return "> " + serviceValue(b.Above, unit)
	}
	return serviceValue(b.Above, unit) + "–" + serviceValue(*b.UpTo, unit)
}

func serviceValue(v float64, unit string) string {
	switch unit {
	case "ratio":
		return number.Share(v)
	case "s":
		return number.ScaleFor("", v*1e3).Format(v * 1e3) // the row says ms
	case "bytes":
		return gibibytes(v)
	}
	return number.ScaleFor("", v).Format(v)
}
