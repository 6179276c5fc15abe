package inferenceperf

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

// TestRecordedSessionsArePrinted: the report of the sessions of a stage stands on the output
// behind all others, between the marks of the stage; that of conversations does not.
func TestRecordedSessionsArePrinted(t *testing.T) {
	const agents = `
api: {type: chat}
data: {type: synthetic_agentic, synthetic_agentic: {num_sessions: 1, input_tokens_per_turn: {type: fixed, mean: 4}, output_tokens_per_turn: {type: fixed, mean: 2},
  tool_catalog_size_per_agent: {type: fixed, mean: 1}, tool_loop_depth: {type: fixed, mean: 0}}}
load: {type: trace_session_replay, stages: [{concurrent_sessions: 1}]}
server: {type: mock, model_name: mock, base_url: "http://unused"}
`
	const turns = `
data: {type: shared_prefix, shared_prefix: {num_groups: 1, num_prompts_per_group: 1, enable_multi_turn_chat: true, output_len: 2}}
load: {type: concurrent, stages: [{num_requests: 2, concurrency_level: 1}]}
server: {type: mock, model_name: mock, base_url: "http://unused"}
`
	for _, c := range []struct{ config, marks string }{
		{agents, "SUMMARY STAGE_0 PARTIAL_BR_V0_2_STAGE_0 STAGE_0"},
		{turns, "SUMMARY STAGE_0 PARTIAL_BR_V0_2_STAGE_0"},
	} {
		_, _, printed := measure(t, c.config)
		var marks []string
		for _, m := range regexp.MustCompile(`(?m)^=== START_(\w+) ===$`).FindAllStringSubmatch(printed, -1) {
			marks = append(marks, m[1])
		}
		if got := strings.Join(marks, " "); got != c.marks {
			t.Errorf("printed %s, want %s", got, c.marks)
		}
		last := printed[strings.LastIndex(printed, "=== START_"):]
		if got := strings.Contains(last, `"num_sessions": 1`); got != (c.config == agents) {
			t.Errorf("the last report:\n%s", last)
		}
	}
}

// TestSessionsUsedUp: a stage behind the last recorded session is begun and no more heard of.
func TestSessionsUsedUp(t *testing.T) {
	const agents = `
api: {type: chat}
data: {type: synthetic_agentic, synthetic_agentic: {num_sessions: 2, input_tokens_per_turn: {type: fixed, mean: 4}, output_tokens_per_turn: {type: fixed, mean: 2},
  tool_catalog_size_per_agent: {type: fixed, mean: 1}, tool_loop_depth: {type: fixed, mean: 0}}}
load: {type: trace_session_replay, interval: 0, stages: [STAGES]}
server: {type: mock, model_name: mock, base_url: "http://unused"}
`
	for stages, want := range map[string]string{
		"{concurrent_sessions: 1}, {concurrent_sessions: 1}":                                   "0 started, 0 completed, 1 started",
		"{concurrent_sessions: 1}, {concurrent_sessions: 1, num_sessions: 1}":                  "0 started, 0 completed, 1 started",
		"{concurrent_sessions: 1, num_sessions: 1}, {concurrent_sessions: 1}":                  "0 started, 0 completed, 1 started, 1 completed",
		"{concurrent_sessions: 1, num_sessions: 2}, {concurrent_sessions: 1, num_sessions: 1}": "0 started, 0 completed, 1 started, 1 completed", // differs: ip-stages-behind
	} {
		dir, out, printed := measure(t, strings.Replace(agents, "STAGES", stages, 1))
		var told []string
		for _, m := range regexp.MustCompile(`(?m)Stage (\d) - session-based run (\w+)$`).FindAllStringSubmatch(printed, -1) {
			told = append(told, m[1]+" "+m[2])
		}
		if got := strings.Join(told, ", "); got != want {
			t.Errorf("%s: %s, not %s", stages, got, want)
		}
		played := strings.Count(want, "completed")
		if _, err := os.Stat(filepath.Join(dir, "stage_1_lifecycle_metrics.json")); (err == nil) != (played == 2) || len(out.Result.Stages) != played {
			t.Errorf("%s: %d stages, report of the second: %v", stages, len(out.Result.Stages), err)
		}
	}
}

// TestStageEnd: a stage that was not cut short lasts until its last session has ended.
func TestStageEnd(t *testing.T) {
	list := []*dialect.Session{{Start: 1, End: 70}, {Start: 5, End: 40}}
	for _, c := range []struct {
		name   string
		reason record.StopReason
		list   []*dialect.Session
		want   time.Duration
	}{
		{"all was sent", record.StopRequests, list, 70},
		{"no session", record.StopRequests, nil, 90},
		{"its time was over", record.StopDuration, list, 90},
		{"interrupted", record.StopInterrupted, list, 90},
	} {
		if got := stageEnd(record.StageSummary{StageTimes: record.StageTimes{Begin: 1, SendEnd: 90, DrainEnd: 95}, Reason: c.reason},
			c.list); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
