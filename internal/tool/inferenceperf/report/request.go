package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

// Fields are what an entry of the report of single requests has.
type Fields struct{ Request, Response, Info, Chunks, Metrics bool }

// Requests writes the report of single requests, one after the other. It belongs to
// one goroutine.
type Requests struct {
	array
	fields Fields
	opt    *dialect.Options
	values dialect.Values
	faults [4]tally
}

// tally is what was found about entries: how many there are, and the first of them.
type tally struct {
	n     int64
	first []int64
}

// NewRequests begins a report.
func NewRequests(w io.Writer, f Fields, o *dialect.Options) *Requests {
	return &Requests{array: array{out: bufio.NewWriterSize(w, 64<<10)}, fields: f, opt: o}
}

// Add writes the entry of a request.
func (r *Requests) Add(rec *record.Record) {
	if !r.opt.Counts(rec) {
		return
	}
	rec = r.opt.Seen(rec)
	r.opt.Measure(rec, &r.values)
	r.examine(rec)
	r.put(r.entry(rec))
}

// Close ends the report.
func (r *Requests) Close() error { return r.close() }

// Len is how many entries there are.
func (r *Requests) Len() int64 { return r.n }

var entryFaults = [...]Finding{
	{Check: "per_request.timestamps", Error: true, Message: "have end_time before start_time"},
	{Check: "per_request.token_times", Error: true, Message: "have output token timestamps that are out of order"},
	{Check: "per_request.token_times", Error: true, Message: "have output token timestamps outside start_time and end_time"},
	{Check: "per_request.token_agreement", Message: "have output token counts from client and server that differ by more than 25 %"},
}

func (r *Requests) examine(rec *record.Record) {
	v := &r.values
	times := v.TokenTimes
	apart := max(v.Client-v.Server, v.Server-v.Client)
	for i, wrong := range [...]bool{
		v.End < v.Start,
		!slices.IsSorted(times),
		len(times) > 0 && (times[0] < v.Start || times[len(times)-1] > v.End),
		rec.Failure == nil && v.ServerOut && v.Client > 0 && v.Server > 0 && 4*apart > max(v.Client, v.Server),
	} {
		if t := &r.faults[i]; wrong {
			if t.n++; len(t.first) < 5 {
				t.first = append(t.first, r.n)
			}
		}
	}
}

// Findings are what the reader of the report must know.
func (r *Requests) Findings() []Finding {
	var out []Finding
	for i, t := range r.faults {
		if t.n > 0 {
			f := entryFaults[i]
			f.Report, f.Message = PerRequestFile, fmt.Sprintf("%d entries %s, the first of them are %v", t.n, f.Message, t.first)
			out = append(out, f)
		}
	}
	return out
}

// entry is what the report says of a request. Its times are seconds from the start
// of the run.
func (r *Requests) entry(rec *record.Record) object {
	v := &r.values
	o := object{
		{"stage_id", rec.Stage},
		{"session_id", textOrNull(rec.Session)},
		{"scheduled_time", rec.Scheduled()},
		{"start_time", v.Start},
		{"end_time", v.End},
	}
	if r.fields.Request {
		o.put("request", string(rec.RequestBody))
	}
	if r.fields.Response {
		o.put("response", string(rec.Body))
	}
	if r.fields.Info {
		o.put("info", r.info(rec))
	}
	if r.fields.Metrics && rec.Failure == nil {
		o.put("computed_metrics", r.metrics())
	}
	if f := rec.Failure; f != nil {
		o.put("error", object{{"error_type", f.Exception()}, {"error_msg", dialect.Said(f)}})
	} else {
		o.put("error", nil)
	}
	return o
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (r *Requests) info(rec *record.Record) object {
	v := &r.values
	media := r.media(rec)
	request := object{{"text", object{{"input_tokens", v.In}}}}
	for i, name := range []string{"image", "video", "audio"} {
		if len(media[i]) == 0 {
			request.put(name, nil)
			continue
		}
		request.put(name, object{{"count", len(media[i])}, {"instances", media[i]}})
	}
	var response any
	if rec.Failure != nil && rec.Call != "" { // of a replayed call, as the original has it
		response = object{{"output_tokens", 0}, {"server_usage", nil}}
	}
	if rec.Failure == nil {
		answer := object{{"output_tokens", v.Client}, {"server_usage", usage(rec, v)}}
		if rec.Streamed {
			chunks, times := chunks(rec, r.opt.Faithful)
			if r.fields.Chunks {
				answer.put("response_chunks", chunks)
			}
			answer.put("chunk_times", times)
			answer.put("output_token_times", listOf(v.TokenTimes))
		}
		response = answer
	}
	o := object{
		{"request_metrics", request},
		{"response_metrics", response},
		{"extra_info", r.extra(rec)},
		{"lora_adapter", textOrNull(rec.Model)},
		{"graph_event_id", textOrNull(rec.Call)},
		{"labels", labelled(rec.Labels)},
	}
	if v.Retries > 0 {
		o.put("retries_attempted", v.Retries)
		o.put("retries_recovered", v.Recovered)
		o.put("retry_wasted_sec", v.Wasted)
	}
	o.put("input_tokens", v.In)
	return o
}

// extra is what the original notes of a user's turns.
func (r *Requests) extra(rec *record.Record) object {
	if !r.opt.UserSessions || rec.Session == "" {
		return object{}
	}
	return object{{"user_session", rec.Session}, {"chat_round", rec.Turn + 1}}
}

func labelled(labels [][2]string) object {
	o := object{}
	for _, l := range labels {
		o.put(l[0], l[1])
	}
	return o
}

// media are a prompt's pictures, videos and sounds.
func (r *Requests) media(rec *record.Record) [3]list {
	var out [3]list
	if r.opt.Media == nil {
		return out
	}
	for _, m := range r.opt.Media(rec.Prompt) {
		o := object{{"pixels", m.Width * m.Height}, {"bytes", m.Bytes}, {"aspect_ratio", per(float64(m.Width), float64(m.Height))}}
		switch m.Kind {
		case dialect.Audio:
			o = object{{"bytes", m.Bytes}, {"seconds", m.Length}}
		case dialect.Video:
			o.put("frames", m.Frames)
		}
		out[m.Kind] = append(out[m.Kind], o)
	}
	return out
}

// metrics are the request's own figures.
func (r *Requests) metrics() object {
	v := &r.values
	orNull := func(t float64, ok bool) any {
		if !ok {
			return nil
		}
		return t
	}
	gaps := list{}
	for i := 1; i < len(v.TokenTimes); i++ {
		gaps = append(gaps, v.TokenTimes[i]-v.TokenTimes[i-1])
	}
	limit := func(name string) any {
		t, ok := r.opt.Headers[name]
		return orNull(t, ok)
	}
	return object{
		{"request_latency", v.Latency()},
		{"normalized_time_per_output_token", orNull(v.NTPOT(r.opt.Faithful))},
		{"time_to_first_token", orNull(v.TTFT.Seconds(), v.TTFT != dialect.None)},
		{"time_per_output_token", orNull(v.TPOT())},
		{"inter_token_latency", orNull(v.ITL())},
		{"inter_token_latencies", gaps},
		{"input_tokens", v.In},
		{"output_tokens", v.Client},
		{"ttft_slo_sec", limit(dialect.TTFT)},
		{"tpot_slo_sec", limit(dialect.TPOT)},
	}
}
