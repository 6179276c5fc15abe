package record

import (
	"slices"
	"time"
)

// The record file is a sequence of JSON lines. Most are requests; the others say
// what a report must know besides them.

// Header is the first line of a record file.
type Header struct {
	Schema  string    `json:"schema"`  // Schema
	Version string    `json:"version"` // of the program that wrote it
	Start   time.Time `json:"start"`   // wall-clock time of offset 0
	Seed    uint64    `json:"seed"`
	Kernel  bool      `json:"kernel"`  // reads carry kernel stamps
	Decoder string    `json:"decoder"` // protocol that decodes the bodies, such as "openai"
	// Template: prompts are counted with the model's chat template around them.
	Template bool `json:"template,omitempty"`
	// Proxy is what requests go through, several with a comma between; empty: nothing.
	Proxy string `json:"proxy,omitempty"`
	// FellBack: HTTP/2 was asked for, no target speaks it, and HTTP/1.1 is used.
	FellBack bool `json:"fell_back,omitempty"`
	Host     Host `json:"host"`
	// Run is the ID of the run, which the files of all its workers have in common; empty: the file was made from those of
	// another tool.
	Run string `json:"run,omitempty"`
	// Worker is which of a run's workers wrote the file, from 1; 0: the run's own process.
	Worker int `json:"worker,omitempty"`
	// Workers are those that sent the requests, of which a line of their own tells; none: this
	// process did.
	Workers []WorkerInfo `json:"-"`
	// Calibration is what was found on the built-in mock ahead of the run; nil means nothing.
	Calibration *Calibration `json:"calibration,omitempty"`
}

// WorkerInfo describes a worker.
type WorkerInfo struct {
	Name string `json:"name"`
	Host Host   `json:"host"`
	// ClockBound is by how much its clock may differ from that of the run.
	ClockBound time.Duration `json:"clock_bound"`
	// ClockJumped: one of the two was set or stood still meanwhile.
	ClockJumped bool `json:"clock_jumped,omitempty"`
}

// Workers is the line on those that send.
type Workers struct {
	List []WorkerInfo `json:"list"`
}

// After is the list where another one came before: what is known of clocks adds up.
func (w *Workers) After(before []WorkerInfo) []WorkerInfo {
	for i := range min(len(before), len(w.List)) {
		own := &w.List[i]
		own.ClockBound, own.ClockJumped = max(own.ClockBound, before[i].ClockBound), own.ClockJumped || before[i].ClockJumped
	}
	return w.List
}

// Schema names the version of the record file's format.
const Schema = "inferometer.records/1"

// Host describes the machine a run was made on.
type Host struct {
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	Kernel     string `json:"kernel,omitempty"`
	CPU        string `json:"cpu,omitempty"`
	Cores      int    `json:"cores"` // the program may use
	GoVersion  string `json:"go_version"`
	GOMAXPROCS int    `json:"gomaxprocs"`
}

// StageTimes are when a stage began, when its first measured request could go, after when no request
// went, and after when none was in flight; NotYet is a time that is still to come.
type StageTimes struct {
	Begin     time.Duration `json:"begin"`
	WarmupEnd time.Duration `json:"warmup_end"`
	SendEnd   time.Duration `json:"send_end"`
	DrainEnd  time.Duration `json:"drain_end"`
}

// StageSummary says how a stage went: written when it has ended.
type StageSummary struct {
	Worker int `json:"worker,omitempty"` // whose share of the stage it is about, from 1; 0: all of it
	Stage  int `json:"stage"`
	StageTimes
	// StartDelay is how long after Begin who sends it was ready to; of several workers, the last.
	StartDelay time.Duration `json:"start_delay,omitempty"`
	Scheduled  int64         `json:"scheduled"`      // arrivals that fell due while the stage was sending; 0 in closed loop
	Waited     int64         `json:"waited"`         // arrivals that had to wait for a slot
	Unsent     int64         `json:"unsent"`         // arrivals that fell due and were never sent
	Gone       []LostWorker  `json:"gone,omitempty"` // workers that sent no more before it ended
	Reason     StopReason    `json:"reason"`         // why it stopped sending
	// RetryAfterWaits counts how often a slot of a closed loop waited because the server asked for it
	// (Retry-After), HeededFor how long the slots did so together.
	RetryAfterWaits int64         `json:"retry_after_waits,omitempty"`
	HeededFor       time.Duration `json:"retry_after_wait,omitempty"`
}

