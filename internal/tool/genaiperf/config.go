package genaiperf

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/lib/orderedjson"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/args"
)

// config is what the JSON report repeats of the command line, in the words and the
// order of the original.
func (t *job) config() (string, error) {
	text, err := orderedjson.Compact(t.configObject())
	if err != nil {
		return "", err
	}
	return indented(text)
}

// indented is a document as a member of another.
func indented(text []byte) (string, error) {
	var b bytes.Buffer
	err := json.Indent(&b, text, "  ", "  ")
	return b.String(), err
}

func (t *job) configObject() object {
	s := t.set.Typed()
	metrics := s.MetricsURLs
	if len(metrics) == 0 {
		metrics = []string{"http://localhost:9400/metrics"}
	}
	subcommand := "profile"
	if s.Sweep.Kind != "" {
		subcommand = "analyze"
	}
	return object{
		{"model_names", s.Models},
		{"subcommand", subcommand},
		{"verbose", s.Verbose},
		{"template_filename", "genai_perf_config.yaml"},
		{"analyze", object{{"sweep_parameters", sweepConfig(s.Sweep)}}},
		{"endpoint", object{
			{"model_selection_strategy", map[bool]string{false: "round_robin", true: "random"}[s.PickRandom]},
			{"backend", s.Backend},
			{"custom", s.Endpoint},
			{"type", s.EndpointType},
			{"streaming", s.Streaming},
			{"server_metrics_urls", metrics},
			{"url", cmp.Or(s.URL, map[string]string{"triton": "localhost:8001"}[s.ServiceKind], "localhost:8000")},
			{"grpc_method", s.GRPCMethod},
			{"service_kind", s.ServiceKind},
			{"output_format", outputFormat(s)},
		}},
		{"perf_analyzer", analyzerConfig(s)},
		{"input", inputConfig(s)},
		{"output", object{
			{"artifact_directory", pythonPath(s.Artifacts)},
			{"checkpoint_directory", pythonPath(s.CheckpointDir)},
			{"profile_export_file", s.ExportFile},
			{"generate_plots", s.Plots},
			{"enable_checkpointing", s.Checkpoint != ""},
		}},
		{"tokenizer", object{
			{"name", t.plan.Tokenizer.Name},
			{"revision", cmp.Or(s.TokenizerRevision, "main")},
			{"trust_remote_code", s.TrustRemoteCode},
			{"_enable_debug_logging", true},
		}},
		{"process", object{{"input_path", "aggregated"}}},
	}
}

// sweepConfig is what a sweep goes through; without one it is the original's default.
func sweepConfig(s args.Sweep) object {
	switch {
	case s.Kind == "":
		return object{{"concurrency", object{{"min", 1}, {"max", 1024}}}}
	case len(s.List) > 0:
		return object{{s.Kind, s.List}}
	default:
		return object{{s.Kind, object{{"min", s.Min}, {"max", s.Max}}}}
	}
}

func outputFormat(s *args.Settings) string {
	switch {
	case s.ServiceKind == "triton":
		return s.Backend
	case s.EndpointType == "chat":
		return "openai_chat_completions"
	case s.EndpointType == "generate":
		return "triton_generate"
	case s.Media():
		return "openai_multimodal"
	case s.EndpointType == "completions", s.EndpointType == "embeddings":
		return "openai_" + s.EndpointType
	default:
		return s.EndpointType
	}
}

// anyStability is the default: all measurements agree.
const anyStability = 999

func analyzerConfig(s *args.Settings) object {
	stimulus := object{{"concurrency", s.Concurrency}}
	switch {
	case s.FixedSchedule:
		stimulus = object{{"fixed_schedule", true}}
	case s.SessionConcurrency > 0:
		stimulus = object{{"session_concurrency", s.SessionConcurrency}}
	case s.Rate > 0:
		stimulus = object{{"request_rate", pythonRatio(s.Rate)}}
	}
	measurement := object{{"mode", "request_count"}, {"num", ""}} // what was not given is empty
	switch {
	case s.RequestsGiven:
		measurement.Set("num", s.Requests)
	case s.ToldRequests > 0:
		measurement.Set("num", s.ToldRequests)
	case s.Interval+s.ToldInterval > 0:
		measurement = object{{"mode", "interval"}, {"num", (s.Interval + s.ToldInterval).Milliseconds()}}
	}
	stability := any(int(anyStability))
	if s.Stability != anyStability {
		stability = pythonRatio(s.Stability)
	}
	return object{
		{"path", "perf_analyzer"},
		{"verbose", s.AnalyzerVerbose},
		{"stimulus", stimulus},
		{"stability_percentage", stability},
		{"measurement", measurement},
		{"warmup_request_count", s.Warmup},
	}
}

