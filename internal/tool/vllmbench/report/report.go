// Package report prints the figures of vllm bench serve and writes its result file.
package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/lib/orderedjson"
	"github.com/inferometer/inferometer/internal/lib/pyjson"
	"github.com/inferometer/inferometer/internal/tool/vllmbench/dialect"
)

// Report is what came of a run, and what was asked for.
type Report struct {
	*dialect.Summary
	Speculation *dialect.Speculation // nil means there was none
	Diffused    *dialect.Diffused

	Release        string // "0.10" or "inferencex", whose files are others; empty: 0.32
	BestOf         int    // of the fork
	Faithful       bool
	Date           string // of the end
	Backend, Label string
	Model          string
	Tokenizer      string
	Prompts        int
	Metadata       [][2]string
	Rate           float64 // +Inf: none
	Burstiness     float64
	MaxConcurrency int    // 0: none
	Ramp           string // empty: none
	RampFrom       int
	RampTo         int
	RateChanges    []RateChange
	Objectives     bool // there are some
	Metrics        []string
	Percentiles    []float64
	Detailed       bool
	Begin, End     float64 // Unix seconds of the run; 0: not said
}

// RateChange is when a rate that rises had risen to a whole number.
type RateChange struct {
	Rate int
	At   string
}

// block is one of the metrics that can be asked for.
type block struct {
	key, name, title string
	values           []float64
	missing          bool
}

func (r *Report) blocks() []block {
	most := r.MaxConcurrency
	if r.old() {
		most = 0
	}
	all := []block{
		{"ttft", "TTFT", "Time to First Token", r.TTFT, false},
		{"tpot", "TPOT", "Time per Output Token (excl. 1st token)", r.TPOT, false},
		{"itl", "ITL", "Inter-token Latency", r.ITL, false},
		{"e2el", "E2EL", "End-to-end Latency", r.Latency, false},
		{"client_queue_time", "Client Queue Time", "Client-side Queueing", r.Queue, most == 0},
		{"e2el_including_client_queue", "E2EL incl. Client Queue", "Queue-inclusive End-to-end Latency", r.LatencyWithQueue, most == 0 || math.IsInf(r.Rate, 1)},
	}
	return slices.DeleteFunc(all, func(b block) bool { return b.missing || !slices.Contains(r.Metrics, b.key) })
}

// old reports whether the files are those of before vllm bench serve.
func (r *Report) old() bool { return r.Release != "" }

// forked reports whether they are InferenceX's.
func (r *Report) forked() bool { return r.Release == "inferencex" }

// figure is one of a block's.
type figure struct {
	label, key string
	value      float64 // ms
	hidden     bool    // from the screen
}

func (r *Report) figures(b block) []figure {
	const ms = 1000
	mean, deviation := dialect.Mean(b.values)
	list := []figure{
		{"Mean", "mean", mean * ms, false}, {"Median", "median", dialect.Percentile(b.values, 50) * ms, false}, {"", "std", deviation * ms, true},
	}
	for _, p := range r.Percentiles {
		word := strings.TrimSuffix(number.Python(p), ".0")
		list = append(list, figure{"P" + word, "p" + word, dialect.Percentile(b.values, p) * ms, false})
	}
	return list
}

const width = 50

// centred is a title in the middle of a row of a character.
func centred(title, fill string) string {
	left := max(width-len(title), 0) / 2
	return strings.Repeat(fill, left) + title + strings.Repeat(fill, max(width-len(title)-left, 0))
}

// Print prints the figures.
func Print(w io.Writer, r *Report) error {
	var b strings.Builder
	count := func(label string, n int) { fmt.Fprintf(&b, "%-40s %-10d\n", label, n) }
	value := func(label string, v float64) { fmt.Fprintf(&b, "%-40s %-10.2f\n", label, v) }
	fmt.Fprintln(&b, centred(" Serving Benchmark Result ", "="))
	count("Successful requests:", r.Completed)
	total := "Total Token throughput (tok/s):"
	if !r.old() {
		total = "Total token throughput (tok/s):"
		count("Failed requests:", r.Failed)
		if r.MaxConcurrency > 0 {
			count("Maximum request concurrency:", r.MaxConcurrency)
		}
		if !math.IsInf(r.Rate, 1) {
			value("Request rate configured (RPS):", r.Rate)
		}
	}
	value("Benchmark duration (s):", r.Duration)
	count("Total input tokens:", r.Input)
	count("Total generated tokens:", r.Output)
	value("Request throughput (req/s):", r.Summary.Rate(r.Completed))
	if r.Objectives {
		value("Request goodput (req/s):", r.Summary.Rate(r.Good))
	}
	value("Output token throughput (tok/s):", r.Summary.Rate(r.Output))
	if !r.old() {
		value("Peak output token throughput (tok/s):", r.PeakTokens)
		value("Peak concurrent requests:", float64(r.PeakConcurrent))
	}
	value(total, r.Summary.Rate(r.Input+r.Output))
	for _, bl := range r.blocks() {
		fmt.Fprintln(&b, centred(bl.title, "-"))
		for _, f := range r.figures(bl) {
			if !f.hidden {
				value(f.label+" "+bl.name+" (ms):", f.value)
			}
		}
	}
	r.decoding(&b, count, value)
	fmt.Fprintln(&b, strings.Repeat("=", width))
	_, err := io.WriteString(w, b.String())
	return err
}

