package report

import (
	"bufio"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

// The names of the files of sessions.
const (
	SessionSummaryFile = "summary_session_lifecycle_metrics.json"
	PerSessionFile     = "per_session_lifecycle_metrics.json"
)

// SessionStageFile is the name of the report of the sessions of a stage.
func SessionStageFile(stage int) string {
	return "stage_" + strconv.Itoa(stage) + "_session_lifecycle_metrics.json"
}

// SessionStage is how a stage of sessions went.
type SessionStage struct {
	Stage      int
	Status     string   // COMPLETED, FAILED or TIMED_OUT
	Timeout    *float64 // seconds; nil: none
	Duration   float64
	Teardown   *float64 // seconds; nil: not known
	Dropped    int64    // requests that never went out
	Concurrent *int     // sessions at once, 0: no bound; nil: the load is not one of sessions
	Rate       *float64 // sessions per second; nil: none
}

// Sessions writes the report of sessions. A stage of nil is all stages.
func Sessions(w io.Writer, s *dialect.SessionSummary, stage *SessionStage) error {
	p := s.Percentiles
	o := object{}
	if stage != nil {
		o.put("stage_metadata", stageObject(stage))
	}
	o = append(o, object{
		{"num_sessions", s.Sessions},
		{"num_sessions_succeeded", s.OK},
		{"num_sessions_failed", s.Failed},
		{"failures", object{{"count", s.Failed}, {"by_label", labels(s.Failures)}}},
		{"total_events", s.Events},
		{"total_events_completed", s.Completed},
		{"total_events_cancelled", s.Cancelled},
		{"sessions_with_recorded_substitution", s.Repaired},
		{"total_recorded_substitutions", object{{"count", s.Repairs}, {"messages", messages(s.RepairMessages)}}},
	}...)
	if s.Retried > 0 {
		o.put("sessions_with_retries", s.Retried)
		o.put("total_retry_attempts", s.Retries)
		o.put("total_retries_recovered", s.Recovered)
	}
	o = append(o, object{
		{"sessions_per_second", s.PerSecond},
		{"session_duration_sec", dist(s.Duration, p)},
		{"num_events", dist(s.NumEvents, p)},
		{"num_events_cancelled", dist(s.NumCancelled, p)},
		{"total_input_tokens", dist(s.In, p)},
		{"total_output_tokens", dist(s.Out, p)},
		{"total_cached_tokens", dist(s.Cached, p)},
		{"total_cacheable_input_tokens", dist(s.Cacheable, p)},
		{"sessions_with_cache_info", s.Told},
		{"kv_cache_hit_percent", numberOrNull(s.HitPercent)},
		{"kv_cache_hit_per_session_percent", dist(s.HitEach, p)},
		{"tfut_sec", dist(s.First, p)},
		{"sessions_with_tfut", samples(s.First)},
		{"tfut_none_reasons", reasons(s.NoFirst)},
		{"num_user_facing_events", dist(s.Users, p)},
		{"num_structured_output_excluded", dist(s.Programs, p)},
	}...)
	_, err := w.Write(appendJSON(nil, o, 0))
	return err
}

// reasons are numbers of sessions by a reason; null: there are none.
func reasons(m map[string]int64) any {
	if len(m) == 0 {
		return nil
	}
	var o object
	for _, name := range slices.Sorted(maps.Keys(m)) {
		o.put(name, m[name])
	}
	return o
}

func samples(d *dialect.Dist) int64 {
	if d == nil {
		return 0
	}
	return d.N
}

func stageObject(s *SessionStage) object {
	var concurrent any
	if s.Concurrent != nil {
		concurrent = *s.Concurrent
	}
	return object{
		{"stage_id", s.Stage},
		{"status", s.Status},
		{"timeout_configured", numberOrNull(s.Timeout)},
		{"actual_duration", s.Duration},
		{"teardown_duration", numberOrNull(s.Teardown)},
		{"dropped_requests", s.Dropped},
		{"concurrent_sessions", concurrent},
		{"session_rate", numberOrNull(s.Rate)},
	}
}

func numberOrNull(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

// EachSession writes the report of single sessions. Moments are seconds since 1970.
func EachSession(w io.Writer, all []*dialect.Session, start time.Time) error {
	out := bufio.NewWriter(w)
	buf := []byte("[")
	for i, s := range all {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = appendLine(buf, 1)
		buf = appendJSON(buf, sessionObject(s, float64(start.UnixNano())/1e9), 1)
		if _, err := out.Write(buf); err != nil {
			return err
		}
		buf = buf[:0]
	}
	if len(all) > 0 {
		buf = append(buf, '\n')
	}
	if _, err := out.Write(append(buf, ']')); err != nil {
		return err
	}
	return out.Flush()
}

func sessionObject(s *dialect.Session, start float64) object {
	var fault, cached, cacheable, first, noFirst, repairs, repaired, users, programs any
	origin := ""
	if label, message := s.Fault(); label != "" {
		if s.Mark == nil && s.Error != nil {
			label = s.Error.Exception()
		}
		fault = object{{"error_type", label}, {"error_msg", message}}
	}
	if s.Told {
		cached, cacheable = s.Cached, s.Cacheable
	}
	if s.First != dialect.None {
		first = (s.First - s.Start).Seconds()
	}
	if s.NoFirst != "" {
		noFirst = s.NoFirst
	}
	if m := s.Mark; m != nil {
		origin, users, programs = m.Origin, texts(m.UserIDs), m.Program
		if len(m.Repaired) > 0 {
			repairs, repaired = len(m.Repaired), texts(m.Repaired)
		}
	}
	o := object{
		{"session_id", s.ID},
		{"stage_id", s.Stage},
		{"file_path", origin},
		{"start_time", start + s.Start.Seconds()},
		{"end_time", start + s.End.Seconds()},
		{"duration_sec", (s.End - s.Start).Seconds()},
		{"num_events", s.Events},
		{"num_events_completed", s.Completed},
		{"num_events_cancelled", s.Cancelled},
		{"n_recorded_substitutions", repairs},
		{"recorded_substitution_event_ids", repaired},
	}
	if s.Retries > 0 {
		o.put("retries_attempted", s.Retries)
		o.put("retries_recovered", s.Recovered)
	}
	return append(o, object{
		{"success", s.OK()},
		{"error", fault},
		{"total_input_tokens", s.In},
		{"total_output_tokens", s.Out},
		{"total_cached_tokens", cached},
		{"total_cacheable_input_tokens", cacheable},
		{"user_facing_event_ids", users},
		{"num_structured_output_excluded", programs},
		{"tfut_sec", first},
		{"tfut_none_reason", noFirst},
	}...)
}
