package args

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/message"
)

// origins are the places of the config that parts of the plan come from.
func origins() [][2]string {
	return [][2]string{
		{"target.urls[0]", "server.base_url"}, {"target.tls", "server"}, {"target.endpoint", "api.type"}, {"target.model", "server.model_name"}, {"target.headers", "api.headers"},
		{"target.session.id", "api.session_id_header_key"}, {"target.session.token", "api.session_token_header_key"},
		{"target.slo_headers.ttft", "api.slo_ttft_header"}, {"target.slo_headers.tpot", "api.slo_tpot_header"},
		{"target.body", "api.response_format"}, {"target.timeouts.request", "load.request_timeout"},
		{"target.retries.count", "load.request_retries"}, {"target.retries.backoff", "load.request_retry_backoff_sec"}, {"target", "api"},
		{"data.input", "data.input_distribution"}, {"data.shared_prefix.groups", "data.shared_prefix.num_unique_system_prompts"},
		{"data.shared_prefix.prompts", "data.shared_prefix.num_users_per_system_prompt"}, {"data.shared_prefix.prefix", "data.shared_prefix.system_prompt_len"},
		{"data.shared_prefix.question", "data.shared_prefix.question_len"}, {"data.conversations.dynamic_prompt", "data.conversation_replay.dynamic_system_prompt_len"},
		{"data.conversations.turns", "data.conversation_replay.turns_per_conversation"}, {"data.conversations.input", "data.conversation_replay.input_tokens_per_turn"},
		{"data.conversations.tool_latency_ms", "data.conversation_replay.tool_call_latency_sec"}, {"data.conversations", "data.conversation_replay"}, {"data.agents", "data.synthetic_agentic"},
		{"data.adapters", "load.lora_traffic_split"}, {"data.media", "data.multimodal"}, {"data.shared_prefix.media", "data.shared_prefix.multimodal"}, {"stages", "load.stages"}, {"saturation", "load.sweep"},
		{"breakers", "circuit_breakers"}, {"probes.prometheus", "metrics.prometheus"}, {"probes.scrape", "metrics.scrape_urls"},
		{"output.s3", "storage.simple_storage_service"}, {"output.gcs", "storage.google_cloud_storage"}, {"output", "storage.local_storage"},
		{"goodput", "report.goodput.constraints"}, {"tokenizer.name", "tokenizer.pretrained_model_name_or_path"},
		{"data.dataset.path", "data.path"}, {"data.dataset.hub", "data.visionarena.hf_dataset_name"}, {"data.dataset.files", "data.visionarena.hf_data_files"},
		{"data.dataset.at", "data.visionarena.insertion_point"},
		{"data.dataset.input", "data.input_distribution"}, {"data.dataset.output", "data.output_distribution"}, {"data.dataset", "data"},
		{"data.trace.lengths", "data.trace.file"}, {"data.trace.arrivals", "load.trace.file"}, {"data.corpus", "data.corpus_file_path"}, {"data.template", "data.use_chat_template"},
	}
}

// anywhere is the section of keys that have the same names wherever they stand.
const anywhere = ""

// renamed are the keys of sections of the config that have other names in a plan.
func renamed() map[string]map[string]string {
	replay := map[string]string{
		"dir": "trace_directory", "files": "trace_files", "hub": "hf_dataset_path", "models": "model_mapping", "model": "static_model_name",
		"max_tokens": "default_max_tokens", "random_id": "inject_random_session_id", "sessions": "duplicate_sessions_target", "max_wait": "max_wait_ms",
		"predecessor_timeout": "predecessor_wait_timeout_sec", "no_substitution": "disable_output_substitution", "headers": "attribute_to_header_map",
		"labels": "attribute_to_label_map", "idle_gap": "trace_idle_gap_cap_seconds", "block_size": "default_block_size", "entries": "num_dataset_entries",
	}
	bucket := map[string]string{
		"dir": "path", "prefix": "report_file_prefix", "bucket": "bucket_name", "endpoint": "endpoint_url", "region": "region_name", "addressing": "addressing_style",
	}
	images := map[string]string{"sizes": "resolutions", "at": "insertion_point"}
	videos := map[string]string{"clips": "profiles", "at": "insertion_point"}
	sounds := map[string]string{"clips": "durations", "at": "insertion_point"}
	return map[string]map[string]string{
		"data.synthetic_agentic": {
			"sessions": "num_sessions", "turns": "turns_per_session", "input": "input_tokens_per_turn", "output": "output_tokens_per_turn", "head": "shared_system_prompt_len",
			"loop": "tool_loop_depth", "catalog": "tool_catalog_size_per_agent", "calls": "parallel_tool_calls_per_step", "fanout": "fanout_probability", "children": "sub_agents_per_spawn",
			"depth": "max_depth", "events": "max_events_per_session", "tool_latency_s": "tool_call_latency_sec", "think_s": "user_think_time_sec",
			"compact_at": "context_compaction.trigger_tokens", "compact_to": "context_compaction.target_tokens", "themes": "theme_mix",
		},
		"data.otel_trace_replay": replay, "data.weka_trace_replay": replay,
		"circuit_breakers": {"matches": "metrics.matches", "rules": "metrics.rules"},
		"load.sweep": {
			"kind": "type", "requests": "num_requests", "stages": "num_stages", "duration": "stage_duration", "percentile": "saturation_percentile",
		},
		"circuit_breakers.triggers":      {"kind": "type", "window": "window_sec"},
		anywhere:                         {"dist": "type", "stddev": "std_dev"},
		"load.lora_traffic_split":        {"share": "split"},
		"load.stages":                    {"concurrency": "concurrency_level"},
		"server":                         {"ca": "ca_path", "cert": "cert_path", "key": "key_path"},
		"storage.local_storage":          bucket,
		"storage.google_cloud_storage":   bucket,
		"storage.simple_storage_service": bucket,
		"data.conversation_replay":       {"count": "num_conversations", "shared_prompt": "shared_system_prompt_len", "max_context": "max_model_len"},
		"data.multimodal.image":          images, "data.shared_prefix.multimodal.image": images,
		"data.multimodal.video": videos, "data.shared_prefix.multimodal.video": videos,
		"data.multimodal.audio": sounds, "data.shared_prefix.multimodal.audio": sounds,
	}
}

