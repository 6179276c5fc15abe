package record

import (
	"time"
)

// Probe is what the servers said of themselves at the edge of a stage or, to notice
// restarts, in the middle of it.
type Probe struct {
	Stage int           `json:"stage"`
	Edge  string        `json:"edge"` // ProbeBegin, ProbeDuring or ProbeEnd
	At    time.Duration `json:"at"`   // when they had answered
	// Busy: the totals moved although this run had nothing in flight.
	Busy    bool          `json:"busy,omitempty"`
	Targets []TargetProbe `json:"targets"` // in the order of the plan's URLs
	// Pages are the metrics pages that the plan names, in its order.
	Pages []Page `json:"pages,omitempty"`
}

// The places of a stage at which servers are asked.
const (
	ProbeBegin  = "begin" // before its first request
	ProbeDuring = "during"
	ProbeEnd    = "end" // when nothing was in flight any more
)

// TargetProbe is what one server said.
type TargetProbe struct {
	Server *Snapshot `json:"server,omitempty"`
	Error  string    `json:"error,omitempty"` // why it said nothing, or not all
}

// Power is what was read of the power of this machine's GPUs, over about a second.
type Power struct {
	Source string     `json:"source"` // the tool that read it
	Field  string     `json:"field,omitempty"`
	GPUs   []GPUPower `json:"gpus,omitempty"`
	Error  string     `json:"error,omitempty"` // why there is none, or no more
}

// GPUPower is the power of one GPU, in watts, at some times.
type GPUPower struct {
	Index string          `json:"index"`
	UUID  string          `json:"uuid,omitempty"`
	At    []time.Duration `json:"at"`
	Watts []float64       `json:"watts"`
}