// decoding prints what the server said of its ways to decode.
func (r *Report) decoding(b io.Writer, count func(string, int), value func(string, float64)) {
	if d := r.Diffused; d != nil {
		fmt.Fprintln(b, centred("Diffusion Decoding", "-"))
		value("Committed throughput (tok/s):", d.Throughput)
		value("Denoising steps per canvas:", d.StepsPerCanvas)
		value("Committed per denoising step:", d.CommittedPerStep)
		count("Committed tokens:", d.Committed)
		count("Denoising steps:", d.Steps)
		count("Canvas positions evaluated:", d.Positions)
		return
	}
	s := r.Speculation
	if s == nil {
		return
	}
	fmt.Fprintln(b, centred("Speculative Decoding", "-"))
	value("Acceptance rate (%):", s.Rate)
	value("Acceptance length:", s.Length)
	count("Drafts:", s.Drafts)
	count("Draft tokens:", s.Drafted)
	count("Accepted tokens:", s.Accepted)
	if len(s.ByPosition) > 0 {
		fmt.Fprintln(b, "Per-position acceptance (%):")
	}
	for i, share := range s.ByPosition {
		value("  Position "+strconv.Itoa(i)+":", share*100)
	}
}

// object keeps the order of its members.
type object = orderedjson.Object

// JSON is the result as one line, without its end.
func JSON(r *Report) ([]byte, error) {
	o := object{{"date", r.Date}}
	if !r.old() {
		o.Set("endpoint_type", r.Backend)
	}
	o.Set("backend", r.Backend)
	if !r.old() {
		o.Set("label", orNull(r.Label))
	}
	o.Set("model_id", r.Model)
	o.Set("tokenizer_id", r.Tokenizer)
	if r.forked() {
		o.Set("best_of", r.BestOf)
	}
	o.Set("num_prompts", r.Prompts)
	for _, m := range r.Metadata {
		o.Set(m[0], m[1])
	}
	o.Set("request_rate", orInf(r.Rate))
	o.Set("burstiness", orInf(r.Burstiness))
	o.Set("max_concurrency", orNull(r.MaxConcurrency))
	if r.Ramp != "" {
		o.Set("ramp_up_strategy", r.Ramp)
		o.Set("ramp_up_start_rps", r.RampFrom)
		o.Set("ramp_up_end_rps", r.RampTo)
	}
	o.Set("duration", float(r.Duration))
	if r.forked() {
		r.window(&o)
	}
	r.totals(&o)
	for _, b := range r.blocks() {
		for _, f := range r.figures(b) {
			o.Set(f.key+"_"+b.key+"_ms", float(f.value))
		}
	}
	r.window(&o)
	text, err := orderedjson.Compact(o)
	if text = pyjson.Style(text); r.Faithful { // which is no JSON
		text = bytes.Replace(text, []byte(`"burstiness": "inf"`), []byte(`"burstiness": Infinity`), 1)
	}
	return text, err
}

// window sets when the run began and ended.
func (r *Report) window(o *object) {
	if r.End > 0 {
		o.Set("benchmark_start_time_unix", float(r.Begin))
		o.Set("benchmark_end_time_unix", float(r.End))
	}
}

