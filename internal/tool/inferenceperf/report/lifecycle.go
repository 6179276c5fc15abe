package report

import (
	"fmt"
	"strconv"

	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

// The names of the files, but for what stands in their middle.
const (
	SummaryFile    = "summary_lifecycle_metrics.json"
	PerRequestFile = "per_request_lifecycle_metrics.json"
	lifecycle      = "lifecycle_metrics.json"
)

// StageFile is the name of the report of a stage.
func StageFile(stage int) string { return fmt.Sprintf("stage_%d_%s", stage, lifecycle) }

// AdapterFile is the name of the report of an adapter.
func AdapterFile(adapter string) string { return "adapter_" + adapter + "_" + lifecycle }

// AdapterStageFile is the name of the report of an adapter in a stage.
func AdapterStageFile(adapter string, stage int) string {
	return "adapter_" + adapter + "_" + StageFile(stage)
}

// StageLoad is what a stage asked for.
type StageLoad struct {
	Rate        *float64 // requests per second; nil means the stage has no rate
	Concurrency *int     // requests or sessions at a time, 0 of which are all; nil means the stage has none
}

// Lifecycle is the report of a summary. A load of nil is that of several stages.
func Lifecycle(s *dialect.Summary, load *StageLoad) []byte {
	o := object{
		{"benchmark_time_seconds", s.Seconds},
		{"load_summary", loadObject(s, load)},
		{"successes", successObject(s)},
		{"failures", object{
			{"count", s.Failed},
			{"request_latency", s.FailedLatency},
			{"prompt_tokens", prompts(&s.FailedPrompt)},
			{"by_label", labels(s.Failures)},
		}},
	}
	if r := &s.Retries; r.Requests > 0 {
		o.put("retries", object{
			{"requests_retried", r.Requests},
			{"attempts", r.Attempts},
			{"recovered", r.Recovered},
			{"failed_after_retry", r.Requests - r.Recovered},
			{"wasted_sec_total", r.Wasted},
			{"wasted_sec", r.Each},
		})
	}
	return appendJSON(nil, o, 0)
}

func loadObject(s *dialect.Summary, load *StageLoad) object {
	o := object{{"count", s.Count}, {"schedule_delay", s.Delay}}
	if load == nil {
		return o
	}
	o.put("send_duration", s.SendDuration)
	o.put("requested_rate", load.Rate)
	o.put("achieved_rate", per(float64(s.Count), s.SendDuration))
	if load.Concurrency != nil {
		o.put("concurrency", load.Concurrency)
	}
	return o
}

// per is a rate; 0 where no time has passed.
func per(n, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return n / seconds
}

func successObject(s *dialect.Summary) object {
	o := object{
		{"count", s.OK},
		{"latency", object{
			{"request_latency", s.Latency},
			{"normalized_time_per_output_token", s.NTPOT},
			{"time_per_output_token", s.TPOT},
			{"time_to_first_token", s.TTFT},
			{"inter_token_latency", s.ITL},
		}},
		{"throughput", object{
			{"input_tokens_per_sec", per(float64(s.Prompt.Total), s.Seconds)},
			{"output_tokens_per_sec", per(float64(s.Out), s.Seconds)},
			{"total_tokens_per_sec", per(float64(s.Prompt.Total+s.Out), s.Seconds)},
			{"requests_per_sec", per(float64(s.OK), s.Seconds)},
			{"images_per_sec", per(float64(s.Images), s.Seconds)},
			{"videos_per_sec", per(float64(s.Videos), s.Seconds)},
			{"audios_per_sec", per(float64(s.Audios), s.Seconds)},
		}},
		{"request_size_bytes", s.Size},
		{"image", object{
			{"count", s.Image.Count}, {"pixels", s.Image.Pixels},
			{"bytes", s.Image.Bytes}, {"aspect_ratio", s.Image.Aspect},
		}},
		{"video", object{
			{"count", s.Video.Count}, {"frames", s.Video.Frames}, {"pixels", s.Video.Pixels},
			{"bytes", s.Video.Bytes}, {"aspect_ratio", s.Video.Aspect},
		}},
		{"audio", object{
			{"count", s.Audio.Count}, {"seconds", s.Audio.Seconds}, {"bytes", s.Audio.Bytes},
		}},
		{"prompt_len", s.Prompt.Each},
		{"prompt_tokens", prompts(&s.Prompt)},
		{"output_len", s.Client},
		{"output_tokens", append(object{{"total", float64(s.ServerTotal)}}, distFields(s.Server)...)},
		{"token_count_mismatches", s.Mismatches},
		{"client_fallback_requests", object{{"prompt", s.ClientIn}, {"output", s.ClientOut}}},
	}
	if s.Goodput != nil {
		o.put("goodput_metrics", goodput(s.Goodput))
	}
	return o
}

func goodput(g *dialect.Goodput) object {
	o := object{
		{"goodput_percentage", 100 * per(float64(g.Good), float64(g.Total))},
		{"request_goodput", per(float64(g.Good), g.Seconds)},
		{"token_goodput", per(float64(g.Tokens), g.Seconds)},
		{"good_requests", g.Good},
		{"total_requests", g.Total},
	}
	for _, a := range g.Attainment {
		if a.Applicable > 0 {
			o.put(a.Name+"_attainment_percentage", 100*float64(a.Met)/float64(a.Applicable))
		}
	}
	return o
}

// prompts are the tokens of prompts: from the cache, not from it, and how they are spread.
func prompts(p *dialect.Prompts) object {
	o := object{
		{"total", float64(p.Total)},
		{"cached", float64(p.Cached)},
		{"uncached", float64(max(p.Total-p.Cached, 0))},
	}
	return append(o, distFields(p.Each)...)
}

func labels(failures []dialect.Failure) object {
	o := object{}
	for _, f := range failures {
		o.put(f.Label, object{{"count", f.Count}, {"messages", messages(f.Messages)}})
	}
	return o
}

func messages(all []dialect.Message) list {
	out := list{}
	for _, m := range all {
		entry := object{{"message", m.Text}}
		if len(m.Sessions) > 0 {
			entry.put("session_ids", listOf(m.Sessions))
		}
		out = append(out, entry)
	}
	return out
}

// listOf is a JSON array of values.
func listOf[T any](all []T) list {
	out := list{}
	for _, v := range all {
		out = append(out, v)
	}
	return out
}

// distFields are those of a distribution; none where there are no samples.
func distFields(d *dialect.Dist) object {
	if d == nil {
		return nil
	}
	o := object{{"mean", d.Mean}, {"min", d.Min}, {"max", d.Max}}
	for i, p := range d.Ranks {
		o.put(PercentileKey(p), d.Percentiles[i])
	}
	return o
}

// PercentileKey is what a percentile is called.
func PercentileKey(p float64) string {
	if p == 50 {
		return "median"
	}
	return "p" + strconv.FormatFloat(p, 'g', 6, 64)
}
