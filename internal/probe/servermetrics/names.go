// Package servermetrics knows under which names inference servers and GPU exporters publish
// their metrics, and works out what the pages say of a stretch of time.
package servermetrics

import (
	_ "embed"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The servers whose names are known, as plans call them, and the GPU exporter.
const (
	VLLM   = "vllm"
	SGLang = "sglang"
	TGI    = "tgi"
	Triton = "triton"
	TRTLLM = "trtllm" // TensorRT-LLM's own server, and its engine behind Dynamo
	Dynamo = "dynamo" // its frontend; the engines behind it have pages of their own
	DCGM   = "dcgm"
)

// Names that are the same whatever the server.
const (
	Requests       = "requests"
	PromptTokens   = "prompt_tokens"
	OutputTokens   = "output_tokens"
	RequestLatency = "request_latency"
	Queue          = "queue_length"
	Running        = "num_requests_running"
	Batch          = "batch_size"
	TimePerOutput  = "time_per_output_token"
	TimeToFirst    = "time_to_first_token"
	InterToken     = "inter_token_latency"
	KVCache        = "kv_cache_usage"
	Preemptions    = "num_preemptions_total"
	PrefixHits     = "prefix_cache_hits"
	PrefixQueries  = "prefix_cache_queries"
	PrefixHitRatio = "prefix_cache_hit_ratio"

	SpecSteps    = "spec_decode_steps"
	SpecDrafted  = "spec_decode_draft_tokens"
	SpecAccepted = "spec_decode_accepted_tokens"
	SpecRate     = "spec_decode_acceptance_rate"
	SpecLength   = "spec_decode_acceptance_length"
	SpecPerStep  = "spec_decode_tokens_per_step"

	GPUUtilization = "gpu_utilization"
	GPUMemoryUsed  = "gpu_memory_used"
	GPUPower       = "gpu_power"
	GPUEnergy      = "gpu_energy"
	GPUTemperature = "gpu_temperature"
)

const ratio = "ratio"

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

// names has a line for each metric of each server.
//
//go:embed names.csv
var names string

var metrics = sync.OnceValue(func() map[string][]Metric {
	lines, err := csv.NewReader(strings.NewReader(names)).ReadAll()
	if err != nil {
		panic("servermetrics: names.csv: " + err.Error())
	}
	all := map[string][]Metric{}
	for _, l := range lines[1:] {
		m := Metric{Name: l[1], Own: l[2], Kind: l[3], Unit: l[4], Mean: l[6] != "", PerGPU: l[7] != ""}
		if l[5] != "" {
			if m.Scale, err = strconv.ParseFloat(l[5], 64); err != nil {
				panic("servermetrics: names.csv: " + err.Error())
			}
		}
		all[l[0]] = append(all[l[0]], m)
	}
	return all
})

// Metrics are those of a server, in the order shown. Of two with the same name the first that is
// there counts: servers rename them. They are shared: appending copies.
func Metrics(server string) []Metric { return slices.Clip(metrics()[server]) }

// ModelLabel is the label by which a server tells its models apart; empty: it does not.
func ModelLabel(server string) string {
	switch server {
	case VLLM, SGLang, TRTLLM:
		return "model_name"
	case Triton, Dynamo:
		return "model"
	}
	return ""
}

// servers are those whose names are known, the GPU exporter left out.
func servers() []string { return []string{VLLM, SGLang, TRTLLM, TGI, Triton, Dynamo} }

// Known reports whether a metric is of a server whose names are known. The rest of a
// page, about its runtime and its HTTP server, is not kept.
func Known(name string) bool {
	families := []string{"vllm:", "sglang:", "tgi_", "nv_", "trtllm_", "dynamo_frontend_", "DCGM_FI_"}
	return slices.ContainsFunc(families, func(f string) bool { return strings.HasPrefix(name, f) }) || ofAMD(name)
}

// splitName splits a server's name into that of the metric and a label that it must have.
func (m *Metric) splitName() (name, label string) {
	name, label, _ = strings.Cut(m.Own, "{")
	return name, strings.TrimSuffix(label, "}")
}
