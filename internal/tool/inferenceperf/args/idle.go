package args

import (
	"fmt"
	"slices"
	"strings"
)

// idle tells of every setting that is accepted and does nothing beside the others. Defaults do not
// count: a config that a run has written has all of them.
func (b *builder) idle() {
	b.idleAPI()
	b.idleData()
	b.idleLoad()
	b.idleReports()
}

// useless notes which settings have no effect, where they were given and are not the default.
func (b *builder) useless(why, prefix string, names ...string) {
	for _, name := range names {
		if path := prefix + name; b.changed(path) {
			b.warn("%s has no effect: %s", path, why)
		}
	}
}

// changed reports whether the config says something else than the default.
func (b *builder) changed(path string) bool {
	v := b.value(path)
	if !v.given() {
		return false
	}
	f, def := root(), any(nil)
	for name := range strings.SplitSeq(path, ".") {
		k := f.objectForm().find(name)
		if k == nil {
			return true
		}
		f, def = k.form, k.def
	}
	return v.kind == object || fmt.Sprint(v.plain()) != fmt.Sprint(def)
}

func (b *builder) idleAPI() {
	if b.value("api.response_format.type").text() == "json_object" {
		b.useless("api.response_format.type is json_object", "api.response_format.", "json_schema", "name")
	}
	if b.plan.Target.SLOHeaders.Unit == "" {
		b.useless("no request carries an objective, such as api.headers: {x-slo-ttft-ms: 200}", "api.", "slo_unit")
	}
	if b.value("server.type").text() == "mock" {
		b.useless("server.type is mock", "server.", "cert_path", "key_path", "ca_path", "insecure")
	}
}

// idleData tells of what belongs to other types of data.
func (b *builder) idleData() {
	kind := b.value("data.type").text()
	why := "data.type is " + kind
	sections := []string{"shared_prefix", "otel_trace_replay", "weka_trace_replay", "conversation_replay", "visionarena", "synthetic_agentic"}
	b.useless(why, "data.", slices.DeleteFunc(sections, func(name string) bool { return name == kind })...)
	dataset := slices.Contains([]string{"shareGPT", "cnn_dailymail", "infinity_instruct", "billsum_conversations"}, kind)
	for _, s := range []struct {
		name string
		used bool
	}{
		{"path", dataset || kind == "visionarena"},
		{"corpus_file_path", kind == "synthetic"},
		{"trace", kind == "random"},
		{"multimodal", kind == "synthetic" || kind == "random" && !b.leftOver(kind) || kind == "shared_prefix"},
		{"input_distribution", dataset || kind == "synthetic" || kind == "random"},
		{"output_distribution", dataset || kind == "synthetic" || kind == "random" || kind == "visionarena"},
	} {
		if !s.used {
			b.useless(why, "data.", s.name)
		}
	}
	b.idleLengths(kind)
	if dataset && !b.plan.Data.Dataset.Whole {
		for _, name := range []string{"input_distribution.", "output_distribution."} {
			b.useless(why+": only min and max select rows", "data."+name, "type", "mean", "std_dev", "variance", "skew")
		}
	}
	switch kind {
	case "random":
		if b.value("data.trace") != nil {
			b.useless("lengths come from data.trace", "data.", "input_distribution", "output_distribution", "multimodal")
		}
	case "visionarena":
		if b.value("data.path") != nil {
			b.useless("rows come from data.path", "data.visionarena.", "hf_dataset_name", "hf_split", "hf_data_files")
		}
	case "shared_prefix":
		b.idlePrefix()
	case "weka_trace_replay":
		b.useless("block-hash traces have no tools and no errors", "data.weka_trace_replay.",
			"override_tool_call_max_tokens", "tool_choice_mode", "bad_tool_call_handling", "include_errors")
	}
}

// idleLengths tells of lengths that the original does not look at for chats.
func (b *builder) idleLengths(kind string) {
	whole := b.plan.Data.Dataset.Whole
	switch {
	case b.value("api.type").text() == "completion":
		b.useless("api.type is completion", "data.", "chat_lengths")
	case b.originalLengths():
		if whole {
			b.useless("conversations are sent as they are, as in the original; set data.chat_lengths: data to select by length", "data.", "input_distribution")
		}
		if whole || kind == "visionarena" || kind == "synthetic" && b.value("data.multimodal") != nil {
			b.useless("chat responses are limited to 30 tokens, as in the original; set data.chat_lengths: data to use it", "data.", "output_distribution")
		}
	}
}

func (b *builder) idlePrefix() {
	const at = "data.shared_prefix."
	if !b.value(at + "enable_multi_turn_chat").yes() {
		b.useless(at+"enable_multi_turn_chat is false", at, "turns")
	}
	for _, name := range []string{"question", "output"} {
		if b.value(at+name+"_distribution") != nil {
			b.useless(at+name+"_distribution takes its place", at, name+"_len")
		}
	}
}

func (b *builder) idleLoad() {
	kind := b.value("load.type").text()
	if b.value("load.request_retries").integer() == 0 {
		b.useless("load.request_retries is 0", "load.", "request_retry_backoff_sec")
	}
	if kind != "trace_replay" {
		b.useless("load.type is "+kind, "load.", "trace")
	}
	if b.value("load.sweep") != nil {
		b.useless("load.sweep makes the stages", "load.", "stages")
		return
	}
	for i, s := range b.value("load.stages").items() {
		switch {
		case kind == "concurrent" && (s.child("rate") != nil || s.child("duration") != nil):
			b.warn("load.stages[%d]: rate and duration have no effect: load.type is concurrent", i)
		case kind == "trace_replay" && b.value("data.trace") != nil:
			b.warn("load.stages[%d]: rate and duration have no effect: load.trace has the send times, and data.trace the number of requests", i)
		}
	}
}

func (b *builder) idleReports() {
	if b.value("metrics.type").text() == "default" {
		b.useless("metrics.type is default", "metrics.", "prometheus")
		if len(b.value("metrics.scrape_urls").items()) == 0 {
			b.warn("metrics.type default collects nothing: use prometheus, or list the servers' metrics pages in metrics.scrape_urls")
		}
	}
	if b.value("metrics") == nil {
		b.useless("there is no metrics section", "report.prometheus.", "per_stage")
	}
	const at = "report.request_lifecycle."
	if !b.value(at + "per_request").yes() {
		b.useless(at+"per_request is false", at+"per_request_fields.", "request", "response", "info", "response_chunks", "computed_metrics")
	}
	if len(b.value("load.lora_traffic_split").items()) == 0 {
		b.useless("there is no load.lora_traffic_split", at, "per_adapter_stage")
	}
}
