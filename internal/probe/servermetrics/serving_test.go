package servermetrics

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

func sample(name, labels string, v float64) record.Sample {
	return record.Sample{Name: name, Labels: labels, Value: v}
}

// at is a page of samples at a second of the run.
func at(second int, samples ...record.Sample) record.Page {
	return record.Page{At: time.Duration(second) * time.Second, Samples: samples}
}

// logOf is a log of looks at pages, a second apart; the first and the last are edges.
func logOf(looks ...[]record.Page) *PageLog {
	l := NewLog("", "m")
	for i, pages := range looks {
		l.Add(i == 0 || i == len(looks)-1, time.Duration(i)*time.Second, pages)
	}
	return l
}

func find(figures []record.Figure, name string) *record.Figure {
	for i := range figures {
		if figures[i].Name == name {
			return &figures[i]
		}
	}
	return nil
}

func isAbout(got *float64, want float64) bool { return got != nil && math.Abs(*got-want) < 1e-9 }

const model, other = `engine="0",model_name="m"`, `engine="0",model_name="n"`

// vllmPage is what a replica says that has answered n requests, each in 0.5 s, with so
// many running.
func vllmPage(second int, n, running float64) record.Page {
	const h = "vllm:e2e_request_latency_seconds"
	return at(second,
		sample("vllm:request_success_total", model+`,finished_reason="stop"`, n-1), sample("vllm:request_success_total", model+`,finished_reason="length"`, 1),
		sample("vllm:request_success_total", other, 1000*n),
		sample("vllm:num_requests_running", model, running), sample("vllm:gpu_cache_usage_perc", model, running/10),
		sample("vllm:prefix_cache_hits", model, n), sample("vllm:prefix_cache_queries", model, 4*n),
		sample(h+"_bucket", model+`,le="0.4"`, 0), sample(h+"_bucket", model+`,le="0.8"`, n), sample(h+"_bucket", model+`,le="+Inf"`, n),
		sample(h+"_sum", model, 0.5*n), sample(h+"_count", model, n),
	)
}

// differs: ip-gauges
func TestFiguresOfReplicas(t *testing.T) {
	l := logOf(
		[]record.Page{vllmPage(0, 10, 0), vllmPage(0, 5, 0)},
		[]record.Page{vllmPage(1, 14, 2), vllmPage(1, 9, 4)},
		[]record.Page{vllmPage(2, 18, 4), {Error: "gone"}},
		[]record.Page{vllmPage(3, 22, 4), vllmPage(3, 12, 2)},
		[]record.Page{vllmPage(4, 30, 0), vllmPage(4, 15, 0)},
	)
	all := l.Figures()
	if f := find(all, Requests); f == nil || !isAbout(f.Total, 30) || !isAbout(f.Rate, 7.5) {
		t.Errorf("requests of the model %+v, want 30", f)
	}
	// At second 2 one replica said nothing: the sum is not known. The edges are idle.
	if f := find(all, Running); f == nil || !isAbout(f.Mean, 6) || !isAbout(f.Min, 6) || !isAbout(f.Max, 6) {
		t.Errorf("running %+v, want 6", f)
	}
	if f := find(all, KVCache); f == nil || !isAbout(f.Mean, 0.3) || f.Metric != "vllm:gpu_cache_usage_perc" {
		t.Errorf("cache %+v, want 0.3 of each", f)
	}
	if f := find(all, PrefixHitRatio); f == nil || !isAbout(f.Mean, 0.25) {
		t.Errorf("hits %+v", f)
	}
	if f := find(all, RequestLatency); f == nil || !isAbout(f.Total, 30) || !isAbout(f.Mean, 0.5) || f.Median != nil || f.Within == nil ||
		!isAbout(&f.Within.Median.Evenly, 0.6) || !isAbout(&f.Within.P99.Evenly, 0.796) || f.Max != nil {
		t.Errorf("latency %+v", f)
	}
	for _, missing := range []string{Queue, Preemptions, TimeToFirst, GPUPower} {
		if f := find(all, missing); f != nil {
			t.Errorf("%s was not said and is %+v", missing, f)
		}
	}
	parts := l.Parts()
	if len(parts) != 2 || parts[1].Page != 1 || !isAbout(find(parts[1].Figures, Requests).Total, 10) {
		t.Errorf("parts %+v", parts)
	}
	if f := l.Faults([]string{"one", "two"}); len(f) != 1 || f[0] != "two: gone (1 of 5 reads failed)" {
		t.Errorf("faults %q", f)
	}
	for _, s := range l.Series() {
		if s.Name == Requests && (len(s.Values) != 3 || s.Values[0] != 8 || s.At[1] != 3*time.Second || s.Values[1] != 5.5) {
			t.Errorf("series of requests %+v", s)
		}
	}
}

