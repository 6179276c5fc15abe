package args

import (
	"strings"
	"testing"
)

// agentEffects are what the keys of synthetic_agentic do.
func agentEffects() []effect {
	const at = "data.synthetic_agentic."
	const sessions = `--api.type chat --load.type trace_session_replay --load.stages [{"concurrent_sessions":1}] --data.type synthetic_agentic ` +
		`--data.synthetic_agentic {"num_sessions":3,"input_tokens_per_turn":{"mean":300},"output_tokens_per_turn":{"mean":50}}`
	out := []effect{
		{at + "max_model_len", sessions, "1000", refused}, {at + "max_model_len", sessions, "100000", met},
		{at + "inject_random_session_id", sessions, "true", refused}, {at + "duplicate_sessions_target", sessions, "9", refused},
		{at + "skip_invalid_files", sessions, "true", refused}, {at + "include_errors", sessions, "false", refused},
		{at + "default_max_tokens", sessions, "9", warns}, {at + "model_mapping", sessions, `{"a":"b"}`, warns},
		{at + "use_static_model", sessions, "true", refused}, // which model?
		{at + "static_model_name", sessions + " --data.synthetic_agentic.use_static_model true --data.synthetic_agentic.static_model_name x", "y", works},
		{at + "theme_mix", sessions, `{"generic":1,"research_rag":{"weight":2}}`, works}, {at + "theme_mix", sessions, `{"poetry":1}`, refused},
		{at + "override_tool_call_max_tokens", sessions, "true", works}, {at + "tool_choice_mode", sessions, "as_recorded", works},
		{at + "bad_tool_call_handling", sessions, "use_recorded", works}, {at + "max_wait_ms", sessions, "5", works}, {at + "predecessor_wait_timeout_sec", sessions, "5", works},
		{at + "context_compaction.trigger_tokens.mean", sessions + ` --data.synthetic_agentic.context_compaction {"trigger_tokens":{"mean":900},"target_tokens":{"mean":300}}`, "800", works},
		{at + "context_compaction.target_tokens.mean", sessions + ` --data.synthetic_agentic.context_compaction {"trigger_tokens":{"mean":900},"target_tokens":{"mean":300}}`, "200", works},
	}
	for _, name := range []string{"num_sessions", "seed", "shared_system_prompt_len", "max_depth", "max_events_per_session"} {
		out = append(out, effect{at + name, sessions, "7", works})
	}
	out = append(out, effect{at + "fanout_probability", sessions, "0.5", works})
	for _, name := range []string{
		"input_tokens_per_turn", "output_tokens_per_turn", "turns_per_session", "tool_loop_depth", "sub_agents_per_spawn", "tool_catalog_size_per_agent",
		"parallel_tool_calls_per_step", "tool_call_latency_sec", "user_think_time_sec",
	} {
		out = append(out, effect{at + name + ".mean", sessions, "77", works})
	}
	return out
}

// TestAgentsThatDoNotFit: the longest request is reckoned as the original does.
func TestAgentsThatDoNotFit(t *testing.T) {
	config := `api: {type: chat}
load: {type: trace_session_replay, stages: [{concurrent_sessions: 1}]}
server: {base_url: "http://localhost:1"}
data: {type: synthetic_agentic, synthetic_agentic: {num_sessions: 1, input_tokens_per_turn: {type: fixed, mean: 300}, output_tokens_per_turn: {type: uniform, min: 1, max: 50}, max_model_len: LIMIT}}
`
	for limit, ok := range map[string]bool{"4590": true, "4589": false} {
		_, err := Parse([]string{"-c", "c.yml"}, World{ReadFile: func(string) ([]byte, error) { return []byte(strings.ReplaceAll(config, "LIMIT", limit)), nil }})
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "the longest request may have about 4590 tokens") {
			t.Errorf("%s: %v", limit, err)
		}
	}
}

// TestAgentsEcho: the config in force has no null where the original wants a value, and the
// original's own mix of themes is none.
func TestAgentsEcho(t *testing.T) {
	const line = `--api.type chat --load.type trace_session_replay --load.stages [{"concurrent_sessions":1}] --data.type synthetic_agentic ` +
		`--data.synthetic_agentic {"num_sessions":3,"input_tokens_per_turn":{"mean":300},"output_tokens_per_turn":{"mean":50}}`
	const mix = `{"generic":{"weight":0.25},"db2_latency_incident":{"weight":0.25},"research_rag":{"weight":0.25},"code_change_task":{"weight":0.25}}`
	for _, more := range [][]string{nil, {"--data.synthetic_agentic.theme_mix", mix}} {
		a, err := parse(small, append(strings.Fields(line), more...)...)
		if err != nil || a.Plan.Data.Agents.Themes != nil || strings.Contains(string(a.Config), "theme_mix: null") || strings.Contains(string(a.Config), "turns_per_session: null") {
			t.Errorf("%v: %v\n%s", more, err, a.Config)
		}
	}
}
