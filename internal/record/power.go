package record

import "time"

// Power is what was read of the power of this machine's GPUs, over about a second.
type Power struct {
	Source string     `json:"source"` // the tool that read it
	Field  string     `json:"field,omitempty"`
	GPUs   []GPUPower `json:"gpus,omitempty"`
	Error  string     `json:"error,omitempty"` // why there is none, or no more
}

// GPUPower is the power of one GPU, in watts, at some moments.
type GPUPower struct {
	Index string          `json:"index"`
	UUID  string          `json:"uuid,omitempty"`
	At    []time.Duration `json:"at"`
	Watts []float64       `json:"watts"`
}
