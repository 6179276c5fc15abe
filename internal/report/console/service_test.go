package console

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

func TestServices(t *testing.T) {
	v := func(x float64) *float64 { return &x }
	r := &result.Result{Stages: []result.Stage{{Services: []result.ServerMetrics{{
		Source: result.SourcePrometheus,
		Figures: []result.Figure{
			{Name: "requests", Metric: "vllm:request_success", Kind: "counter", Total: v(1234), Rate: v(12.34)},
			{Name: "kv_cache_usage", Metric: "vllm:kv_cache_usage_perc", Kind: "gauge", Unit: "ratio", Mean: v(0.25), Max: v(0.5)},
			{Name: "time_to_first_token", Metric: "m", Kind: "histogram", Unit: "s", Total: v(1234), Mean: v(0.0205), P99: v(0.031)},
			{Name: "request_queue_time", Metric: "m", Kind: "histogram", Unit: "s", Total: v(9), Mean: v(0.0004),
				Within: &record.QuantileBounds{Median: record.Bucket{UpTo: v(0.3)}, P90: record.Bucket{Above: 0.3, UpTo: v(0.5)},
					P99: record.Bucket{Above: 2.5}}},
			{Name: "inter_token_latency", Metric: "m", Kind: "histogram", Unit: "s", Total: v(5), Mean: v(0.00002), P99: v(12)},
			{Name: "gpu_memory_used", Metric: "m", Kind: "gauge", Unit: "bytes", Mean: v(3 << 30)},
			{Name: "prompt_tokens_cached", Metric: "vllm:prompt_tokens_cached", Kind: "counter", Total: v(7)},
		},
	}}}}}
	for _, all := range []bool{false, true} {
		var b strings.Builder
		if err := Write(&b, r, Options{Width: 100, All: all}); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(b.String()), " ")
		for _, want := range []string{
			"queried from Prometheus:", "Requests 1,234 12.34", "KV cache in use 25 % 50 %", "Time to first token, ms 1,234 20.50 31.00", "GPU memory used, GiB 3.0",
			"Inter-token latency, ms 5 0.0200 12,000", // in the unit that the row names, whatever the size
			"Time in queue, ms 9 0.400 0.00–300.0 300.0–500.0 > 2,500",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("all %v: no %q in\n%s", all, want, b.String())
			}
		}
		if strings.Contains(text, "vllm:prompt_tokens_cached 7") != all {
			t.Errorf("all %v: %s", all, b.String())
		}
		if strings.Contains(text, "Preemptions") {
			t.Error("what nobody said is shown")
		}
	}
}
