package genaiperf

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"strconv"

	frontend "inferometer/internal/frontend/genaiperf"
)

// config is what the JSON report repeats of the command line, in the words and the
// order of the original.
func (t *tool) config() (string, error) {
	text, err := compact(t.configObject())
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = json.Indent(&b, text, "  ", "  ")
	return b.String(), err
}

func (t *tool) configObject() object {
	s := t.set
	metrics := s.MetricsURLs
	if len(metrics) == 0 {
		metrics = []string{"http://localhost:9400/metrics"}
	}
	url := s.URL
	if url == "" {
		url = "localhost:8001"
	}
	return object{
		{"model_names", s.Models},
		{"subcommand", "profile"},
		{"verbose", s.Verbose},
		{"template_filename", "genai_perf_config.yaml"},
		{"analyze", object{{"sweep_parameters", object{{"concurrency", object{{"min", 1}, {"max", 1024}}}}}}},
		{"endpoint", object{
			{"model_selection_strategy", map[bool]string{false: "round_robin", true: "random"}[s.PickRandom]},
			{"backend", s.Backend},
			{"custom", s.Endpoint},
			{"type", s.EndpointType},
			{"streaming", s.Streaming},
			{"server_metrics_urls", metrics},
			{"url", url},
			{"grpc_method", ""},
			{"service_kind", s.ServiceKind},
			{"output_format", outputFormat(s)},
		}},
		{"perf_analyzer", analyzerConfig(s)},
		{"input", inputConfig(s)},
		{"output", object{
			{"artifact_directory", filepath.ToSlash(s.Artifacts)},
			{"checkpoint_directory", "checkpoint"},
			{"profile_export_file", s.ExportFile},
			{"generate_plots", false},
			{"enable_checkpointing", false},
		}},
		{"tokenizer", object{
			{"name", t.plan.Tokenizer.Name},
			{"revision", either(s.TokenizerRevision, "main")},
			{"trust_remote_code", false},
			{"_enable_debug_logging", true},
		}},
		{"process", object{{"input_path", "aggregated"}}},
	}
}

func outputFormat(s *frontend.Settings) string {
	switch {
	case s.ServiceKind == "triton":
		return s.Backend
	case s.EndpointType == "chat":
		return "openai_chat_completions"
	default:
		return "openai_" + s.EndpointType
	}
}

func analyzerConfig(s *frontend.Settings) object {
	stimulus := object{{"concurrency", s.Concurrency}}
	switch {
	case s.FixedSchedule:
		stimulus = object{{"fixed_schedule", true}}
	case s.SessionConcurrency > 0:
		stimulus = object{{"session_concurrency", s.SessionConcurrency}}
	case s.Rate > 0:
		stimulus = object{{"request_rate", s.Rate}}
	}
	measurement := object{{"mode", "request_count"}, {"num", s.Requests}}
	if s.Interval > 0 {
		measurement = object{{"mode", "interval"}, {"num", s.Interval.Milliseconds()}}
	}
	return object{
		{"path", "perf_analyzer"},
		{"verbose", false},
		{"stimulus", stimulus},
		{"stability_percentage", s.Stability},
		{"measurement", measurement},
		{"warmup_request_count", s.Warmup},
	}
}

func inputConfig(s *frontend.Settings) object {
	spread := func(mean, stddev int) object { return object{{"mean", mean}, {"stddev", stddev}} }
	extra := any("")
	if len(s.Extra) > 0 {
		var o object
		for _, x := range s.Extra {
			o.set(x.Name, x.Value)
		}
		extra = o
	}
	goodput := any("")
	if len(s.Goodput) > 0 {
		var o object
		for _, g := range s.Goodput {
			o.set(g.Metric, g.Value)
		}
		goodput = o
	}
	output := object{{"deterministic", s.Deterministic}, {"stddev", s.OutputStddev}}
	if s.OutputMean > 0 {
		output = append(object{{"mean", s.OutputMean}}, output...)
	}
	source := "synthetic"
	switch {
	case s.PayloadFile != "":
		source = "payload"
	case s.InputFile != "":
		source = "file"
	}
	return object{
		{"batch_size", s.Batch},
		{"extra", extra},
		{"goodput", goodput},
		{"header", headerNames(s.Headers)},
		{"file", s.InputFile},
		{"num_dataset_entries", s.Prompts},
		{"random_seed", s.Seed},
		{"audio", object{
			{"batch_size", 1}, {"length", spread(0, 0)}, {"format", "wav"}, {"depths", []int{16}}, {"sample_rates", []int{16}}, {"num_channels", 1},
		}},
		{"image", object{{"width", spread(0, 0)}, {"height", spread(0, 0)}, {"batch_size", 1}, {"format", "png"}}},
		{"output_tokens", output},
		{"synthetic_tokens", spread(s.InputMean, s.InputStddev)},
		{"prefix_prompt", object{{"num", s.Prefixes}, {"length", s.PrefixLength}}},
		{"sessions", object{
			{"num", s.Sessions}, {"turns", object{{"mean", s.TurnsMean}, {"stddev", s.TurnsStddev}}},
			{"turn_delay", object{{"mean", s.TurnDelayMean}, {"ratio", pythonRatio(s.DelayRatio)}, {"stddev", s.TurnDelayStddev}}},
		}},
		{"prompt_source", source},
		{"synthetic_files", []string{}},
		{"payload_file", s.PayloadFile},
	}
}

// pythonRatio is a number as Python writes it, with a fraction.
func pythonRatio(v float64) json.Number {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if v == math.Trunc(v) {
		text += ".0"
	}
	return json.Number(text)
}

// headerNames are the headers that were sent, without their values: those may be keys.
func headerNames(headers []string) any {
	if len(headers) == 0 {
		return ""
	}
	var names []string
	for _, h := range headers {
		name, _, _ := bytes.Cut([]byte(h), []byte(":"))
		names = append(names, string(name))
	}
	return names
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
