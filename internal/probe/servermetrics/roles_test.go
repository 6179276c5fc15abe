package servermetrics

import (
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// Workers that share the work on a request are told apart by their labels; together they are one server.
func TestPrefillAndDecodeWorkers(t *testing.T) {
	sample := func(name, labels string, v float64, counter bool) record.Sample {
		return record.Sample{Name: name, Labels: labels, Value: v, Counter: counter}
	}
	look := func(k float64) []record.Page {
		return []record.Page{{Samples: []record.Sample{
			sample("vllm:num_requests_running", `dynamo_component="prefill",model_name="m"`, 1*k, false),
			sample("vllm:num_requests_running", `dynamo_component="decode",model_name="m"`, 4*k, false),
			sample("vllm:kv_cache_usage_perc", `dynamo_component="prefill",model_name="m"`, 0.2, false),
			sample("vllm:kv_cache_usage_perc", `dynamo_component="decode",model_name="m"`, 0.6, false),
			sample("vllm:kv_cache_usage_perc", `dynamo_component="decode",model_name="m"`, 0.7, false),
			sample("vllm:prompt_tokens_total", `dynamo_component="prefill",model_name="m"`, 100*k, true),
		}}}
	}
	l := NewLog("", "m")
	for i := range 4 {
		l.Add(i == 0 || i == 3, time.Duration(i)*time.Second, look(float64(i+1)))
	}
	mean := func(figures []record.Figure, name string) float64 {
		for _, f := range figures {
			switch {
			case f.Name == name && f.Total != nil:
				return *f.Total
			case f.Name == name && f.Mean != nil:
				return *f.Mean
			}
		}
		return -1
	}
	for name, want := range map[string]float64{Running: 12.5, KVCache: 0.5, PromptTokens: 300} {
		if got := mean(l.Figures(), name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	roles := map[string][]record.Figure{}
	for _, p := range l.Parts() {
		roles[p.Role] = p.Figures
	}
	for role, want := range map[string][3]float64{Prefill: {2.5, 0.2, 300}, Decode: {10, 0.65, -1}} {
		for i, name := range []string{Running, KVCache, PromptTokens} {
			if got := mean(roles[role], name); got < want[i]-1e-9 || got > want[i]+1e-9 {
				t.Errorf("%s of %s workers is %v, want %v", name, role, got, want[i])
			}
		}
	}
	drawn := map[string]int{}
	for _, s := range l.Series() {
		if s.Name == Running {
			drawn[s.Role] = len(s.Values)
		}
	}
	if drawn[""] != 4 || drawn[Prefill] != 4 || drawn[Decode] != 4 {
		t.Errorf("series %v", drawn)
	}
}
