package record

import "time"

// Edge is a time at which a measurement window of a stage begins or ends: written
// when it has passed. The windows of a stage lie between its edges.
type Edge struct {
	Worker int           `json:"worker,omitempty"` // in whose file it begins a level, from 1; 0: the run's own
	Stage  int           `json:"stage"`
	Level  float64       `json:"level"`         // the stage's concurrency or rate
	Kind   string        `json:"for,omitempty"` // what a level of a search for the capacity is run for; empty: to find it
	Trial  int           `json:"trial"`         // windows that have ended by then; 0: the first one begins
	At     time.Duration `json:"at"`
	// Server is nil where it was not asked or did not answer. Its GPUs are as they were since
	// the edge before.
	Server *Snapshot `json:"server,omitempty"`
}

// Snapshot is what a server says of itself at a given time: totals since it started.
type Snapshot struct {
	At     time.Duration `json:"at"` // when it was asked
	Models []ModelStats  `json:"models,omitempty"`
	GPUs   []GPU         `json:"gpus,omitempty"`
	// Metrics are the samples of its Prometheus page.
	Metrics []Sample `json:"metrics,omitempty"`
}

// Sample is one sample of a Prometheus page.
type Sample struct {
	Name    string  `json:"name"`
	Labels  string  `json:"labels,omitempty"` // as `model="m",version="1"`, in the order of their names
	Counter bool    `json:"counter,omitempty"`
	Value   float64 `json:"value"`
}

// ModelStats are the statistics of one model in one version, as the statistics
// extension of the KServe v2 protocol has them.
type ModelStats struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// AnyVersion: no version was asked for, and all that are loaded stand side by side.
	AnyVersion bool `json:"any_version,omitempty"`
	// Cache: its config has a response cache, which may serve some requests.
	Cache bool `json:"response_cache,omitempty"`
	// Decoupled: its config lets requests have any number of responses.
	Decoupled  bool   `json:"decoupled,omitempty"`
	Inferences uint64 `json:"inference_count"` // in batches counted one by one
	Executions uint64 `json:"execution_count"` // of whole batches

	Success       CountTime `json:"success"`
	Fail          CountTime `json:"fail"`
	Queue         CountTime `json:"queue"`
	ComputeInput  CountTime `json:"compute_input"`
	ComputeInfer  CountTime `json:"compute_infer"`
	ComputeOutput CountTime `json:"compute_output"`
	CacheHit      CountTime `json:"cache_hit"`
	CacheMiss     CountTime `json:"cache_miss"`

	// Responses are the statistics of a decoupled model's responses: all first
	// responses, all second ones, and so on. Few backends keep them.
	Responses []ResponseStats `json:"responses,omitempty"`
	// Composing are the models that this one is made of; empty: it is not an ensemble.
	Composing []ModelStats `json:"composing,omitempty"`
}

// ResponseStats are the statistics of the responses in one place of the streams.
type ResponseStats struct {
	Index         int       `json:"index"` // 0: the first responses
	ComputeInfer  CountTime `json:"compute_infer"`
	ComputeOutput CountTime `json:"compute_output"`
	Success       CountTime `json:"success"`
	Fail          CountTime `json:"fail"`
	Empty         CountTime `json:"empty_response"`
	Cancel        CountTime `json:"cancel"`
}

// CountTime is how often something happened and how long it took in all.
type CountTime struct {
	Count uint64 `json:"count"`
	NS    uint64 `json:"ns"`
}

// GPU is the state of one GPU at a given time.
type GPU struct {
	UUID        string  `json:"uuid"`
	Utilization float64 `json:"utilization"` // 0 to 1
	Power       float64 `json:"power_watts"`
	MemoryUsed  float64 `json:"memory_used_bytes"`
	MemoryTotal float64 `json:"memory_total_bytes"`
}