// LostWorker is a worker that did not send its share of a stage to the end.
type LostWorker struct {
	Worker int           `json:"worker"`            // from 1
	At     time.Duration `json:"at"`                // it was last heard, or sends nothing since
	Told   bool          `json:"stopped,omitempty"` // it has shipped all its records: it was told to stop, unless it was cut off
	Cut    bool          `json:"cut,omitempty"`     // with Told: it had not heard its coordinator, and stopped by itself
}

// Join makes it the mark of two shares of a stage: from the first that began to the last that ended.
func (m *StageSummary) Join(o StageSummary) {
	if m.Reason == "" || o.Early() {
		m.Reason = o.Reason
	}
	m.Begin, m.WarmupEnd = min(m.Begin, o.Begin), max(m.WarmupEnd, o.WarmupEnd)
	m.StartDelay = max(m.StartDelay, o.StartDelay)
	m.SendEnd, m.DrainEnd = max(m.SendEnd, o.SendEnd), max(m.DrainEnd, o.DrainEnd)
	m.Scheduled, m.Waited, m.Unsent = m.Scheduled+o.Scheduled, m.Waited+o.Waited, m.Unsent+o.Unsent
	m.RetryAfterWaits, m.HeededFor = m.RetryAfterWaits+o.RetryAfterWaits, m.HeededFor+o.HeededFor
	m.Gone = append(m.Gone, o.Gone...)
}

// Early reports whether the stage was ended before its time.
func (m *StageSummary) Early() bool { return m.Reason.Early() }

// Health is a sample of the client's own condition, taken every second: totals
// since the start of the run.
type Health struct {
	Worker    int           `json:"worker,omitempty"` // from 1; 0: the run's own process
	At        time.Duration `json:"at"`
	CPU       time.Duration `json:"cpu"`     // user + system time used
	Allowed   time.Duration `json:"allowed"` // CPU time it could have used
	GCPause   time.Duration `json:"gc_pause"`
	GCCPU     time.Duration `json:"gc_cpu"`
	CPUWait   time.Duration `json:"runq_wait"` // time runnable threads waited for a core
	InFlight  int           `json:"in_flight"`
	Backlog   int64         `json:"backlog"` // bytes waiting to be decoded
	RSS       int64         `json:"rss"`
	ClockStep time.Duration `json:"clock_step"` // largest step of the wall clock seen so far
	// Standstill is the time in which the client stood still, in pauses of a quarter of a
	// second or more; Never: it was not watched. Pause is the longest of them since the
	// sample before.
	Standstill time.Duration `json:"stalled"`
	Pause      time.Duration `json:"longest_stall"`
}

// FindStage finds the mark of stage i; nil means it did not end.
func FindStage(marks []StageSummary, i int) *StageSummary {
	if k := slices.IndexFunc(marks, func(m StageSummary) bool { return m.Stage == i }); k >= 0 {
		return &marks[k]
	}
	return nil
}

// Calibration is how far the figures were off when the built-in mock was measured at a load,
// ahead of a run or by itself: what the program reported, less what the mock really did.
type Calibration struct {
	Load     string  `json:"load"`                // in words
	Verdict  string  `json:"verdict"`             // of that measurement
	Requests int64   `json:"requests"`            // that succeeded
	Lost     int64   `json:"lost,omitempty"`      // responses that are not what the mock sent
	Rate     float64 `json:"requests_per_second"` // reached
	InFlight float64 `json:"in_flight"`           // on average
	Events   float64 `json:"events_per_second"`   // read
	Bars     []Bar   `json:"bars"`                // in the order of a report
}

// Bar is the error bar of one metric, in its unit.
type Bar struct {
	Metric  string  `json:"metric"`
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Samples int64   `json:"samples,omitempty"`
	True    float64 `json:"true_avg"` // what the mock did
	Error   float64 `json:"error"`    // the most that a figure was off by: its average, and percentiles with enough samples
	// Stated is the error of the average that the result stated, StatedP99 that of percentiles.
	Stated    float64 `json:"stated,omitempty"`
	StatedP99 float64 `json:"stated_p99,omitempty"`
	Avg       float64 `json:"avg"` // reported − true
	P50       float64 `json:"p50,omitempty"`
	P90       float64 `json:"p90,omitempty"`
	P99       float64 `json:"p99,omitempty"`
}
