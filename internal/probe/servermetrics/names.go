// Package servermetrics knows under which names inference servers and GPU exporters publish
// their metrics, and works out what the pages say of a stretch of time.
package servermetrics

import (
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/record"
)

// The servers whose names are known, as plans call them, and the GPU exporter.
const (
	VLLM   = "vllm"
	SGLang = "sglang"
	TGI    = "tgi"
	Triton = "triton"
	DCGM   = "dcgm"
)

// Names that are the same whatever the server.
const (
	Requests        = "requests"
	PromptTokens    = "prompt_tokens"
	OutputTokens    = "output_tokens"
	RequestLatency  = "request_latency"
	Queue           = "queue_length"
	Running         = "num_requests_running"
	Batch           = "batch_size"
	TimePerOutput   = "time_per_output_token"
	TimeToFirst     = "time_to_first_token"
	InterToken      = "inter_token_latency"
	KVCache         = "kv_cache_usage"
	Preemptions     = "num_preemptions_total"
	PrefixHits      = "prefix_cache_hits"
	PrefixQueries   = "prefix_cache_queries"
	PrefixHitRatio  = "prefix_cache_hit_ratio"
	QueueTime       = "request_queue_time"
	InferenceTime   = "request_inference_time"
	GPUUtilization  = "gpu_utilization"
	GPUMemoryUsed   = "gpu_memory_used"
	GPUMemoryFree   = "gpu_memory_free"
	GPUMemoryTotal  = "gpu_memory_total"
	GPUPower        = "gpu_power"
	GPUEnergy       = "gpu_energy"
	GPUTemperature  = "gpu_temperature"
	requestOK       = "request_success_count"
	requestFailures = "request_failure_count"
)

// Units of metrics.
const (
	seconds = "s"
	tokens  = "tokens"
	ratio   = "ratio"
	watts   = "W"
	joules  = "J"
	octets  = "bytes"
	degrees = "°C"
)

// Metric is what a server publishes under a name of its own.
type Metric struct {
	Name   string // the same whatever the server
	Own    string // the server's; a counter's without _total
	Kind   string // as record.Figure has it
	Unit   string
	Scale  float64 // from the server's unit to Unit; 0: they are the same
	Mean   bool    // a gauge of which several servers have a mean, not a sum
	PerGPU bool
}

func counter(name, own, unit string) Metric {
	return Metric{Name: name, Own: own, Kind: record.FigureCounter, Unit: unit}
}

func gauge(name, own, unit string) Metric {
	return Metric{Name: name, Own: own, Kind: record.FigureGauge, Unit: unit, Mean: unit == ratio}
}

func histogram(name, own, unit string) Metric {
	return Metric{Name: name, Own: own, Kind: record.FigureHistogram, Unit: unit}
}

func (m Metric) times(scale float64) Metric { m.Scale = scale; return m }

func (m Metric) ofGPU() Metric { m.PerGPU = true; return m }

func (m Metric) averaged() Metric { m.Mean = true; return m }

// Metrics are those of a server, in the order in which they are shown. Where two have
// the same name, the first that is there counts: servers rename their metrics.
func Metrics(server string) []Metric {
	switch server {
	case VLLM:
		return vllm()
	case SGLang:
		return sglang()
	case TGI:
		return tgi()
	case Triton:
		return triton()
	case DCGM:
		return dcgm()
	}
	return nil
}

// ModelLabel is the label by which a server tells its models apart; empty: it does not.
func ModelLabel(server string) string {
	switch server {
	case VLLM, SGLang:
		return "model_name"
	case Triton:
		return "model"
	}
	return ""
}

