package args

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
)

// TestAccepted has configs that the original takes and that say something of no use: they run,
// with a warning.
func TestAccepted(t *testing.T) {
	for _, c := range []struct{ config, warning string }{
		{"circuit_breakers: [{name: a, colour: red, metrics: {matches: [x]}, triggers: [{type: consecutive, threshold: 1}]}]", "circuit_breakers[0].colour is not known and has no effect"},
		{"circuit_breakers: [{name: a, metrics: {matches: [x], rule: y}, triggers: [{type: consecutive, threshold: 1}]}]", `circuit_breakers[0].metrics.rule is not known and has no effect (did you mean "rules"?)`},
		{"circuit_breakers: [{name: a, metrics: {matches: [x]}, triggers: [{type: consecutive, threshold: 1, more: 2}]}]", "circuit_breakers[0].triggers[0].more is not known"},
		{"report: {goodput: {constraints: {tftt: 1}}}", `report.goodput.constraints.tftt is not known and has no effect (did you mean "ttft"?)`},
		{"metrics: {type: prometheus}", "metrics.type prometheus collects nothing"},
		{"data: {type: random, input_distribution: {}, output_distribution: {}, multimodal: {image: {count: {type: fixed, mean: 1}}}}", "data.multimodal has no effect: data.type is random"},
		{"data: {type: shared_prefix, shared_prefix: {multimodal: {audio: {}}}, multimodal: {image: {resolutions: 720p}}}", "data.multimodal.image.count is missing: none are sent"},
		{"data: {type: random, input_distribution: {}, output_distribution: {}, multimodal: {video: {insertion_point: -1}}}", "data.multimodal has no effect"},
		{"data: {type: shared_prefix, shared_prefix: {}, multimodal: {audio: {insertion_point: {min: 0}}}}", "data.multimodal.audio.count is missing: none are sent"},
		{"data: {type: shared_prefix, shared_prefix: {}, multimodal: {video: {insertion_point: -1}}}", "data.multimodal.video.count is missing: none are sent"},
		{"data: {type: random, input_distribution: {}, output_distribution: {}, weka_trace_replay: {hf_dataset_path: {}}}", "data.weka_trace_replay has no effect"},
		{"load: {stages: [{rate: 0.1, duration: 3}, {rate: 2, duration: 3}]}", "load.stages[0]: no request is sent"},
	} {
		config := "server: {base_url: 'http://h'}\n" + c.config
		if !strings.Contains(config, "load:") {
			config += "\nload: {stages: [{rate: 1, duration: 2}]}"
		}
		a, err := parse(config)
		if err != nil {
			t.Errorf("%s: %v", c.config, err)
			continue
		}
		if got := strings.Join(a.Warnings, "\n"); !strings.Contains(got, c.warning) {
			t.Errorf("%s: warned of %q, not of %q", c.config, got, c.warning)
		}
		if !a.Plan.Data.Media.None() {
			t.Errorf("%s: there are media", c.config)
		}
	}
}

// TestFlagsReplace has files with something wrong whose place a flag takes.
func TestFlagsReplace(t *testing.T) {
	for _, c := range []struct {
		config, flag, value, fault string
	}{
		{"report: {request_lifecycle: 0}", "--report.request_lifecycle.per_request", "true", ""},
		{"report: {request_lifecycle: 0}", "--report.prometheus.per_stage", "true", "report.request_lifecycle: must be a mapping"},
		{"report: 0", "--report.request_lifecycle.per_request", "true", ""},
		{"load: {num_workers: many, stages: [{rate: 1, duration: 2}]}", "--load.num_workers", "2", ""},
		{"load: {num_workers: many, stages: [{rate: 1, duration: 2}]}", "--load.num_workers", "few", `--load.num_workers: must be a whole number, is "few"`},
		{"load: {num_workers: many, stages: [{rate: 1, duration: 2}]}", "--load.interval", "2", "load.num_workers: must be a whole number"},
		{"load: {stages: [{rate: x, duration: 2}]}", "--load.stages", `[{"rate": 1, "duration": 2}]`, ""},
	} {
		config := "server: {base_url: 'http://h'}\n" + c.config
		if !strings.Contains(config, "load:") {
			config += "\nload: {stages: [{rate: 1, duration: 2}]}"
		}
		a, err := parse(config, c.flag, c.value)
		if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s with %s %s: %v, want %q", c.config, c.flag, c.value, err, c.fault)
		}
		if err == nil && len(a.Plan.Stages) != 1 {
			t.Errorf("%s with %s %s: %d stages", c.config, c.flag, c.value, len(a.Plan.Stages))
		}
	}
}

