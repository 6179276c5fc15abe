// What metrics are called, as on the console.

export interface Row { metric: string; label: string; unit?: string }

export const spreads: Row[] = [
  { metric: "time_to_first_token", label: "Time to first token" },
  { metric: "time_to_first_token_from_due", label: "Time to first token, from due" },
  { metric: "time_to_first_output_token", label: "Time to first visible token" },
  { metric: "time_to_second_token", label: "Time to second token" },
  { metric: "inter_token_latency", label: "Inter-token latency" },
  { metric: "inter_event_latency", label: "Inter-event latency" },
  { metric: "time_per_output_token", label: "Time per output token" },
  { metric: "request_latency", label: "Request latency" },
  { metric: "request_latency_from_due", label: "Request latency, from due" },
  { metric: "output_sequence_length", label: "Output sequence length" },
  { metric: "input_sequence_length", label: "Input sequence length" },
  { metric: "cached_prompt_tokens", label: "Cached prompt tokens" },
  { metric: "tokens_per_event", label: "Tokens per event", unit: "" },
  { metric: "output_token_throughput_per_user", label: "Output tokens/s per user", unit: "" },
];

export const rates: Row[] = [
  { metric: "request_throughput", label: "Requests/s" },
  { metric: "output_token_throughput", label: "Output tokens/s" },
  { metric: "input_token_throughput", label: "Input tokens/s" },
  { metric: "total_token_throughput", label: "Total tokens/s" },
  { metric: "request_goodput", label: "Good requests/s" },
  { metric: "concurrency", label: "Requests in flight" },
];

export const costs: Row[] = [
  { metric: "total_token_throughput_per_gpu", label: "Total tokens/s per GPU" },
  { metric: "output_token_throughput_per_gpu", label: "Output tokens/s per GPU" },
  { metric: "input_token_throughput_per_gpu", label: "Input tokens/s per GPU" },
  { metric: "cost_per_million_total_tokens", label: "$ per million tokens" },
  { metric: "cost_per_million_output_tokens", label: "$ per million output tokens" },
  { metric: "cost_per_million_input_tokens", label: "$ per million input tokens" },
  { metric: "energy_per_total_token", label: "Joules per token" },
  { metric: "energy_per_output_token", label: "Joules per output token" },
  { metric: "energy_per_input_token", label: "Joules per input token" },
  { metric: "energy_per_request", label: "Joules per request" },
  { metric: "total_tokens_per_second_per_megawatt", label: "Total tokens/s per MW" },
  { metric: "output_tokens_per_second_per_megawatt", label: "Output tokens/s per MW" },
  { metric: "input_tokens_per_second_per_megawatt", label: "Input tokens/s per MW" },
  { metric: "total_gpu_energy", label: "Energy of all GPUs, J" },
  { metric: "gpu_power_avg", label: "Average power of a GPU, W" },
  { metric: "gpu_power_peak", label: "Peak power of a GPU, W" },
];

export const serviceNames: Row[] = [
  { metric: "requests", label: "Requests" },
  { metric: "prompt_tokens", label: "Prompt tokens" },
  { metric: "output_tokens", label: "Output tokens" },
  { metric: "queue_length", label: "Requests waiting" },
  { metric: "num_requests_running", label: "Requests running" },
  { metric: "batch_size", label: "Batch size" },
  { metric: "kv_cache_usage", label: "KV cache in use" },
  { metric: "prefix_cache_hit_ratio", label: "Prefix cache hits" },
  { metric: "num_preemptions_total", label: "Preemptions" },
  { metric: "spec_decode_acceptance_rate", label: "Draft tokens accepted" },
  { metric: "spec_decode_acceptance_length", label: "Acceptance length, tokens" },
  { metric: "spec_decode_tokens_per_step", label: "Tokens per step" },
  { metric: "request_queue_time", label: "Time in queue, ms" },
  { metric: "time_to_first_token", label: "Time to first token, ms" },
  { metric: "inter_token_latency", label: "Inter-token latency, ms" },
  { metric: "time_per_output_token", label: "Time per output token, ms" },
  { metric: "request_latency", label: "Request latency, ms" },
  { metric: "gpu_utilization", label: "GPU busy" },
  { metric: "gpu_memory_used", label: "GPU memory used, GiB" },
  { metric: "gpu_power", label: "GPU power, W" },
  { metric: "gpu_energy", label: "GPU energy, J" },
];

export const labelOf = (metric: string): string =>
  [...spreads, ...rates, ...costs].find((r) => r.metric === metric)?.label ?? metric.replaceAll("_", " ");

export const percentiles = ["min", "p50", "p90", "p95", "p99", "p99.9", "max"] as const;
