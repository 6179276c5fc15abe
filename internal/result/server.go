package result

import (
	"slices"

	"github.com/inferometer/inferometer/internal/probe"
	"github.com/inferometer/inferometer/internal/record"
)

// TritonStats is what the server says it did during a stage, from before its first
// request, the warm-up's included, until nothing was in flight any more. Several
// servers are added up.
type TritonStats struct {
	Window    Span            `json:"window"`              // between the two looks at the server
	Restarted string          `json:"restarted,omitempty"` // what had begun anew in between; there are no figures then
	Busy      bool            `json:"busy,omitempty"`      // it had other work while this client had none in flight
	Faults    []string        `json:"faults,omitempty"`    // what was not available of it
	Requests  *ServerRequests `json:"requests,omitempty"`
	Models    []ServerModel   `json:"models,omitempty"` // the one asked for, in each version
	GPUs      []ServerGPU     `json:"gpus,omitempty"`
	Metrics   []ServerMetric  `json:"metrics,omitempty"` // of its Prometheus page
}

// ServerRequests compares what this client, in the first three, and the server counted, with the
// warm-up.
type ServerRequests struct {
	Sent   int64 `json:"sent"`
	OK     int64 `json:"ok"`
	Failed int64 `json:"failed"`
	// FailedAsSuccess are requests that failed here and that the server counts as
	// successes, as Triton does with those of decoupled models that fail in mid-stream.
	FailedAsSuccess int64 `json:"failed_as_success"`
	Others          int64 `json:"of_others"` // successes that cannot be this client's
	Missing         int64 `json:"missing"`   // successes here that the server does not count
}

// ServerModel is what one model did, in one version.
type ServerModel struct {
	Name          string           `json:"name"`
	Version       string           `json:"version"`
	Decoupled     bool             `json:"decoupled,omitempty"` // requests have any number of responses
	Inferences    uint64           `json:"inferences"`          // items of batches one by one
	Executions    uint64           `json:"executions"`          // batches
	Success       ServerTime       `json:"success"`             // requests, with their time in the server
	Failed        ServerTime       `json:"failed"`
	Queue         ServerTime       `json:"queue"`
	ComputeInput  ServerTime       `json:"compute_input"`
	ComputeInfer  ServerTime       `json:"compute_infer"`
	ComputeOutput ServerTime       `json:"compute_output"`
	CacheHit      ServerTime       `json:"cache_hit"`
	CacheMiss     ServerTime       `json:"cache_miss"`
	OverheadMS    float64          `json:"overhead_ms"` // what is left of a success on average; never below 0
	UnflooredMS   float64          `json:"overhead_unfloored_ms"`
	Responses     []ServerResponse `json:"responses,omitempty"` // of a decoupled model, where its backend counts them
	Composing     []ServerModel    `json:"composing,omitempty"` // the models that it is made of
}

// ServerTime is how often something happened and how long it took.
type ServerTime struct {
	Count uint64  `json:"count"`
	NS    uint64  `json:"ns"`     // in all
	AvgMS float64 `json:"avg_ms"` // 0 where it never happened
}

// ServerResponse is what a decoupled model says of its responses in one place of
// their streams.
type ServerResponse struct {
	Index         int        `json:"index"` // 0: the first ones
	ComputeInfer  ServerTime `json:"compute_infer"`
	ComputeOutput ServerTime `json:"compute_output"`
	Success       ServerTime `json:"success"`
	Failed        ServerTime `json:"failed"`
	Empty         ServerTime `json:"empty"`
	Cancelled     ServerTime `json:"cancelled"`
}

// ServerGPU is a GPU of the server over the stage.
type ServerGPU struct {
	Target      int     `json:"target,omitempty"` // index into the plan's URLs
	UUID        string  `json:"uuid"`
	Utilization float64 `json:"utilization"`       // mean, 0 to 1
	Power       float64 `json:"power_watts"`       // mean
	MemoryUsed  float64 `json:"memory_used_bytes"` // most
	MemoryTotal float64 `json:"memory_total_bytes"`
}

// ServerMetric is a metric of the server's page: a counter's increase, or a gauge over the stage.
type ServerMetric struct {
	Target   int      `json:"target,omitempty"` // index into the plan's URLs
	Name     string   `json:"name"`
	Labels   string   `json:"labels,omitempty"`
	Increase *float64 `json:"increase,omitempty"`
	Gauge    *Gauge   `json:"gauge,omitempty"`
}

// Gauge is a value that goes up and down, as it was each time that it was looked at.
type Gauge struct {
	Avg float64 `json:"avg"`
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

// NewServerModel puts what a server says of a model into the units of the document.
func NewServerModel(m *record.ModelStats) ServerModel {
	out := ServerModel{
		Name: m.Name, Version: m.Version, Decoupled: m.Decoupled, Inferences: m.Inferences, Executions: m.Executions,
		Success: serverTime(m.Success), Failed: serverTime(m.Fail), Queue: serverTime(m.Queue),
		ComputeInput: serverTime(m.ComputeInput), ComputeInfer: serverTime(m.ComputeInfer), ComputeOutput: serverTime(m.ComputeOutput),
		CacheHit: serverTime(m.CacheHit), CacheMiss: serverTime(m.CacheMiss),
		UnflooredMS: probe.Overhead(m) / 1e6,
	}
	out.OverheadMS = max(0, out.UnflooredMS)
	for _, r := range m.Responses {
		out.Responses = append(out.Responses, ServerResponse{
			Index: r.Index, ComputeInfer: serverTime(r.ComputeInfer), ComputeOutput: serverTime(r.ComputeOutput),
			Success: serverTime(r.Success), Failed: serverTime(r.Fail), Empty: serverTime(r.Empty), Cancelled: serverTime(r.Cancel),
		})
	}
	for i := range m.Composing {
		out.Composing = append(out.Composing, NewServerModel(&m.Composing[i]))
	}
	return out
}

// Streams reports whether a request may have several responses: the model's, or those of a part.
func (m *ServerModel) Streams() bool {
	return m.Decoupled || slices.ContainsFunc(m.Composing, func(c ServerModel) bool { return c.Streams() })
}

func serverTime(c record.CountTime) ServerTime {
	return ServerTime{Count: c.Count, NS: c.NS, AvgMS: probe.Average(c) / 1e6}
}
