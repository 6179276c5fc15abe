package args

import (
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

// origins are a plan's keys and the flags that they come from, longer ones first.
func origins() [][2]string {
	return [][2]string{
		{"target.urls", "url"}, {"target.headers", "header"}, {"target.api_key", "header"}, {"target.model", "model"}, {"target.path", "endpoint"}, {"target.endpoint", "endpoint-type"},
		{"target.template", "extra"}, {"target.body", "extra"}, {"target.streaming", "streaming"}, {"target.triton.convention", "backend"}, {"target.protocol", "endpoint-type"},
		{"data.file", "input-file"}, {"data.passages.file", "input-file"}, {"data.passages", "batch-text"}, {"data.prompts", "prompts"}, {"data.batch", "batch-text"},
		{"data.input.stddev", "input-stddev"}, {"data.input", "input-mean"}, {"data.output.stddev", "output-stddev"}, {"data.output", "output-mean"},
		{"data.min_tokens", "deterministic"}, {"data.prefixes.length", "prefix-length"}, {"data.prefixes", "prefix-prompts"}, {"data.payload", "input-file"},
		{"data.sessions.turns", "session-turns-mean"}, {"data.sessions.delay_ratio", "session-delay-ratio"}, {"data.sessions.delay_ms", "session-turn-delay-mean"}, {"data.sessions", "sessions"},
		{"data.dataset.path", "input-file"}, {"data.dataset", "dataset"}, {"data.adapters", "model"},
		{"data.media.image.width", "image-width-mean"}, {"data.media.image.height", "image-height-mean"}, {"data.media.image.count", "batch-image"}, {"data.media.image.format", "image-format"}, {"data.media.image", "image-width-mean"},
		{"data.media.audio.depths", "audio-depths"}, {"data.media.audio.rates", "audio-sample-rates"}, {"data.media.audio.count", "batch-audio"},
		{"data.media.audio.format", "audio-format"}, {"data.media.audio.channels", "audio-num-channels"}, {"data.media.audio", "audio-length-mean"},
		{"tokenizer.revision", "tokenizer-revision"}, {"tokenizer.name", "tokenizer"}, {"stages.concurrency", "concurrency"}, {"stages.rate", "request-rate"},
		{"stages.requests", "request-count"}, {"stages.warmup.requests", "warmup"}, {"stages.duration", "interval"}, {"stages.sessions", "session-concurrency"},
		{"measurement.interval", "interval"}, {"measurement.stability", "stability"}, {"probes.scrape", "server-metrics"}, {"goodput", "goodput"},
		{"output.dir", "artifact-dir"}, {"seed", "seed"},
	}
}

// flagsOf are the flags that keys of a plan come from, as the user wrote them.
func (v *values) flagsOf() map[string]string {
	usual := map[string]string{}
	for _, f := range flags() {
		if usual[f.key] == "" || f.releases&inLast != 0 {
			usual[f.key] = "--" + f.name
		}
	}
	out := map[string]string{}
	for _, o := range origins() {
		if out[o[0]] = v.as(o[1]); out[o[0]] == "" {
			out[o[0]] = usual[o[1]]
		}
	}
	return out
}

// Names are the flags of this tool.
func Names(*plan.Plan) message.Names { return (&Action{flags: new(values).flagsOf()}).Names() }

// Names are the flags of this command line, as the user wrote them.
func (a *Action) Names() message.Names {
	rows := remedies()
	for _, o := range origins() {
		rows = append(rows, [2]string{o[0], a.flags[o[0]]})
	}
	return message.Names{Of: message.Table(append(rows, lacking()...))}
}

// remedies are what users of this tool can do.
func remedies() [][2]string {
	return [][2]string{
		{"remedy.triton", "use --endpoint-type kserve and the address of its gRPC port, or --endpoint-type generate"},
		{"remedy.triton_grpc", "use --endpoint-type kserve"}, {"remedy.chat", "use --endpoint-type chat"}, {"remedy.payload", "--input-file payload:FILE"},
		{"remedy", ""},
	}
}

// lacking is what this tool has no flags for, behind all that it has.
func lacking() [][2]string {
	var rows [][2]string
	for _, path := range []string{"target", "data", "tokenizer.count_output", "stages", "drain", "max_errors", "levels", "measurement", "limits", "probes"} {
		rows = append(rows, [2]string{path, ""})
	}
	return rows
}
