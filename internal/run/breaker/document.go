package breaker

import (
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// document is a finished request as expressions see it: the fields of a life cycle report's
// request, and "latency", "status" and "model". Times are seconds of the run. What is not known is
// left out.
func document(rec *record.Record) map[string]any {
	doc := map[string]any{
		"stage_id": float64(rec.Stage), "scheduled_time": rec.Due.Seconds(), "end_time": rec.End.Seconds(),
		"info":    info(rec),
		"latency": latency(rec),
	}
	if rec.Session != "" {
		doc["session_id"] = rec.Session
	}
	if rec.Sent != record.Never {
		doc["start_time"] = rec.Sent.Seconds()
	}
	if rec.Status != 0 {
		doc["status"] = float64(rec.Status)
	}
	if rec.Model != "" {
		doc["model"] = rec.Model
	}
	if len(rec.Body) > 0 {
		doc["response_data"] = string(rec.Body)
	}
	if f := rec.Failure; f != nil {
		doc["error"] = map[string]any{"error_type": f.Exception(), "error_msg": f.Message, "class": string(f.Class)}
	}
	return doc
}

func info(rec *record.Record) map[string]any {
	out := map[string]any{}
	if rec.In.Source != record.Uncounted {
		n := float64(rec.In.N)
		out["input_tokens"] = n
		out["request_metrics"] = map[string]any{"text": map[string]any{"input_tokens": n}}
	}
	response := map[string]any{}
	if rec.Out.Source != record.Uncounted {
		out["output_tokens"] = float64(rec.Out.N)
		response["output_tokens"] = float64(rec.Out.N)
	}
	if times := tokenTimes(rec); len(times) > 0 {
		list := make([]any, len(times))
		for i, t := range times {
			list[i] = t.Seconds()
		}
		response["output_token_times"] = list
	}
	if len(response) > 0 {
		out["response_metrics"] = response
	}
	if rec.Model != "" {
		out["lora_adapter"] = rec.Model
	}
	if rec.Retries > 0 {
		out["retries_attempted"], out["retries_recovered"] = float64(rec.Retries), rec.Failure == nil
	}
	return out
}

func tokenTimes(rec *record.Record) []time.Duration {
	var out []time.Duration
	for _, e := range rec.Events {
		if e.Label.IsToken() && uint(e.Mark) < uint(len(rec.Marks)) {
			out = append(out, rec.Marks[e.Mark].Time())
		}
	}
	return out
}

// latency are the figures of a request, in seconds.
func latency(rec *record.Record) map[string]any {
	out := map[string]any{}
	if rec.Sent == record.Never {
		return out
	}
	whole := (rec.End - rec.Sent).Seconds()
	out["request_latency"] = whole
	out["schedule_delay"] = (rec.Sent - rec.Due).Seconds()
	n := 0
	if rec.Out.Source != record.Uncounted {
		n = rec.Out.N
	}
	if n > 0 {
		out["normalized_time_per_output_token"] = whole / float64(n)
	}
	times := tokenTimes(rec)
	if len(times) == 0 || !rec.Streamed {
		return out
	}
	first, last := times[0], times[len(times)-1]
	out["time_to_first_token"] = (first - rec.Sent).Seconds()
	if n > 1 && last > first {
		out["time_per_output_token"] = (last - first).Seconds() / float64(n-1)
	}
	return out
}
