// Package reader reads directories of reports by inference-perf, or this program in its shape.
package reader

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/pattern"
)

// The names of what a stage's latency and throughput hold.
const (
	TimeToFirstToken = "time_to_first_token"
	NormalizedTime   = "normalized_time_per_output_token"
	InterToken       = "inter_token_latency"

	InputRate  = "input_tokens_per_sec"
	OutputRate = "output_tokens_per_sec"
	TotalRate  = "total_tokens_per_sec"
)

// StageReport is the report of one stage. What a report does not say is not in the maps.
type StageReport struct {
	Number      int
	Count       int      // requests, those included that failed
	Achieved    float64  // requests per second
	Requested   *float64 // nil means not said
	Concurrency float64  // 0: none
	// Latency holds statistics, such as mean, median and p99, by the metric; seconds.
	Latency    map[string]map[string]float64
	Throughput map[string]float64
	// Goodput is the share of good requests in percent, GoodRate their number per second; nil: not
	// said.
	Goodput, GoodRate *float64
}

// Report is what a directory holds.
type Report struct {
	Stages []StageReport // in the order of their numbers
	Faults []error       // of files that could not be read
}

// stageName is the name of a stage's report, with the prefix that a user may have given.
var stageName = pattern.New(`^(.*)stage_(\d{1,9})_lifecycle_metrics\.json$`)

// ErrNoStages is a directory without reports of stages.
var ErrNoStages = errors.New("no stage reports (stage_N_lifecycle_metrics.json): set report.request_lifecycle.per_stage to true")

// Read reads a directory's reports of stages. A file that cannot be read is told of.
func Read(dir fs.FS) (*Report, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, err
	}
	r := new(Report)
	for _, e := range entries {
		m := stageName().FindStringSubmatch(e.Name())
		if m == nil || e.IsDir() || strings.Contains(m[1], "adapter_") {
			continue
		}
		text, err := fs.ReadFile(dir, e.Name())
		if err != nil {
			r.Faults = append(r.Faults, err)
			continue
		}
		s, err := Parse(text)
		if err != nil {
			r.Faults = append(r.Faults, fmt.Errorf("%s: %w", e.Name(), err))
			continue
		}
		s.Number, _ = strconv.Atoi(m[2]) // nine digits at most
		r.Stages = append(r.Stages, *s)
	}
	if len(r.Stages)+len(r.Faults) == 0 {
		return nil, ErrNoStages
	}
	slices.SortStableFunc(r.Stages, func(a, b StageReport) int { return a.Number - b.Number })
	return r, nil
}

// file is the part of a report that is read.
type file struct {
	Load struct {
		Count       int      `json:"count"`
		Achieved    *float64 `json:"achieved_rate"`
		Requested   *float64 `json:"requested_rate"`
		Concurrency float64  `json:"concurrency"`
	} `json:"load_summary"`
	Successes struct {
		Latency    map[string]map[string]json.RawMessage `json:"latency"`
		Throughput map[string]json.RawMessage            `json:"throughput"`
		Goodput    struct {
			Percentage *float64 `json:"goodput_percentage"`
			Rate       *float64 `json:"request_goodput"`
			OldRate    *float64 `json:"request_goodput_rate"`
		} `json:"goodput_metrics"`
	} `json:"successes"`
}

// Parse reads the report of a stage.
func Parse(text []byte) (*StageReport, error) {
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, err
	}
	if f.Load.Achieved == nil {
		return nil, errors.New("load_summary.achieved_rate is missing: not a stage report")
	}
	s := &StageReport{
		Count: f.Load.Count, Achieved: *f.Load.Achieved, Requested: f.Load.Requested, Concurrency: f.Load.Concurrency,
		Latency: map[string]map[string]float64{}, Throughput: numbers(f.Successes.Throughput),
		Goodput: f.Successes.Goodput.Percentage, GoodRate: cmp.Or(f.Successes.Goodput.Rate, f.Successes.Goodput.OldRate),
	}
	for name, values := range f.Successes.Latency {
		if n := numbers(values); len(n) > 0 {
			s.Latency[name] = n
		}
	}
	return s, nil
}

// numbers are the members of an object that are numbers.
func numbers(raw map[string]json.RawMessage) map[string]float64 {
	out := map[string]float64{}
	for name, text := range raw {
		var v *float64
		if json.Unmarshal(text, &v) == nil && v != nil {
			out[name] = *v
		}
	}
	return out
}
