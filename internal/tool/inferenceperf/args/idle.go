package args

import (
	"fmt"
	"slices"
	"strings"
)

// idle tells of every setting that is accepted and does nothing beside the others. What
// stands there as its default says nothing: a config that a run has written has all of
// them.
func (b *builder) idle() {
	b.idleAPI()
	b.idleData()
	b.idleLoad()
	b.idleReports()
}

// useless notes that a setting has no effect, where it was given and is not the default.
func (b *builder) useless(path, why string) {
	if b.changed(path) {
		b.note("%s has no effect: %s", path, why)
	}
}

// changed reports whether the config says something else than the default.
func (b *builder) changed(path string) bool {
	v := b.at(path)
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
	if b.at("api.response_format.type").text() == "json_object" {
		b.useless("api.response_format.json_schema", "api.response_format.type is json_object")
		b.useless("api.response_format.name", "api.response_format.type is json_object")
	}
	if b.plan.Target.SLOHeaders.Unit == "" {
		b.useless("api.slo_unit", "no request carries an objective, such as api.headers: {x-slo-ttft-ms: 200}")
	}
	if b.at("server.type").text() == "mock" {
		for _, name := range []string{"cert_path", "key_path", "ca_path", "insecure"} {
			b.useless("server."+name, "server.type is mock")
		}
	}
}

// idleData tells of what belongs to other types of data.
func (b *builder) idleData() {
	kind := b.at("data.type").text()
	why := "data.type is " + kind
	for _, name := range []string{"shared_prefix", "otel_trace_replay", "weka_trace_replay", "conversation_replay", "visionarena", "synthetic_agentic"} {
		if name != kind {
			b.useless("data."+name, why)
		}
	}
	dataset := slices.Contains([]string{"shareGPT", "cnn_dailymail", "infinity_instruct", "billsum_conversations"}, kind)
	for _, s := range []struct {
		name string
		used bool
	}{
		{"path", dataset || kind == "visionarena"},
		{"corpus_file_path", kind == "synthetic"},
		{"trace", kind == "random"},
		{"multimodal", kind == "synthetic" || kind == "random" || kind == "shared_prefix"},
		{"input_distribution", dataset || kind == "synthetic" || kind == "random"},
		{"output_distribution", dataset || kind == "synthetic" || kind == "random" || kind == "visionarena"},
	} {
		if !s.used {
			b.useless("data."+s.name, why)
		}
	}
	chat := b.at("api.type").text() != "completion"
	if lengths := "data.chat_lengths"; !chat {
		b.useless(lengths, "api.type is completion")
	} else if why := "answers of chats have 30 tokens, as in the original; data.chat_lengths: data asks for others"; b.originalLengths() {
		if b.plan.Data.Dataset.Whole {
			b.useless("data.input_distribution", "conversations are sent as they are, as in the original; data.chat_lengths: data looks at their lengths")
		}
		if b.plan.Data.Dataset.Whole || kind == "visionarena" || kind == "synthetic" && b.at("data.multimodal") != nil {
			b.useless("data.output_distribution", why)
		}
	}
	if dataset && !b.plan.Data.Dataset.Whole {
		for _, name := range []string{"input_distribution", "output_distribution"} {
			for _, part := range []string{"type", "mean", "std_dev", "variance", "skew"} {
				b.useless("data."+name+"."+part, why+": only min and max say which rows are taken")
			}
		}
	}
	if kind == "random" && b.at("data.trace") != nil {
		for _, name := range []string{"input_distribution", "output_distribution", "multimodal"} {
			b.useless("data."+name, "data.trace says the lengths")
		}
	}
	if kind == "visionarena" && b.at("data.path") != nil {
		for _, name := range []string{"hf_dataset_name", "hf_split", "hf_data_files"} {
			b.useless("data.visionarena."+name, "data.path says what is read")
		}
	}
	if kind == "shared_prefix" {
		b.idlePrefix()
	}
	if kind == "weka_trace_replay" {
		for _, name := range []string{"override_tool_call_max_tokens", "tool_choice_mode", "bad_tool_call_handling", "include_errors"} {
			b.useless("data.weka_trace_replay."+name, "block-hash traces have no tools and no errors")
		}
	}
}

func (b *builder) idlePrefix() {
	const at = "data.shared_prefix."
	if !b.at(at + "enable_multi_turn_chat").yes() {
		b.useless(at+"turns", at+"enable_multi_turn_chat is false")
	}
	if b.at(at+"multimodal") != nil {
		b.useless("data.multimodal", "data.shared_prefix.multimodal takes its place")
	}
	for _, name := range []string{"question", "output"} {
		if b.at(at+name+"_distribution") != nil {
			b.useless(at+name+"_len", at+name+"_distribution takes its place")
		}
	}
}

func (b *builder) idleLoad() {
	kind := b.at("load.type").text()
	if b.at("load.request_retries").whole() == 0 {
		b.useless("load.request_retry_backoff_sec", "load.request_retries is 0")
	}
	if kind != "trace_replay" {
		b.useless("load.trace", "load.type is "+kind)
	}
	if b.at("load.sweep") != nil {
		b.useless("load.stages", "load.sweep makes the stages")
		return
	}
	for i, s := range b.at("load.stages").items() {
		at := fmt.Sprintf("load.stages[%d]", i)
		switch {
		case kind == "concurrent" && (s.at("rate") != nil || s.at("duration") != nil):
			b.note("%s: rate and duration have no effect: load.type is concurrent", at)
		case kind == "trace_replay" && b.at("data.trace") != nil:
			b.note("%s: rate and duration have no effect: load.trace says when requests go, and data.trace how many", at)
		}
	}
}

func (b *builder) idleReports() {
	if b.at("metrics.type").text() == "default" {
		b.useless("metrics.prometheus", "metrics.type is default")
		if len(b.at("metrics.scrape_urls").items()) == 0 {
			b.note("metrics.type default collects nothing: take prometheus, or name the servers' own pages in metrics.scrape_urls")
		}
	}
	if b.at("metrics") == nil {
		b.useless("report.prometheus.per_stage", "there is no metrics section")
	}
	const at = "report.request_lifecycle."
	if !b.at(at + "per_request").yes() {
		for _, name := range []string{"request", "response", "info", "response_chunks", "computed_metrics"} {
			b.useless(at+"per_request_fields."+name, at+"per_request is false")
		}
	}
	if len(b.at("load.lora_traffic_split").items()) == 0 {
		b.useless(at+"per_adapter_stage", "there is no load.lora_traffic_split")
	}
}
