package args

import (
	"fmt"
	"math"
	"slices"

	"github.com/inferometer/inferometer/internal/plan"
)

func (b *builder) agents(d *plan.Data, v *value) {
	const kind, at = "synthetic_agentic", "data.synthetic_agentic."
	d.Source = plan.SourceAgents
	b.sessions(kind, d, v, "give num_sessions, input_tokens_per_turn and output_tokens_per_turn")
	if v == nil {
		return
	}
	d.Replay.Models = nil
	b.useless("generated sessions have no recording", at, "model_mapping", "default_max_tokens")
	length := func(name string, def plan.Length) plan.Length {
		if v.child(name) == nil {
			return def
		}
		l := b.length(at+name, v.child(name), 1)
		if l.Dist != plan.DistFixed && l.Max == 0 { // nothing but 0 lies within
			return plan.Length{}
		}
		return l
	}
	d.Agents = plan.Agents{
		Sessions: int(v.child("num_sessions").integer()), Seed: uint64(v.child("seed").integer()), Head: int(v.child("shared_system_prompt_len").integer()),
		Turns: length("turns_per_session", fixed(1)), Input: length("input_tokens_per_turn", plan.Length{}), Output: length("output_tokens_per_turn", plan.Length{}),
		Fanout: v.child("fanout_probability").number(), Depth: int(v.child("max_depth").integer()), Events: int(v.child("max_events_per_session").integer()),
		Loop: length("tool_loop_depth", fixed(2)), Catalog: length("tool_catalog_size_per_agent", fixed(8)), Calls: length("parallel_tool_calls_per_step", fixed(1)),
		Children:    length("sub_agents_per_spawn", plan.Length{Dist: plan.DistUniform, Min: 2, Max: 4}),
		ToolLatency: length("tool_call_latency_sec", fixed(1)), Think: length("user_think_time_sec", fixed(10)),
	}
	if c := v.child("context_compaction"); c != nil {
		d.Agents.CompactAt = b.length(at+"context_compaction.trigger_tokens", c.child("trigger_tokens"), 1)
		d.Agents.CompactTo = b.length(at+"context_compaction.target_tokens", c.child("target_tokens"), 1)
	}
	b.themes(&d.Agents, v.child("theme_mix"))
	for _, name := range []string{"inject_random_session_id", "duplicate_sessions_target", "skip_invalid_files", "include_errors"} {
		if b.changed(at + name) {
			b.fault(at+name, "does not apply to generated sessions", "leave it out")
		}
	}
	if m := v.child("max_model_len"); m != nil {
		b.fitsModel(at, &d.Agents, int(m.integer()))
	}
}

// themes reads the weights of themes, in the order of the config.
func (b *builder) themes(a *plan.Agents, mix *value) {
	const at = "data.synthetic_agentic.theme_mix"
	if mix == nil {
		return
	}
	sum := 0.0
	for _, name := range mix.names {
		w := mix.child(name)
		if w != nil && w.kind == object { // nil means it could not be read, which was said
			w = w.child("weight")
		}
		a.Themes = append(a.Themes, plan.Theme{Name: name, Weight: w.number()})
		sum += w.number()
	}
	alike := slices.EqualFunc(a.Themes, plan.ThemeNames(),
		func(t plan.Theme, name string) bool { return t.Name == name && t.Weight == a.Themes[0].Weight })
	switch {
	case len(a.Themes) == 0:
		b.fault(at, "is empty", "name a theme, or leave it out")
	case !(sum > 0):
		b.fault(at, "all weights are 0", "")
	case alike:
		a.Themes = nil
	}
}

// fitsModel refuses sessions whose longest request could be longer than the model's context.
func (b *builder) fitsModel(at string, a *plan.Agents, limit int) {
	const perTool = 380 // tokens of a tool's description and schema, about
	most := func(l plan.Length) int {
		if l.Dist == plan.DistFixed || l.Max == 0 {
			return int(math.Ceil(l.Mean))
		}
		return l.Max
	}
	out := most(a.Output)
	turn := most(a.Input) + most(a.Loop)*(out+max(1, most(a.Calls))*out)
	total := a.Head + most(a.Catalog)*perTool + max(1, most(a.Turns))*turn + out
	if total > limit {
		b.fault(at+"max_model_len", fmt.Sprintf("is %d, but the longest request may have about %d tokens: system prompt %d, tools %d, %d turns of %d with their tool calls, output %d",
			limit, total, a.Head, most(a.Catalog)*perTool, max(1, most(a.Turns)), turn, out), "reduce the lengths, or raise it")
	}
}
