package result

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/sweep"
)

// StageName is the plan's name of a stage, else its number.
func StageName(p *plan.Plan, i int) string {
	return cmp.Or(p.Stages[i].Name, "stage "+strconv.Itoa(i+1))
}

// Load says in words what load a stage makes.
func Load(s *plan.Stage) string {
	switch g := s.Growth; {
	case s.Concurrency > 0 && g.On():
		return fmt.Sprintf("%d to %d in flight, %d more after every %d responses", s.Concurrency, g.To, g.Step, g.Responses)
	case s.Concurrency > 0 && s.RampTo > 0:
		return fmt.Sprintf("%d to %s in flight", s.Concurrency, plain(s.RampTo))
	case s.Concurrency > 0:
		return fmt.Sprintf("%d in flight", s.Concurrency)
	case s.Arrival == plan.ArrivalTrace:
		return "arrivals of a trace"
	case s.Arrival == plan.ArrivalSessions:
		return sessions(&s.Sessions)
	}
	text := plain(s.PerSecond())
	if s.RampTo > 0 {
		text += " to " + plain(s.RampTo)
	}
	text += "/s"
	if s.Arrival != "" {
		text += " " + s.Arrival
	}
	if s.Arrival == plan.ArrivalGamma {
		text += " (cv " + plain(s.CV) + ")"
	}
	if s.MaxInFlight > 0 {
		text += fmt.Sprintf(", at most %d in flight", s.MaxInFlight)
	}
	return text
}

// sessions says in words what load of sessions a stage makes.
func sessions(s *plan.SessionLoad) string {
	text := "sessions"
	if s.Rate > 0 {
		text += " at " + plain(s.Rate) + "/s"
	}
	switch {
	case s.Concurrent > 0:
		text += fmt.Sprintf(", %d under way", s.Concurrent)
	case s.Rate == 0:
		text += ", all at once"
	}
	return text
}

// plain writes a number with no more digits than it has.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

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

// Within is half the width of the interval of a statistic, as a share of its value. known is
// false where there are too few requests, ok where the metric has no intervals at all.
func (s *Stat) Within(name string) (share float64, known, ok bool) {
	value := s.Avg
	switch {
	case s.Intervals == nil || s.Open(name):
		return 0, false, false
	case name == metric.Average:
	case s.Distribution == nil:
		return 0, false, false
	default:
		value = s.Quantile(name)
	}
	at, known := s.Intervals[name]
	half := (at.Hi - at.Lo) / 2
	switch {
	case !known:
		return 0, false, true
	case half == 0:
		return 0, true, true
	}
	return half / math.Abs(value), value != 0, true
}

// Precision says in words how well the figure is known that most people read first: what the error
// bar of measuring it is, and what it does not tell, how close it is to what the server does on
// average. It is empty where that is not known.
func (s *Stage) Precision() string {
	for _, id := range []string{"time_to_first_token", "request_latency"} {
		m, ok := s.Metrics[id]
		if !ok || m.Distribution == nil || m.Intervals == nil {
			continue
		}
		def, _ := metric.ByID(id)
		text := def.Name + ": " + m.measuredTo()
		requests := number.Plural(m.Count, "request")
		if m.Open(metric.Average) { // it is only known to be at least so much
			continue
		}
		if share, known, _ := m.Within(metric.Average); known {
			text += fmt.Sprintf("with %s the average is known to %s", requests, number.PlusMinus(share))
		} else {
			text += fmt.Sprintf("%s are too few to say how well the average is known", requests)
		}
		if share, known, _ := m.Within("p99"); known && !slices.Contains(m.LowSamples, "p99") {
			text += ", p99 to " + number.PlusMinus(share)
		}
		return text
	}
	return ""
}

// measuredTo says how far the client can have bent the average of a metric.
func (s *Stat) measuredTo() string {
	if s.Error == nil {
		return ""
	}
	return "measured to ±" + number.Value(s.Off(metric.Average), s.Unit) + "; "
}