func TestRestart(t *testing.T) {
	l := logOf([]record.Page{vllmPage(0, 10, 0)}, []record.Page{vllmPage(1, 16, 1)}, []record.Page{vllmPage(2, 3, 1)},
		[]record.Page{vllmPage(3, 7, 0)})
	all := l.Figures()
	if f := find(all, Requests); !isAbout(f.Total, 6+7) {
		t.Errorf("requests %v, want 6 before and 7 after", *f.Total)
	}
	if f := find(all, RequestLatency); !isAbout(f.Total, 7) {
		t.Errorf("latencies %v, want those since", *f.Total)
	}
	if f := l.Faults(nil); len(f) != 1 || !strings.Contains(f[0], "page 1: the server restarted: vllm:request_success went from 16 back to 3") {
		t.Errorf("faults %q", f)
	}
}

func TestJoin(t *testing.T) {
	first := logOf([]record.Page{vllmPage(0, 10, 0)}, []record.Page{vllmPage(1, 12, 2)}, []record.Page{vllmPage(2, 20, 0)})
	second := NewLog("", "m")
	for i, p := range []record.Page{vllmPage(5, 20, 0), vllmPage(6, 30, 6), vllmPage(7, 35, 0)} {
		second.Add(i != 1, p.At, []record.Page{p})
	}
	whole := Join([]*PageLog{first, nil, second})
	begin, end := whole.Window()
	all := whole.Figures()
	if begin != 0 || end != 7*time.Second || whole.Looks() != 6 || !isAbout(find(all, Requests).Total, 25) ||
		!isAbout(find(all, Running).Mean, 4) || !isAbout(find(all, RequestLatency).Total, 25) {
		t.Errorf("%v to %v: %+v", begin, end, all)
	}
	if Join(nil).Looks() != 0 {
		t.Error("nothing has looks")
	}
}

func TestGPUs(t *testing.T) {
	exporter := func(energy float64) record.Page {
		var s []record.Sample
		for i, id := range []string{`UUID="GPU-a",gpu="0"`, `UUID="GPU-b",gpu="1"`} {
			k := float64(i + 1)
			s = append(s, sample("DCGM_FI_DEV_GPU_UTIL", id, 40*k), sample("DCGM_FI_DEV_FB_USED", id, 1024*k),
				sample("DCGM_FI_DEV_POWER_USAGE", id, 100*k), sample("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", id, energy*k), sample("DCGM_FI_DEV_GPU_TEMP", id, 50))
		}
		return record.Page{Samples: s}
	}
	l := logOf([]record.Page{exporter(1000)}, []record.Page{exporter(3000)}, []record.Page{exporter(5000)})
	all := l.Figures()
	for name, want := range map[string]float64{GPUUtilization: 0.6, GPUMemoryUsed: 3 << 30, GPUPower: 300, GPUTemperature: 50} {
		if f := find(all, name); f == nil || !isAbout(f.Mean, want) {
			t.Errorf("%s %+v, want %v", name, f, want)
		}
	}
	if f := find(all, GPUEnergy); f == nil || !isAbout(f.Total, 12) || f.Unit != "J" {
		t.Errorf("energy %+v, want 12 J", f)
	}
	parts := l.Parts()
	if len(parts) != 2 || parts[1].GPU != "GPU-b" || !isAbout(find(parts[1].Figures, GPUPower).Mean, 200) || !isAbout(find(parts[0].Figures, GPUEnergy).Total, 4) {
		t.Errorf("parts %+v", parts)
	}
}

