package report

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

// The names of the files of sessions.
const (
	SessionSummaryFile = "summary_session_lifecycle_metrics.json"
	PerSessionFile     = "per_session_lifecycle_metrics.json"
)

// SessionStageFile is the name of the report of the sessions of a stage.
func SessionStageFile(stage int) string { return fmt.Sprintf("stage_%d_session_%s", stage, lifecycle) }

// SessionStage is how a stage of sessions went.
type SessionStage struct {
	Stage      int
	Status     string   // COMPLETED, FAILED or TIMED_OUT
	Timeout    *float64 // seconds, or nil
	Duration   float64
	Teardown   *float64 // seconds; nil means not known
	Dropped    int64    // requests that never went out
	Concurrent *int     // sessions at once, 0: no bound; nil means the load is not one of sessions
	Rate       *float64 // sessions per second, or nil
}

// Sessions is the report of sessions. A stage of nil is all stages.
func Sessions(s *dialect.SessionSummary, stage *SessionStage) []byte {
	o := object{}
	if stage != nil {
		o.put("stage_metadata", object{
			{"stage_id", stage.Stage},
			{"status", stage.Status},
			{"timeout_configured", stage.Timeout},
			{"actual_duration", stage.Duration},
			{"teardown_duration", stage.Teardown},
			{"dropped_requests", stage.Dropped},
			{"concurrent_sessions", stage.Concurrent},
			{"session_rate", stage.Rate},
		})
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
	var reached int64 // sessions with a first token for the user
	if s.First != nil {
		reached = s.First.N
	}
	o = append(o, object{
		{"sessions_per_second", s.PerSecond},
		{"session_duration_sec", s.Duration},
		{"num_events", s.NumEvents},
		{"num_events_cancelled", s.NumCancelled},
		{"total_input_tokens", s.In},
		{"total_output_tokens", s.Out},
		{"total_cached_tokens", s.Cached},
		{"total_cacheable_input_tokens", s.Cacheable},
		{"sessions_with_cache_info", s.Told},
		{"kv_cache_hit_percent", s.HitPercent},
		{"kv_cache_hit_per_session_percent", s.HitEach},
		{"tfut_sec", s.First},
		{"sessions_with_tfut", reached},
		{"tfut_none_reasons", reasons(s.NoFirst)},
		{"num_user_facing_events", s.Users},
		{"num_structured_output_excluded", s.Programs},
	}...)
	return appendJSON(nil, o, 0)
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

// EachSession writes the report of single sessions. Moments are seconds since 1970.
func EachSession(w io.Writer, all []*dialect.Session, start time.Time) error {
	out := array{out: bufio.NewWriter(w)}
	for _, s := range all {
		out.put(sessionObject(s, float64(start.UnixNano())/1e9))
	}
	return out.close()
}

func sessionObject(s *dialect.Session, start float64) object {
	var fault, cached, cacheable, first, repairs, repaired, users, programs any
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
		first = s.First - s.Start
	}
	if m := s.Mark; m != nil {
		origin, users, programs = m.Origin, listOf(m.UserIDs), m.Program
		if len(m.Repaired) > 0 {
			repairs, repaired = len(m.Repaired), listOf(m.Repaired)
		}
	}
	o := object{
		{"session_id", s.ID},
		{"stage_id", s.Stage},
		{"file_path", origin},
		{"start_time", start + s.Start.Seconds()},
		{"end_time", start + s.End.Seconds()},
		{"duration_sec", s.End - s.Start},
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
		{"tfut_none_reason", textOrNull(s.NoFirst)},
	}...)
}