func inputConfig(s *args.Settings) object {
	spread := func(mean, stddev int) object { return object{{"mean", mean}, {"stddev", stddev}} }
	extra := any("")
	if s.Extra != nil {
		o := object{}
		for _, x := range s.Extra {
			o.Set(x.Name, noNull(x.Value))
		}
		extra = o
	}
	goodput := any("")
	if len(s.Goodput) > 0 {
		var o object
		for _, g := range s.Goodput {
			o.Set(g.Metric, pythonRatio(g.Value))
		}
		goodput = o
	}
	output := object{{"mean", ""}, {"deterministic", s.Deterministic}, {"stddev", s.OutputStddev}}
	if s.OutputMean > 0 {
		output.Set("mean", s.OutputMean)
	}
	source, file := "synthetic", s.InputFile
	switch {
	case s.PayloadFile != "":
		source, file = "payload", "payload:"+s.PayloadFile
	case s.InputFile != "":
		source = "file"
	case len(s.SyntheticFiles) > 0:
		file = "synthetic:" + strings.Join(s.SyntheticFiles, ",")
	}
	return object{
		{"batch_size", s.Batch},
		{"extra", extra},
		{"goodput", goodput},
		{"header", headerNames(s.Headers)},
		{"file", filepath.ToSlash(file)},
		{"num_dataset_entries", s.Prompts},
		{"random_seed", s.Seed},
		{"audio", object{
			{"batch_size", s.BatchAudio}, {"length", object{{"mean", pythonSeconds(s.AudioLengthMean)}, {"stddev", pythonSeconds(s.AudioLengthStddev)}}},
			{"format", s.AudioFormat}, {"depths", s.AudioDepths}, {"sample_rates", sampleRates(s)}, {"num_channels", s.AudioChannels},
		}},
		{"image", object{
			{"width", spread(s.ImageWidthMean, s.ImageWidthStddev)}, {"height", spread(s.ImageHeightMean, s.ImageHeightStddev)},
			{"batch_size", s.BatchImage}, {"format", s.ImageFormat},
		}},
		{"output_tokens", output},
		{"synthetic_tokens", spread(s.InputMean, s.InputStddev)},
		{"prefix_prompt", object{{"num", s.Prefixes}, {"length", s.PrefixLength}}},
		{"sessions", object{
			{"num", s.Sessions}, {"turns", object{{"mean", s.TurnsMean}, {"stddev", s.TurnsStddev}}},
			{"turn_delay", object{{"mean", s.TurnDelayMean}, {"ratio", pythonRatio(s.DelayRatio)}, {"stddev", s.TurnDelayStddev}}},
		}},
		{"prompt_source", source},
		{"synthetic_files", append([]string{}, s.SyntheticFiles...)},
		{"payload_file", s.PayloadFile},
	}
}

// sampleRates are kHz: floats where the user gave them.
func sampleRates(s *args.Settings) any {
	if !s.AudioRatesGiven {
		return s.AudioRates
	}
	var out []any
	for _, r := range s.AudioRates {
		out = append(out, pythonRatio(r))
	}
	return out
}

// pythonPath is a path as Python writes it: as it was given, but for steps that lead nowhere.
func pythonPath(name string) string {
	name = filepath.ToSlash(name)
	steps := slices.DeleteFunc(strings.Split(name, "/"), func(step string) bool { return step == "" || step == "." })
	path := strings.Join(steps, "/")
	if strings.HasPrefix(name, "/") {
		return "/" + path
	}
	return cmp.Or(path, ".")
}

// noNull is a value with an empty text for each null that is not in a list, as the original
// writes them.
func noNull(v any) any {
	switch v := v.(type) {
	case nil:
		return ""
	case map[string]any:
		out := map[string]any{}
		for name := range v {
			out[name] = noNull(v[name])
		}
		return out
	}
	return v
}

// pythonSeconds is a length as Python writes it: the default is an integer, what a
// user gives is not.
func pythonSeconds(v float64) json.Number {
	if v == 0 {
		return "0"
	}
	return pythonRatio(v)
}

// pythonRatio is a number as Python writes it, with a fraction.
func pythonRatio(v float64) json.Number {
	return json.Number(number.Python(v))
}

// headerNames are the headers that were sent, without their values: those may be keys.
func headerNames(headers []string) any {
	if len(headers) == 0 {
		return ""
	}
	var names []string
	for _, h := range headers {
		name, _, _ := strings.Cut(h, ":")
		names = append(names, name)
	}
	return names
}