// totals are the figures of the whole run, and the lists of requests behind them.
func (r *Report) totals(o *object) {
	o.Set("completed", r.Completed)
	if !r.old() {
		o.Set("failed", r.Failed)
	}
	o.Set("total_input_tokens", r.Input)
	o.Set("total_output_tokens", r.Output)
	o.Set("request_throughput", float(r.Summary.Rate(r.Completed)))
	goodput := "request_goodput"
	if r.forked() {
		goodput += ":"
	}
	o.Set(goodput, nil)
	if r.Objectives {
		o.Set(goodput, float(r.Summary.Rate(r.Good)))
	}
	o.Set("output_throughput", float(r.Summary.Rate(r.Output)))
	o.Set("total_token_throughput", float(r.Summary.Rate(r.Input+r.Output)))
	r.requests(o)
	if !r.old() {
		o.Set("max_output_tokens_per_s", float(r.PeakTokens))
		o.Set("max_concurrent_requests", r.PeakConcurrent)
		o.Set("rtfx", float(0))
	}
	if len(r.RateChanges) > 0 {
		var list []object
		for _, c := range r.RateChanges {
			list = append(list, object{{"rps", c.Rate}, {"timestamp", c.At}})
		}
		o.Set("rps_change_events", list)
	}
	r.decodingFields(o)
}

// requests sets the lists of single requests. Latencies and waits are always there.
func (r *Report) requests(o *object) {
	add := func(name string, detail bool, of func(q *dialect.Request) any) {
		if detail && !r.Detailed && !(r.forked() && strings.HasSuffix(name, "_lens")) {
			return
		}
		list := make([]any, len(r.Requests))
		for i := range r.Requests {
			list[i] = of(&r.Requests[i])
		}
		o.Set(name, list)
	}
	add("input_lens", true, func(q *dialect.Request) any { return q.In })
	add("output_lens", true, func(q *dialect.Request) any { return q.Out })
	add("ttfts", true, func(q *dialect.Request) any { return float(q.TTFT) })
	add("itls", true, func(q *dialect.Request) any {
		list := make([]json.RawMessage, len(q.ITL))
		for i, v := range q.ITL {
			list[i] = float(v)
		}
		return list
	})
	if !r.old() {
		add("latencies", false, func(q *dialect.Request) any { return float(q.Latency) })
		add("start_times", true, func(q *dialect.Request) any { return float(q.Start) })
		add("queue_times", false, func(q *dialect.Request) any { return float(q.Queue) })
	}
	add("generated_texts", true, func(q *dialect.Request) any { return q.Text })
	add("errors", true, func(q *dialect.Request) any { return q.Error })
}

func (r *Report) decodingFields(o *object) {
	if s := r.Speculation; s != nil {
		o.Set("spec_decode_acceptance_rate", float(s.Rate))
		o.Set("spec_decode_acceptance_length", float(s.Length))
		o.Set("spec_decode_num_drafts", s.Drafts)
		o.Set("spec_decode_draft_tokens", s.Drafted)
		o.Set("spec_decode_accepted_tokens", s.Accepted)
		list := make([]json.RawMessage, len(s.ByPosition))
		for i, v := range s.ByPosition {
			list[i] = float(v)
		}
		o.Set("spec_decode_per_position_acceptance_rates", list)
	}
	if d := r.Diffused; d != nil {
		o.Set("diffusion_committed_throughput", float(d.Throughput))
		o.Set("diffusion_steps_per_canvas", float(d.StepsPerCanvas))
		o.Set("diffusion_committed_per_step", float(d.CommittedPerStep))
		o.Set("diffusion_committed_tokens", d.Committed)
		o.Set("diffusion_denoising_steps", d.Steps)
		o.Set("diffusion_canvas_positions", d.Positions)
	}
}

// float is a number as Python writes it.
func float(v float64) json.RawMessage { return json.RawMessage(number.PythonJSON(v)) }

// orInf is a number, or a text for what JSON has none for.
func orInf(v float64) any {
	if math.IsInf(v, 1) {
		return "inf"
	}
	return float(v)
}

// orNull is a value, or null where it is none.
func orNull[V comparable](v V) any {
	var none V
	if v == none {
		return nil
	}
	return v
}

// FileName is what a result is called where nobody names it.
func FileName(r *Report) string {
	label, concurrency := r.Label, ""
	if label == "" {
		label = r.Backend
	}
	if r.MaxConcurrency > 0 {
		concurrency = fmt.Sprintf("-concurrency%d", r.MaxConcurrency)
	}
	rate := number.Python(r.Rate) + "qps"
	if r.Ramp != "" {
		rate = fmt.Sprintf("ramp-up-%s-%dqps-%dqps", r.Ramp, r.RampFrom, r.RampTo)
	}
	model := r.Model[strings.LastIndex(r.Model, "/")+1:]
	return fmt.Sprintf("%s-%s%s-%s-%s.json", label, rate, concurrency, model, r.Date)
}