var index = regexp.MustCompile(`\[\d+\]`)

// rename gives the keys of a path the names that they have in the config.
func rename(path string) string {
	keys, tables := strings.Split(path, "."), renamed()
	out := keys[0]
	for _, key := range keys[1:] {
		name, at, indexed := strings.Cut(key, "[")
		to, ok := tables[index.ReplaceAllString(out, "")][name]
		if !ok {
			to, ok = tables[anywhere][name]
		}
		if !ok {
			to = name
		}
		out += "." + to
		if indexed {
			out += "[" + at
		}
	}
	return out
}

// Names are those of the config, its places and its stages, which count from 0 as the files
// of the reports do.
func (a *Action) Names() message.Names {
	names := message.Table(named())
	return message.Names{
		Of: func(path string) (string, bool) {
			if name, ok := names(path); ok {
				return name, true
			}
			_, at := a.origin(path)
			return at, true
		},
		Place: func(path string) (where, at string) { return flagged(a.origin(path)) },
		Stage: func(i int) string { return fmt.Sprintf("stage_%d", a.Options.StageNumber(i)) },
	}
}

// named is what messages name that has no place in the config where its part of the plan comes
// from; an empty name: the config has nothing like it.
func named() [][2]string {
	rows := [][2]string{
		{"target.api_key", "server.api_key"}, {"target.slo_headers", "api.slo_ttft_header or api.slo_tpot_header"},
		{"data.ignore_eos", "server.ignore_eos"}, {"data.dataset.hub", ""}, {"data.trace", "load.trace"},
		{"data.media.video.format", "representation"}, {"seed", "load.base_seed"}, {"drain", "load.stage_teardown_grace_seconds"},
		{"tokenizer.count_output", "report.request_lifecycle.use_server_output_tokens: false"},
		{"remedy.triton", "this config cannot name it: use `inferometer run --protocol triton`"},
		{"remedy.chat", "set api.type to chat or anthropic_messages"}, {"remedy.openai", "set api.type to chat"},
		{"remedy.url", "give an http:// or https:// address"}, {"remedy.schemes", "http or https"},
	}
	for _, path := range []string{
		"target.path", "target.body", "target.protocol", "target.preflight", "target.http2", "target.proxy", "target.source_addresses", "target.retry_after", "target.triton",
		"data.prompts", "data.batch", "data.tensors", "data.min_tokens", "data.output_cap", "data.input_tokens_count", "data.salt", "data.payload",
		"stages.max_in_flight", "stages.warmup", "max_errors", "levels", "measurement", "limits", "probes.prometheus.project", "remedy",
	} {
		rows = append(rows, [2]string{path, ""})
	}
	return rows
}

// locate is the place of the config that a path of the plan comes from, and its path there.
func (b *builder) locate(path string) (where, at string) {
	at = b.origin(path)
	return b.whereIs(at), at
}

// origin is the path of the config that a path of the plan comes from.
func (b *builder) origin(at string) string { return rename(b.section(at)) }

func (b *builder) section(at string) string {
	rows := [][2]string{{"data.output", b.outputKey()}, {"data.replay", "data." + b.value("data.type").text()}}
	for i, br := range b.plan.Breakers { // those in force, which are some of those that are defined
		k := slices.IndexFunc(b.value("circuit_breakers").items(), func(v *value) bool { return v.child("name").text() == br.Name })
		rows = append(rows, [2]string{fmt.Sprintf("breakers[%d]", i), fmt.Sprintf("circuit_breakers[%d]", k)})
	}
	for i, number := range b.action.Options.Stages {
		rows = append(rows, [2]string{fmt.Sprintf("stages[%d]", i), fmt.Sprintf("load.stages[%d]", number)})
	}
	for _, o := range append(rows, origins()...) {
		if within(at, o[0]) {
			return o[1] + at[len(o[0]):]
		}
	}
	return at
}
