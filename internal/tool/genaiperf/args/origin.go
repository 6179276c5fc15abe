package args

import (
	"strings"

	"inferometer/internal/plan"
)

// origins are the keys of a plan and the flags that they come from, the longer of two
// that begin alike first.
func origins() [][2]string {
	return [][2]string{
		{"target.urls", "url"}, {"target.headers", "header"}, {"target.model", "model"}, {"target.path", "endpoint"}, {"target.endpoint", "endpoint-type"},
		{"target.template", "extra"}, {"target.body", "extra"}, {"target.streaming", "streaming"}, {"target.convention", "backend"},
		{"data.file", "input-file"}, {"data.passages.file", "input-file"}, {"data.passages", "batch-text"}, {"data.prompts", "prompts"}, {"data.batch", "batch-text"},
		{"data.input.stddev", "input-stddev"}, {"data.input", "input-mean"}, {"data.output.stddev", "output-stddev"}, {"data.output", "output-mean"},
		{"data.min_tokens", "deterministic"}, {"data.prefixes.length", "prefix-length"}, {"data.prefixes", "prefix-prompts"}, {"data.payload", "input-file"},
		{"data.sessions.turns", "session-turns-mean"}, {"data.sessions.delay_ratio", "session-delay-ratio"}, {"data.sessions.delay_ms", "session-turn-delay-mean"}, {"data.sessions", "sessions"},
		{"data.dataset.path", "input-file"}, {"data.dataset", "dataset"}, {"data.adapters", "model"},
		{"data.media.image.width", "image-width-mean"}, {"data.media.image.height", "image-height-mean"}, {"data.media.image.count", "batch-image"}, {"data.media.image.format", "image-format"}, {"data.media.image", "image-width-mean"},
		{"data.media.audio.depths", "audio-depths"}, {"data.media.audio.rates", "audio-sample-rates"}, {"data.media.audio.count", "batch-audio"},
		{"data.media.audio.format", "audio-format"}, {"data.media.audio.channels", "audio-num-channels"}, {"data.media.audio", "audio-length-mean"},
		{"tokenizer.revision", "tokenizer-revision"}, {"tokenizer", "tokenizer"}, {"stages[0].concurrency", "concurrency"}, {"stages[0].rate", "request-rate"},
		{"stages[0].requests", "request-count"}, {"stages[0].warmup", "warmup"}, {"stages[0].duration", "interval"}, {"stages[0].sessions", "session-concurrency"},
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

// origin is the flag that a key of a plan comes from; empty: none does.
func (a *Action) origin(path string) string {
	for _, o := range origins() {
		if rest, ok := strings.CutPrefix(path, o[0]); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return a.flags[o[0]]
		}
	}
	return ""
}

// Located names the flags that faults come from which show only when a plan is looked at
// or prepared.
func (a *Action) Located(err error) error {
	return plan.Retell(err, func(f plan.Fault) plan.Fault {
		flag := a.origin(f.Path)
		switch {
		case flag != "" && f.Where == "":
			f.Where, f.Path = flag, ""
		case flag != "":
			f.Path = flag
		}
		f.Text, f.Hint = a.worded(f.Text), a.worded(f.Hint)
		return f
	}, func(err error) error { return err })
}

// worded puts flags in the place of the plan's keys.
func (a *Action) worded(text string) string {
	words := strings.Split(text, " ")
	for i, w := range words {
		key := strings.TrimRight(w, ".,;:)")
		if flag := a.origin(key); flag != "" && strings.Contains(key, ".") {
			words[i] = flag + w[len(key):]
		}
	}
	return strings.Join(words, " ")
}
