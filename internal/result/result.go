// Package result holds the one document that every report prints: the plan as
// run, what each stage measured, and the verdict on whether to believe it.
package result

import (
	_ "embed"
	"math"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/sweep"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// Schema names the version of the result document.
const Schema = "inferometer.result/1"

// Result is the outcome of a run.
type Result struct {
	Schema      string      `json:"schema"`
	Name        string      `json:"name,omitempty"`   // of the run
	RunID       string      `json:"run_id,omitempty"` // random; part of every request's own ID
	Version     string      `json:"version"`          // of the program
	Started     time.Time   `json:"started"`
	Duration    float64     `json:"duration_s"`
	Interrupted bool        `json:"interrupted,omitempty"`
	Incomplete  bool        `json:"incomplete,omitempty"` // made from records whose run did not end properly
	Seed        uint64      `json:"seed"`
	Host        record.Host `json:"host"`
	Connection  *Connection `json:"connection,omitempty"` // what was unusual about it
	Plan        any         `json:"plan"`                 // as run, secrets out
	Verdict     Verdict     `json:"verdict"`
	Gates       []Gate      `json:"gates,omitempty"` // what the plan's fail_if says of it
	Notes       []string    `json:"notes,omitempty"` // worth knowing, no fault
	Stages      []Stage     `json:"stages"`
	// Saturation is what the search for the rates of a sweep has found.
	Saturation *sweep.Saturation `json:"saturation,omitempty"`
	// Capacity is the highest load that meets objectives, where it was searched for.
	Capacity *capacity.Result `json:"capacity,omitempty"`
	Services []ServerMetrics  `json:"services,omitempty"` // what the metrics of the servers say of the whole run, by source
	// Calibration is how far figures were off on the built-in mock, ahead of the run.
	Calibration *Calibration `json:"calibration,omitempty"`
	// Submission says whether the run went by the rules of the scenario that its plan names.
	Submission *Submission `json:"submission,omitempty"`
}

// Submission is whether a run can be submitted as one of a scenario, under the names that InferenceX has for it.
type Submission struct {
	Scenario       string   `json:"scenario"`
	Valid          bool     `json:"submission_valid"`
	InvalidReasons []string `json:"submission_invalid_reasons,omitempty"`
	// Overflows are requests that were longer than the server's context.
	Overflows int64 `json:"context_overflow_count"`
}

// The words of a verdict.
const (
	Valid        = "valid"        // every check was made and is within its budget
	Invalid      = "invalid"      // a check is over its budget
	Inconclusive = "inconclusive" // none is over its budget, but one could not be made
)

// Connection says what was between this client and the target that a reader of
// latencies must know.
type Connection struct {
	Proxy    string `json:"proxy,omitempty"`           // that requests went through, without its password
	FellBack bool   `json:"http2_fell_back,omitempty"` // HTTP/2 was asked for, and HTTP/1.1 was spoken
}

// Verdict says whether the figures can be trusted.
type Verdict struct {
	Status    string   `json:"status"`
	Valid     bool     `json:"valid"`               // Status is Valid
	Reasons   []string `json:"reasons"`             // of checks that are over their budget: what was found and what to change
	Undecided []string `json:"undecided,omitempty"` // of checks that could not be made: why, and what would do
	Summary   string   `json:"summary,omitempty"`   // which stages can be trusted, where some can and some cannot
	Checks    []Check  `json:"checks"`
}

// Ranked are the checks, those over budget first and those that could not be made next.
func (v *Verdict) Ranked() []Check {
	rank := func(c Check) int {
		switch {
		case c.OK:
			return 2
		case c.Undecided:
			return 1
		}
		return 0
	}
	sorted := slices.Clone(v.Checks)
	slices.SortStableFunc(sorted, func(a, b Check) int { return rank(a) - rank(b) })
	return sorted
}

// Check is one budget and what was found: a row of the verdict's table.
type Check struct {
	Stage     int     `json:"stage"` // -1: the whole run
	Name      string  `json:"name"`
	Value     float64 `json:"value"`
	Budget    float64 `json:"budget"`
	Unit      string  `json:"unit"`
	OK        bool    `json:"ok"`
	Undecided bool    `json:"undecided,omitempty"` // it could not be made: OK is false and Value says nothing
	Reason    string  `json:"reason,omitempty"`    // what was found, or why it could not be made; empty when OK
	Fix       string  `json:"fix,omitempty"`       // what to do about it; empty when OK
}

// Stage is what one stage measured.
type Stage struct {
	Index int    `json:"index"`
	Name  string `json:"name"`
	Load  string `json:"load"` // in words: "32 in flight", "50/s poisson, at most 500 in flight"
	// Concurrency or Rate is the load where it is one number, from begin to end; else both are 0.
	Concurrency int                   `json:"concurrency,omitempty"`
	Rate        float64               `json:"rate,omitempty"`    // requests per second
	Ended       record.StopReason     `json:"ended,omitempty"`   // why it stopped sending, or why its measurement in windows ended
	Verdict     *StageVerdict         `json:"verdict,omitempty"` // nil means of this stage alone there is none
	Counts      Counts                `json:"counts"`
	Failures    []record.FailureCount `json:"failures,omitempty"`
	Tokens      Tokens                `json:"tokens"`
	Goodput     []SLO                 `json:"goodput,omitempty"`
	Window      Span                  `json:"window"`
	Metrics     map[string]Stat       `json:"metrics"`
	Steady      *Steady               `json:"steady,omitempty"`
	Server      *TritonStats          `json:"server,omitempty"` // what it says of itself
	Services    []ServerMetrics       `json:"services,omitempty"`
	Cost        *Cost                 `json:"cost,omitempty"`    // of the GPUs, where they are known
	Level       *WindowStats          `json:"level,omitempty"`   // of a measurement in windows
	Targets     []Target              `json:"targets,omitempty"` // in the order of the plan's URLs, where there are several
	Models      []Model               `json:"models,omitempty"`  // in the order of the plan's adapters, where it has some
	Workers     []Worker              `json:"workers,omitempty"` // those that sent the requests, where several processes did
}

// Target is what one of several targets has done in the measured phase. Its rates are
// over the stage's window, so that those of all targets add up.
type Target struct {
	URL     string          `json:"url"`
	Counts  TargetCounts    `json:"counts"`
	Metrics map[string]Stat `json:"metrics"`
}

// Model is what one of the models that share the traffic has done in the measured
// phase. Its rates are over the stage's window, so that those of all models add up.
type Model struct {
	Name    string          `json:"name"`
	Counts  TargetCounts    `json:"counts"`
	Metrics map[string]Stat `json:"metrics"`
}

// Worker is what one of the processes that sent the requests has measured. Its rates are over the
// stage's window, so that those of all workers add up.
type Worker Model

// TargetCounts are numbers of requests of one target, one model or one worker.
type TargetCounts struct {
	Sent   int64 `json:"sent"`
	OK     int64 `json:"ok"`
	Failed int64 `json:"failed"`
	// UserCancelled are those of Sent whose users went away: neither OK nor Failed.
	UserCancelled int64 `json:"user_cancelled,omitempty"`
}

// Counts are numbers of requests of the measured phase.
type Counts struct {
	Sent   int64 `json:"sent"`
	OK     int64 `json:"ok"`
	Failed int64 `json:"failed"` // with CutOff and Cancelled
	CutOff int64 `json:"cut_off"`
	// UserCancelled are those of Sent whose users went away, as the plan has it: neither OK nor Failed.
	UserCancelled int64 `json:"user_cancelled,omitempty"`
	Warmup        int64 `json:"warmup"`           // not in Sent
	Resent        int64 `json:"resent,omitempty"` // those of Sent that went twice
	Scheduled     int64 `json:"scheduled,omitempty"`
	Waited        int64 `json:"waited,omitempty"`
	Unsent        int64 `json:"unsent,omitempty"`
	// RetryAfter is how often a slot of a closed loop waited because the server asked for it,
	// RetryAfterWait the seconds that all slots did so together; warm-up included.
	RetryAfter     int64   `json:"retry_after,omitempty"`
	RetryAfterWait float64 `json:"retry_after_wait_s,omitempty"`
}

// Tokens says who counted.
type Tokens struct {
	Tokenizer string           `json:"tokenizer"`
	Input     map[string]int64 `json:"input_sources"` // requests by source: server, tokenizer, events, uncounted
	Output    map[string]int64 `json:"output_sources"`
	// Prompts is how long prompts of a length asked for are on average; nil: none was, or none was
	// counted.
	Prompts *PromptLength `json:"prompts,omitempty"`
}

// PromptLength is how many tokens prompts have on average.
type PromptLength struct {
	Requested float64 `json:"requested"` // as they were made, by the run's tokenizer
	Counted   float64 `json:"counted"`   // by the server
}

// farLength is how far from the length that was asked for prompts may be before it is worth a word.
const farLength = 0.05

// Far reports whether prompts are not about as long as was asked.
func (p *PromptLength) Far() bool {
	return p != nil && math.Abs(p.Counted-p.Requested) > farLength*p.Requested
}

// SLO is one objective and how many requests met it.
type SLO struct {
	Metric string  `json:"metric"`
	MaxMS  float64 `json:"max_ms"`
	Met    int64   `json:"met"`
	Of     int64   `json:"of"` // failures included
}

// Span is a span of the run, in seconds from its start.
type Span struct {
	Begin float64 `json:"begin_s"`
	End   float64 `json:"end_s"`
}

// Steady is the same summary over the steady window: what ended after warm-up and
// before the drain.
type Steady struct {
	Window  Span            `json:"window"`
	Counts  Counts          `json:"counts"`
	Metrics map[string]Stat `json:"metrics"`
}

// Stat is the summary of one metric. Rates and shares have Avg alone.
type Stat struct {
	Unit  string  `json:"unit"`
	Count int64   `json:"count,omitempty"`
	Avg   float64 `json:"avg"`
	*Distribution
	// Error bounds the truth of each figure, by name, whatever this client did; nil: not known.
	Error map[string]ErrorBar `json:"error,omitempty"`
	// Intervals are the 95 % confidence intervals of sampling, by the name of the statistic: what
	// an endless run would show lies in them. One that is not there is not known: there are too
	// few requests. nil means the metric has none.
	Intervals map[string]ConfidenceInterval `json:"intervals,omitzero"`
	// LowSamples lists the percentiles for which there are too few samples.
	LowSamples []string `json:"thin,omitempty"`
	// Censored is how many requests did not end: the metric is at least their age. They are not in
	// Count.
	Censored int64 `json:"censored,omitempty"`
	// AtLeast lists the statistics that lie beyond what was seen: the truth is as great or greater.
	AtLeast []string `json:"at_least,omitempty"`
}

// ConfidenceInterval is a confidence interval.
type ConfidenceInterval struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// ErrorBar is between what the truth of a figure lies, in the metric's unit.
type ErrorBar struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// Figure is a figure by its name in files: avg, min, p50 and so on.
func (s *Stat) Figure(name string) float64 {
	if name == "avg" {
		return s.Avg
	}
	if s.Distribution == nil {
		return 0
	}
	return s.Distribution.Quantile(name)
}

// Off is by how much a figure can be off at most; 0 where that is not known.
func (s *Stat) Off(name string) float64 {
	bar, ok := s.Error[name]
	if !ok {
		return 0
	}
	v := s.Figure(name)
	return max(v-bar.Lo, bar.Hi-v, 0)
}

// Distribution is the distribution of a metric with samples.
type Distribution struct {
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	Std  float64 `json:"std"`
	P1   float64 `json:"p1"`
	P5   float64 `json:"p5"`
	P10  float64 `json:"p10"`
	P25  float64 `json:"p25"`
	P50  float64 `json:"p50"`
	P75  float64 `json:"p75"`
	P90  float64 `json:"p90"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99.9"`
}

// Quantile is a number of the spread by its name in files: min, p50, std and so on; 0 for any other.
func (s *Distribution) Quantile(name string) float64 {
	if at := s.place(name); at != nil {
		return *at
	}
	return 0
}

// Set sets a number of the spread by its name. What is not in a spread is left out.
func (s *Distribution) Set(name string, v float64) {
	if at := s.place(name); at != nil {
		*at = v
	}
}

// place is where the number of a name is, or nil.
func (s *Distribution) place(name string) *float64 {
	return map[string]*float64{
		"min": &s.Min, "max": &s.Max, "std": &s.Std, "p1": &s.P1, "p5": &s.P5, "p10": &s.P10, "p25": &s.P25, "p50": &s.P50,
		"p75": &s.P75, "p90": &s.P90, "p95": &s.P95, "p99": &s.P99, "p99.9": &s.P999,
	}[name]
}

// Named is a statistic of a metric by its name; false: it does not have it.
func (s *Stat) Named(name string) (float64, bool) {
	switch {
	case name == "avg":
		return s.Avg, true
	case s.Distribution == nil:
		return 0, false
	}
	return s.Quantile(name), true
}

// Open reports whether a statistic is known only to be at least its value.
func (s *Stat) Open(name string) bool { return slices.Contains(s.AtLeast, name) }

// Millis is a duration in the unit of the document.
func Millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

//go:embed result.schema.json
var schemaJSON []byte

// JSONSchema is the JSON Schema of the document.
func JSONSchema() []byte { return slices.Clone(schemaJSON) }