func vllm() []Metric {
	const p = "vllm:"
	return []Metric{
		counter(Requests, p+"request_success", "requests"),
		counter(PromptTokens, p+"prompt_tokens", tokens),
		counter(OutputTokens, p+"generation_tokens", tokens),
		gauge(Queue, p+"num_requests_waiting", "requests"),
		gauge(Running, p+"num_requests_running", "requests"),
		gauge("num_requests_swapped", p+"num_requests_swapped", "requests"),
		gauge(KVCache, p+"kv_cache_usage_perc", ratio),
		gauge(KVCache, p+"gpu_cache_usage_perc", ratio),
		counter(Preemptions, p+"num_preemptions", "preemptions"),
		counter(PrefixHits, p+"prefix_cache_hits", tokens),
		counter(PrefixHits, p+"gpu_prefix_cache_hits", tokens),
		counter(PrefixQueries, p+"prefix_cache_queries", tokens),
		counter(PrefixQueries, p+"gpu_prefix_cache_queries", tokens),
		histogram(RequestLatency, p+"e2e_request_latency_seconds", seconds),
		histogram(TimeToFirst, p+"time_to_first_token_seconds", seconds),
		histogram(TimePerOutput, p+"request_time_per_output_token_seconds", seconds),
		histogram(TimePerOutput, p+"time_per_output_token_seconds", seconds),
		histogram(InterToken, p+"inter_token_latency_seconds", seconds),
		histogram(QueueTime, p+"request_queue_time_seconds", seconds),
		histogram(InferenceTime, p+"request_inference_time_seconds", seconds),
		histogram("request_prefill_time", p+"request_prefill_time_seconds", seconds),
		histogram("request_decode_time", p+"request_decode_time_seconds", seconds),
		histogram("request_prompt_tokens", p+"request_prompt_tokens", tokens),
		histogram("request_generation_tokens", p+"request_generation_tokens", tokens),
		histogram("request_max_num_generation_tokens", p+"request_max_num_generation_tokens", tokens),
		histogram("request_params_n", p+"request_params_n", ""),
		histogram("request_params_max_tokens", p+"request_params_max_tokens", tokens),
		histogram("iteration_tokens", p+"iteration_tokens_total", tokens),
		counter(requestOK, p+"request_success", "requests"),
		counter("prompt_tokens_cached", p+"prompt_tokens_cached", tokens),
		counter("external_prefix_cache_hits", p+"external_prefix_cache_hits", tokens),
		counter("external_prefix_cache_queries", p+"external_prefix_cache_queries", tokens),
		counter("mm_cache_hits", p+"mm_cache_hits", ""),
		counter("mm_cache_queries", p+"mm_cache_queries", ""),
		counter("corrupted_requests", p+"corrupted_requests", "requests"),
		histogram("request_prefill_kv_computed_tokens", p+"request_prefill_kv_computed_tokens", tokens),
		histogram("kv_block_idle_before_evict", p+"kv_block_idle_before_evict_seconds", seconds),
		histogram("kv_block_lifetime", p+"kv_block_lifetime_seconds", seconds),
		histogram("kv_block_reuse_gap", p+"kv_block_reuse_gap_seconds", seconds),
	}
}

func sglang() []Metric {
	const p = "sglang:"
	return []Metric{
		counter(Requests, p+"num_requests", "requests"),
		counter(Requests, p+"e2e_request_latency_seconds_count", "requests"),
		counter(PromptTokens, p+"prompt_tokens", tokens),
		counter(OutputTokens, p+"generation_tokens", tokens),
		gauge(Queue, p+"num_queue_reqs", "requests"),
		gauge(Running, p+"num_running_reqs", "requests"),
		gauge(KVCache, p+"token_usage", ratio),
		gauge(PrefixHitRatio, p+"cache_hit_rate", ratio),
		counter(PrefixHits, p+"cached_tokens", tokens),
		counter(Preemptions, p+"num_retracted_requests", "preemptions"),
		counter(Preemptions, p+"num_retracted_reqs_total", "preemptions"),
		gauge("gen_throughput", p+"gen_throughput", "tokens/s"),
		histogram(RequestLatency, p+"e2e_request_latency_seconds", seconds),
		histogram(TimeToFirst, p+"time_to_first_token_seconds", seconds),
		histogram(TimePerOutput, p+"time_per_output_token_seconds", seconds),
		histogram(InterToken, p+"inter_token_latency_seconds", seconds),
		histogram(QueueTime, p+"queue_time_seconds", seconds),
		counter(requestFailures, p+"num_aborted_requests", "requests"),
	}
}

