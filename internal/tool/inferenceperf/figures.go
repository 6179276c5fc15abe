package inferenceperf

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/pattern"
	"github.com/inferometer/inferometer/internal/lib/pyjson"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/importer"
)

// importNotes say where the original's definitions differ from ours.
func importNotes() []string {
	return []string{
		"inference-perf's request latency ends when it has counted the response's tokens; ours with the last byte.",
		"inference-perf's tokens are those with visible text: reasoning and tool calls are not timed, and a response with one token has no time to first token.",
		"inference-perf gives all tokens of a chunk the chunk's time: with a tokenizer its inter-token latencies have zeros, where ours share out the gap.",
	}
}

// lifecycle is a report of a stage or of a run.
type lifecycle struct {
	Seconds float64 `json:"benchmark_time_seconds"`
	Load    struct {
		Count       int64    `json:"count"`
		Requested   *float64 `json:"requested_rate"`
		Achieved    float64  `json:"achieved_rate"`
		Concurrency float64  `json:"concurrency"`
	} `json:"load_summary"`
	Successes struct {
		Count      int64                          `json:"count"`
		Latency    map[string]map[string]*float64 `json:"latency"`
		Throughput map[string]*float64            `json:"throughput"`
		Prompt     map[string]*float64            `json:"prompt_tokens"`
		Output     map[string]*float64            `json:"output_len"`
		Goodput    map[string]*float64            `json:"goodput_metrics"`
	} `json:"successes"`
	Failures struct {
		Count int64 `json:"count"`
	} `json:"failures"`

	number int // of the stage; -1: it is of the whole run
}

// figures reads reports without single requests: a file, or those of a directory, of which the
// stages come before the whole run.
func figures(_ tool.Env, from tool.From) (*tool.Figures, error) {
	heads, err := importer.Files(from.Path, ".json")
	if err != nil {
		return nil, err
	}
	var reports []lifecycle
	for _, h := range heads {
		if !h.Has("load_summary", "successes") || strings.HasPrefix(filepath.Base(h.Path), "adapter_") {
			continue
		}
		r, err := readLifecycle(h.Path)
		if err != nil {
			return nil, fmt.Errorf("%s: reading what inference-perf wrote: %w", h.Path, err)
		}
		reports = append(reports, *r)
	}
	if slices.ContainsFunc(reports, func(r lifecycle) bool { return r.number >= 0 }) {
		reports = slices.DeleteFunc(reports, func(r lifecycle) bool { return r.number < 0 })
	}
	if len(reports) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(reports, func(a, b lifecycle) int { return cmp.Compare(a.number, b.number) })
	f := &tool.Figures{Imported: tool.Imported{By: "inference-perf", Notes: importNotes()}}
	var stages []plan.Stage
	for i := range reports {
		r := &reports[i]
		stages = append(stages, r.stage())
		f.Loads = append(f.Loads, tool.LoadFigures{OK: r.Successes.Count, Failed: r.Failures.Count, Seconds: r.Seconds, Metrics: r.metrics()})
		if r.number < 0 && r.Load.Requested == nil {
			f.Notes = append(f.Notes, "The summary is of all stages, and does not say under which load they ran: read the stages.")
		}
	}
	f.Plan = importer.Plan("", "", "", true, stages)
	f.Notes = append(f.Notes, "inference-perf divides its rates by the time from its first request to its last response, as we do; its goodput is a share of the requests that succeeded, ours of all.")
	return f, nil
}

var stageFile = pattern.New(`stage_(\d+)_lifecycle_metrics`)

func readLifecycle(name string) (*lifecycle, error) {
	file, err := tool.Inputs().Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := &lifecycle{number: -1}
	err = pyjson.NewDecoder(tool.Inputs().Reader(file, name)).Value(r)
	var other *json.UnmarshalTypeError
	if err != nil && !errors.As(err, &other) { // what does not fit is left out
		return nil, err
	}
	if m := stageFile().FindStringSubmatch(filepath.Base(name)); m != nil {
		r.number, _ = strconv.Atoi(m[1])
	}
	return r, nil
}

func (r *lifecycle) stage() plan.Stage {
	n := r.Load.Count
	switch {
	case r.Load.Concurrency >= 1:
		return importer.Stage(0, int(min(r.Load.Concurrency, 1e9)), n)
	case r.Load.Requested != nil && *r.Load.Requested > 0:
		return importer.Stage(*r.Load.Requested, 0, n)
	case r.Load.Achieved > 0:
		return importer.Stage(r.Load.Achieved, 0, n)
	case r.Seconds > 0 && n > 0:
		return importer.Stage(importer.Rate(n, r.Seconds), 0, n)
	}
	return importer.Stage(1, 0, n)
}

// metrics are the figures that we have too. Times are seconds there.
func (r *lifecycle) metrics() importer.Figures {
	f := importer.Figures{}
	set := func(id string, of map[string]*float64, by float64) {
		for name, v := range of {
			if s := importer.Statistic(name); v != nil && s != "" {
				f.Set(id, s, *v*by)
			}
		}
	}
	for _, id := range []string{"request_latency", "normalized_time_per_output_token", "time_per_output_token", "time_to_first_token", "inter_token_latency"} {
		set(id, r.Successes.Latency[id], 1e3)
	}
	set("input_sequence_length", r.Successes.Prompt, 1)
	set("output_sequence_length", r.Successes.Output, 1)
	for key, id := range map[string]string{
		"requests_per_sec": "request_throughput", "input_tokens_per_sec": "input_token_throughput", "output_tokens_per_sec": "output_token_throughput", "total_tokens_per_sec": "total_token_throughput",
	} {
		if v := r.Successes.Throughput[key]; v != nil {
			f.Set(id, "avg", *v)
		}
	}
	if v := r.Successes.Goodput["request_goodput"]; v != nil {
		f.Set("request_goodput", "avg", *v)
	}
	f.Set("request_count", "avg", float64(r.Successes.Count))
	f.Set("error_rate", "avg", float64(r.Failures.Count)/float64(max(r.Successes.Count+r.Failures.Count, 1)))
	return f
}
