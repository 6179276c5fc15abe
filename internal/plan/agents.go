package plan

import (
	"fmt"
	"sync"
)

// SourceAgents are generated sessions of agents that call tools and other agents.
const SourceAgents = "agents"

// The themes of generated sessions of agents.
const (
	ThemeGeneric  = "generic"
	ThemeDatabase = "db2_latency_incident"
	ThemeResearch = "research_rag"
	ThemeCode     = "code_change_task"
)

// ThemeNames are the themes of generated sessions of agents.
func ThemeNames() []string {
	return []string{ThemeGeneric, ThemeDatabase, ThemeResearch, ThemeCode}
}

// Agents says what generated sessions of agents are like. A zero Length is 0.
type Agents struct {
	Sessions    int     // how many differ from each other
	Turns       Length  // of the user in a session
	Input       Length  // tokens of a user's turn, and of a sub-agent's task
	Output      Length  // tokens of an answer in text
	Head        int     // tokens of the system prompt of each agent
	Loop        Length  // calls of a model that call tools before the answer
	Catalog     Length  // tools that an agent knows
	Calls       Length  // tool calls of one answer; at least 1
	Fanout      float64 // probability that an agent starts others
	Children    Length  // how many
	Depth       int     // how deep agents may start others
	Events      int     // most calls of a model in a session
	ToolLatency Length  // whole seconds that tools take
	Think       Length  // whole seconds before a user's later turns
	CompactAt   Length  // tokens of a context that is replaced by a summary; zero: none is
	CompactTo   Length  // tokens of the summary
	Themes      []Theme // none: all alike
	Seed        uint64  // of all of it, instead of the plan's
}

// Theme is what sessions are about, and how often.
type Theme struct {
	Name   string
	Weight float64
}

func themeSpec() codec[Theme] {
	return object(
		fieldOf("name", named("`generic`, `db2_latency_incident`, `research_rag` or `code_change_task`", ThemeNames()...), func(t *Theme) *string { return &t.Name }, "What it is about."),
		fieldOf("weight", number(), func(t *Theme) *float64 { return &t.Weight }, "Relative weight."),
	)
}

var agentsSpec = sync.OnceValue(func() codec[Agents] {
	return object(
		fieldOf("sessions", count[int](mostPrompts), func(a *Agents) *int { return &a.Sessions }, "Number of distinct sessions; later ones repeat them."),
		fieldOf("turns", tallySpec(), func(a *Agents) *Length { return &a.Turns }, "Turns of the user in a session."),
		fieldOf("input", tallySpec(), func(a *Agents) *Length { return &a.Input }, "Tokens of a user's turn, and of the task of a sub-agent."),
		fieldOf("output", tallySpec(), func(a *Agents) *Length { return &a.Output }, "Tokens of an answer in text."),
		fieldOf("head", count[int](mostLength), func(a *Agents) *int { return &a.Head }, "Tokens of each agent's system prompt."),
		fieldOf("loop", tallySpec(), func(a *Agents) *Length { return &a.Loop }, "Answers that call tools, before the one in text."),
		fieldOf("catalog", tallySpec(), func(a *Agents) *Length { return &a.Catalog }, "Tools that an agent knows."),
		fieldOf("calls", tallySpec(), func(a *Agents) *Length { return &a.Calls }, "Tool calls of one answer. Left out: 1."),
		fieldOf("fanout", share(), func(a *Agents) *float64 { return &a.Fanout }, "Probability that an agent starts sub-agents."),
		fieldOf("children", tallySpec(), func(a *Agents) *Length { return &a.Children }, "How many it starts."),
		fieldOf("depth", count[int](100), func(a *Agents) *int { return &a.Depth }, "How deep sub-agents may start others; 0: there are none."),
		fieldOf("events", count[int](mostPrompts), func(a *Agents) *int { return &a.Events }, "Maximum model calls in a session; 0: 64."),
		fieldOf("tool_latency_s", tallySpec(), func(a *Agents) *Length { return &a.ToolLatency }, "Duration of a tool call, in whole seconds."),
		fieldOf("think_s", tallySpec(), func(a *Agents) *Length { return &a.Think }, "Time before later turns of the user, in whole seconds."),
		fieldOf("compact_at", tallySpec(), func(a *Agents) *Length { return &a.CompactAt }, "Context size in tokens, tools included, at which a summary replaces it. Left out: it grows."),
		fieldOf("compact_to", tallySpec(), func(a *Agents) *Length { return &a.CompactTo }, "Tokens of that summary."),
		fieldOf("themes", list("list of themes", themeSpec()), func(a *Agents) *[]Theme { return &a.Themes }, "What sessions are about. None: all themes alike."),
		fieldOf("seed", integer[uint64](), func(a *Agents) *uint64 { return &a.Seed }, "Seed for the sessions, instead of the plan's. NumPy draws the same numbers from the same seed."),
	)
})

func (c *checker) agents(d *Data) {
	const at = "data.agents."
	a := &d.Agents
	agentsSpec().check(c, "data.agents", a)
	if (a.CompactAt == Length{}) != (a.CompactTo == Length{}) {
		c.add(at+"compact_at", "is given without compact_to, or the other way round", "give both or neither")
	}
	sum := 0.0
	for i, t := range a.Themes {
		c.choice(fmt.Sprintf("%sthemes[%d].name", at, i), t.Name, ThemeNames())
		if !(t.Weight >= 0) {
			c.add(fmt.Sprintf("%sthemes[%d].weight", at, i), "must not be negative", "")
		}
		sum += t.Weight
	}
	if len(a.Themes) > 0 && !(sum > 0) {
		c.add(at+"themes", "no weight is more than 0", "")
	}
	if d.Source != SourceAgents {
		return
	}
	for _, need := range []part{{"sessions", a.Sessions > 0}, {"turns", a.Turns != Length{}}, {"input", a.Input != Length{}}, {"output", a.Output != Length{}}} {
		if !need.given {
			c.add(at+need.name, "is missing", "")
		}
	}
}