func tgi() []Metric {
	const p = "tgi_"
	return []Metric{
		counter(Requests, p+"request_success", "requests"),
		histogram(PromptTokens, p+"request_input_length", tokens),
		histogram(OutputTokens, p+"request_generated_tokens", tokens),
		gauge(Queue, p+"queue_size", "requests"),
		gauge(Batch, p+"batch_current_size", "requests"),
		histogram(RequestLatency, p+"request_duration", seconds),
		histogram(TimePerOutput, p+"request_mean_time_per_token_duration", seconds),
		histogram(QueueTime, p+"request_queue_duration", seconds),
		histogram(InferenceTime, p+"request_inference_duration", seconds),
		histogram("request_max_num_generation_tokens", p+"request_max_new_tokens", tokens),
		counter(requestFailures, p+"request_failure", "requests"),
	}
}

func triton() []Metric {
	const p = "nv_"
	micro := 1e-6
	return []Metric{
		counter(Requests, p+"inference_request_success", "requests"),
		counter(requestFailures, p+"inference_request_failure", "requests"),
		gauge(Queue, p+`trt_llm_request_metrics{request_type="waiting"}`, "requests"),
		gauge(Queue, p+"inference_pending_request_count", "requests"),
		gauge(Running, p+`trt_llm_request_metrics{request_type="scheduled"}`, "requests"),
		counter("inference_count", p+"inference_count", "inferences"),
		counter("execution_count", p+"inference_exec_count", "executions"),
		counter("request_time_total", p+"inference_request_duration_us", seconds).times(micro),
		counter("queue_time_total", p+"inference_queue_duration_us", seconds).times(micro),
		counter("inference_time_total", p+"inference_compute_infer_duration_us", seconds).times(micro),
		histogram(TimeToFirst, p+"inference_first_response_histogram_ms", seconds).times(1e-3),
		gauge(KVCache, p+`trt_llm_kv_cache_block_metrics{kv_cache_block_type="fraction"}`, ratio),
		gauge(GPUUtilization, p+"gpu_utilization", ratio).ofGPU(),
		gauge(GPUMemoryUsed, p+"gpu_memory_used_bytes", octets).ofGPU(),
		gauge(GPUMemoryTotal, p+"gpu_memory_total_bytes", octets).ofGPU(),
		gauge(GPUPower, p+"gpu_power_usage", watts).ofGPU(),
		counter(GPUEnergy, p+"energy_consumption", joules).ofGPU(),
	}
}

func dcgm() []Metric {
	const (
		p   = "DCGM_FI_"
		mib = 1 << 20
	)
	return []Metric{
		gauge(GPUUtilization, p+"DEV_GPU_UTIL", ratio).times(0.01).ofGPU(),
		gauge("gpu_memory_bandwidth_utilization", p+"DEV_MEM_COPY_UTIL", ratio).times(0.01).ofGPU(),
		gauge("gpu_tensor_active", p+"PROF_PIPE_TENSOR_ACTIVE", ratio).ofGPU(),
		gauge(GPUMemoryUsed, p+"DEV_FB_USED", octets).times(mib).ofGPU(),
		gauge(GPUMemoryFree, p+"DEV_FB_FREE", octets).times(mib).ofGPU(),
		gauge(GPUPower, p+"DEV_POWER_USAGE", watts).ofGPU(),
		counter(GPUEnergy, p+"DEV_TOTAL_ENERGY_CONSUMPTION", joules).times(1e-3).ofGPU(),
		gauge(GPUTemperature, p+"DEV_GPU_TEMP", degrees).averaged().ofGPU(),
		gauge("gpu_sm_clock", p+"DEV_SM_CLOCK", "MHz").averaged().ofGPU(),
	}
}

// servers are those whose names are known, the GPU exporter left out.
func servers() []string { return []string{VLLM, SGLang, TGI, Triton} }

// Known reports whether a metric is of a server whose names are known. The rest of a
// page, about its runtime and its HTTP server, is not kept.
func Known(name string) bool {
	families := []string{"vllm:", "sglang:", "tgi_", "nv_", "DCGM_FI_"}
	return slices.ContainsFunc(families, func(f string) bool { return strings.HasPrefix(name, f) }) || ofAMD(name)
}

// splitName splits a server's name into that of the metric and a label that it must have.
func (m *Metric) splitName() (name, label string) {
	name, label, _ = strings.Cut(m.Own, "{")
	return name, strings.TrimSuffix(label, "}")
}