// TestStages holds stages against what the original sends in them.
func TestStages(t *testing.T) {
	const lengths = "data: {type: random, input_distribution: {}, output_distribution: {total_count: 500}}\n"
	const trace = "data: {type: random, trace: {file: t.csv}}\n"
	for _, c := range []struct {
		config  string
		stages  []plan.Stage
		numbers []int
		ahead   plan.Ahead
		once    bool
	}{
		{"load: {stages: [{rate: 0.1, duration: 3}, {rate: 2, duration: 3}, {rate: 0.2, duration: 4}, {rate: 1, duration: 5}], interval: 0}",
			[]plan.Stage{{Rate: 2, Requests: 6, Arrival: "constant"}, {Rate: 1, Requests: 5, Arrival: "constant"}}, []int{1, 3}, plan.Ahead{}, false},
		// 1.15 times 100 is a little less than 115 in binary fractions.
		{lengths + "load: {stages: [{rate: 1.15, duration: 100}]}", []plan.Stage{{Rate: 1.15, Requests: 114, Arrival: "constant"}}, []int{0}, plan.Ahead{Input: 115, Output: 500}, false},
		{lengths + "load: {type: concurrent, stages: [{num_requests: 40, concurrency_level: 2}]}", []plan.Stage{{Concurrency: 2, Requests: 40}}, []int{0}, plan.Ahead{Input: 41, Output: 500}, false},
		{lengths + "load: {sweep: {type: linear}}", []plan.Stage{{Arrival: "constant", Gap: 1e9}}, nil, plan.Ahead{}, false},
		// A trace of lengths ends a stage, whatever the rate makes in the time; in even spacing that is the most.
		// differs: ip-trace-rows
		{trace + "load: {stages: [{rate: 0.1, duration: 3}]}", []plan.Stage{{Rate: 0.1, Arrival: "constant"}}, []int{0}, plan.Ahead{}, true},
		{trace + "load: {stages: [{rate: 2, duration: 3}]}", []plan.Stage{{Rate: 2, Requests: 6, Arrival: "constant"}}, []int{0}, plan.Ahead{}, true},
		{trace + "load: {type: poisson, stages: [{rate: 2, duration: 3}]}", []plan.Stage{{Rate: 2, Arrival: "poisson"}}, []int{0}, plan.Ahead{}, true},
	} {
		a, err := parse("server: {base_url: 'http://h'}\n" + c.config)
		if err != nil {
			t.Errorf("%s: %v", c.config, err)
			continue
		}
		d := &a.Plan.Data
		if diff := cmp.Diff(c.stages, a.Plan.Stages); diff != "" {
			t.Errorf("%s: %s", c.config, diff)
		}
		if diff := cmp.Diff(c.numbers, a.Options.Stages); diff != "" || d.Ahead != c.ahead || d.Trace.Once != c.once {
			t.Errorf("%s: %s%+v, once %v", c.config, diff, d.Ahead, d.Trace.Once)
		}
	}
}

// Stages that send nothing keep their numbers; steps of a search, which are below 0, have their own.
func TestStageNumber(t *testing.T) {
	o := &Options{Stages: []int{0, 2, 5}}
	for i, want := range map[int]int{-3: -3, -1: -1, 0: 0, 1: 2, 2: 5, 3: 3} {
		if got := o.StageNumber(i); got != want {
			t.Errorf("stage %d is number %d, want %d", i, got, want)
		}
	}
}