func TestServers(t *testing.T) {
	page := func(n float64) []record.Page {
		return []record.Page{
			at(0, sample("sglang:prompt_tokens_total", `model_name="m"`, n), sample("sglang:num_queue_reqs", `model_name="m"`, 3), sample("sglang:token_usage", `model_name="m"`, 0.5)),
			at(0, sample("tgi_request_success", "", n), sample("tgi_queue_size", "", 4), sample("tgi_batch_current_size", "", 2)),
			at(0, sample("nv_inference_request_success", `model="m",version="1"`, n), sample("nv_inference_count", `model="m",version="1"`, 8*n), sample("nv_inference_exec_count", `model="m",version="1"`, 2*n),
				sample("nv_inference_queue_duration_us", `model="m",version="1"`, 1e6*n), sample("nv_trt_llm_kv_cache_block_metrics", `kv_cache_block_type="fraction",model="m"`, 0.9),
				sample("nv_trt_llm_kv_cache_block_metrics", `kv_cache_block_type="max",model="m"`, 900)),
		}
	}
	l := logOf(page(1), page(2), page(4))
	all := l.Figures()
	if f := find(all, PromptTokens); f == nil || !isAbout(f.Total, 3) {
		t.Errorf("prompt tokens %+v", f)
	}
	if f := find(all, KVCache); f == nil || !isAbout(f.Mean, 0.5) {
		t.Errorf("cache %+v", f)
	}
	triton := NewLog(Triton, "m")
	for i, n := range []float64{1, 2, 4} {
		triton.Add(i != 1, 0, page(n)[2:])
	}
	all = triton.Figures()
	if f := find(all, KVCache); f == nil || !isAbout(f.Mean, 0.9) {
		t.Errorf("cache of TensorRT-LLM %+v", f)
	}
	if f := find(all, "queue_time_total"); f == nil || !isAbout(f.Total, 3) {
		t.Errorf("time in the queue %+v", f)
	}
	if f := find(all, Batch); f == nil || !isAbout(f.Mean, 4) {
		t.Errorf("batch %+v", f)
	}
	for _, s := range append(servers(), DCGM) {
		for _, m := range Metrics(s) {
			if !Known(m.Own) {
				t.Errorf("%s of %s is not kept", m.Own, s)
			}
		}
	}
	if Known("python_gc_objects_collected_total") || Metrics("none") != nil {
		t.Error("more is known than there is")
	}
}

func TestQuantile(t *testing.T) {
	inf := math.Inf(1)
	b := buckets{bounds: map[float64]float64{0.1: 2, 0.2: 6, 0.4: 8, inf: 10}}
	for _, c := range []struct{ q, evenly, above, upTo float64 }{
		{0.1, 0.05, 0, 0.1}, {0.2, 0.1, 0, 0.1}, {0.4, 0.15, 0.1, 0.2}, {0.7, 0.3, 0.2, 0.4}, {0.9, 0.4, 0.4, inf}, {1, 0.4, 0.4, inf},
	} {
		got, ok := b.quantile(c.q)
		upTo := inf
		if got.UpTo != nil {
			upTo = *got.UpTo
		}
		if !ok || !isAbout(&got.Evenly, c.evenly) || got.Above != c.above || upTo != c.upTo {
			t.Errorf("quantile %v is %+v up to %v, want %+v", c.q, got, upTo, c)
		}
	}
	for _, none := range []buckets{{}, {bounds: map[float64]float64{1: 0, inf: 0}}, {bounds: map[float64]float64{1: 2}}} {
		if got, ok := none.quantile(0.5); ok || none.quantiles() != nil {
			t.Errorf("%v has a quantile %v", none, got)
		}
	}
}

func TestThin(t *testing.T) {
	var when []time.Duration
	var values []float64
	for i := range 1000 {
		when, values = append(when, time.Duration(i)), append(values, float64(i))
	}
	a, v := thin(when, values)
	if len(a) != 250 || len(v) != 250 || v[0] != 1.5 || v[249] != 997.5 {
		t.Errorf("%d points, %v to %v", len(v), v[0], v[len(v)-1])
	}
}
