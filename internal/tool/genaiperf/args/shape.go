package args

import (
	"cmp"
	"slices"
	"strings"
)

// The releases between the first two and the last, each the last of those that print and
// write the same. They are all read as ReleaseLast.
const (
	Release2406 = "24.06" // and 24.05
	Release2408 = "24.08" // and 24.07
	Release2412 = "24.12" // from 24.09
	Release2503 = "25.03" // from 25.01
	Release2505 = "25.05" // and 25.04
)

// like is the release whose reports those of a release are, which is given by year and
// month.
func like(month string) string {
	for _, r := range []string{Release2403, Release2404, Release2406, Release2408, Release2412, Release2503, Release2505} {
		if month <= r {
			return r
		}
	}
	return ReleaseLast
}

// monthOf is the year and month of a release given by a package's number; empty: of none.
func monthOf(number string) string {
	return map[string]string{
		"0.0.8": "24.11", "0.0.9": "24.12", "0.0.10": "25.01", "0.0.11": "25.02", "0.0.12": "25.03", "0.0.13": "25.04", "0.0.14": "25.05",
	}[number]
}

// named is the release that the user names, by year and month where it has them.
func (v *values) named() string {
	name := v.text("release", "")
	return cmp.Or(monthOf(name), name)
}

// shape is the release whose reports a command line gets. Where the user names none, it
// is the first of those that had everything the command line says.
func (v *values) shape(release string) string {
	switch name := v.named(); {
	case release != ReleaseLast:
		return release
	case v.given("release") && yearMonth().MatchString(name):
		return like(name)
	case v.given("release") || !v.middle():
		return ReleaseLast
	}
	first := "24.05"
	switch v.command {
	case Profile, Compare:
		first = "24.08"
	case Analyze:
		first = "25.01"
	}
	for _, uses := range v.used {
		for _, u := range uses {
			first = max(first, since(u))
		}
	}
	return like(first)
}

// since is the release that brought a flag as used, if more is known than after 24.04.
func since(u value) string {
	name := strings.TrimPrefix(u.as, "--")
	for month, names := range brought() {
		if slices.Contains(names, name) {
			return month
		}
	}
	switch u.flag.key {
	case "endpoint-type":
		for month, types := range broughtTypes() {
			if slices.Contains(types, u.text[0]) {
				return month
			}
		}
	case "input-file":
		kind, _, _ := strings.Cut(u.text[0], ":")
		return map[string]string{"synthetic": "25.02", "payload": "25.03"}[kind]
	case "goodput":
		if slices.ContainsFunc(u.text, func(s string) bool { return strings.HasPrefix(s, "output_token_throughput_per_user") }) {
			return "25.04"
		}
		return "24.09"
	case "header":
		return "25.01"
	case "batch-text":
		return "24.07"
	}
	return ""
}

// brought are the flags that each release after 24.06 brought.
func brought() map[string][]string {
	return map[string][]string{
		"24.07": {"batch-size"},
		"24.08": {"image-width-mean", "image-width-stddev", "image-height-mean", "image-height-stddev", "image-format"},
		"24.09": {"server-metrics-url"},
		"24.10": {"tokenizer-revision", "tokenizer-trust-remote-code"},
		"24.11": {"isl", "osl", "batch-size-text", "batch-size-image"},
		"24.12": {"num-dataset-entries", "request-count", "warmup-request-count"},
		"25.01": {"num-prefix-prompts", "num-system-prompts", "prefix-prompt-length", "system-prompt-length", "num-requests", "num-warmup-requests", "sweep-type", "sweep-range", "sweep-list"},
		"25.02": {"server-metrics-urls"},
		"25.03": {"num-sessions", "session-concurrency", "session-turns-mean", "session-turns-stddev", "session-turn-delay-mean", "session-turn-delay-stddev", "grpc-method"},
		"25.04": {"batch-size-audio", "audio-length-mean", "audio-length-stddev", "audio-format", "audio-depths", "audio-sample-rates", "audio-num-channels"},
		"25.06": {"fixed-schedule", "session-delay-ratio", "enable-checkpointing", "checkpoint-dir"},
	}
}

// broughtTypes are the types of endpoints that each release after 24.06 brought.
func broughtTypes() map[string][]string {
	return map[string][]string{
		"24.07": {"embeddings", "rankings"},
		"24.08": {"vision"},
		"24.10": {"image_retrieval"},
		"24.11": {"nvclip"},
		"24.12": {"kserve", "generate"},
		"25.02": {"template", "huggingface_generate"},
		"25.03": {"dynamic_grpc"},
		"25.04": {"multimodal"},
	}
}
