package result

import (
	"encoding/json"
	"strconv"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/sweep"
)

// WindowStats is a measurement in windows. The document has its times in seconds and milliseconds.
type WindowStats struct{ *sweep.Level }

// level is a measurement in windows as the document has it.
type level struct {
	Value   float64           `json:"value"` // concurrency or rate
	Ended   record.StopReason `json:"ended,omitempty"`
	Passed  bool              `json:"passed"` // stable, and below the latency threshold
	Windows []window          `json:"windows"`
	Merged  *window           `json:"merged,omitempty"` // the last windows as one
	Server  []ServerModel     `json:"server,omitempty"` // over the merged windows
	GPUs    []ServerGPU       `json:"gpus,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (s WindowStats) MarshalJSON() ([]byte, error) {
	out := level{Value: s.Value, Ended: s.Ended, Passed: s.Passed, Windows: []window{}}
	for i := range s.Windows {
		out.Windows = append(out.Windows, windowOf(&s.Windows[i]))
	}
	if s.Merged != nil {
		merged := windowOf(s.Merged)
		out.Merged = &merged
	}
	for i := range s.Server {
		out.Server = append(out.Server, NewServerModel(&s.Server[i]))
	}
	for _, g := range s.GPUs {
		out.GPUs = append(out.GPUs, ServerGPU{UUID: g.UUID, Utilization: g.Utilization, Power: g.Power, MemoryUsed: g.MemoryUsed,
			MemoryTotal: g.MemoryTotal})
	}
	return json.Marshal(out)
}

type window struct {
	Span
	Requests   int64              `json:"requests"`
	Failed     int64              `json:"failed,omitempty"`
	Empty      int64              `json:"empty,omitempty"`
	Responses  int64              `json:"responses"`
	Delayed    int64              `json:"delayed,omitempty"`
	Sequences  int64              `json:"sequences,omitempty"`
	Throughput float64            `json:"requests_per_sec"`
	Streamed   float64            `json:"responses_per_sec"`
	SendRate   float64            `json:"sent_per_sec,omitempty"`
	Latency    map[string]float64 `json:"latency_ms,omitempty"` // left out where no request succeeded
	First      map[string]float64 `json:"first_response_ms,omitempty"`
	FromDue    map[string]float64 `json:"latency_from_due_ms,omitempty"`
	Send       float64            `json:"send_ms"`
	Receive    float64            `json:"receive_ms"`
	Request    float64            `json:"request_ms"`
	Overhead   float64            `json:"client_overhead"`
}

func windowOf(w *sweep.Window) window {
	out := window{
		Span:     Span{Begin: w.Begin.Seconds(), End: w.End.Seconds()},
		Requests: w.Requests, Failed: w.Failed, Empty: w.Empty, Responses: w.Responses, Delayed: w.Delayed, Sequences: w.Sequences,
		Throughput: w.Throughput, Streamed: w.Streamed, SendRate: w.SendRate, Latency: spreadOf(&w.Latency), FromDue: spreadOf(&w.FromDue),
		Send: Millis(w.Send), Receive: Millis(w.Receive), Request: Millis(w.Request), Overhead: w.Overhead,
	}
	if w.First != nil {
		out.First = spreadOf(w.First)
	}
	return out
}

// spreadOf is a distribution of times in milliseconds, or nil.
func spreadOf(s *sweep.LatencyStats) map[string]float64 {
	if len(s.Percentiles) == 0 {
		return nil
	}
	out := map[string]float64{"avg": Millis(s.Avg), "std": Millis(s.Std), "min": Millis(s.Min), "max": Millis(s.Max)}
	for _, p := range s.Percentiles {
		out["p"+strconv.Itoa(p.P)] = Millis(p.Value)
	}
	return out
}
