package planfile

import (
	"fmt"
	"slices"
	"sync"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
)

func sourceNames() []string {
	return []string{
		plan.SourceSynthetic, plan.SourceFile, plan.SourceTensors, plan.SourceRandom, plan.SourceSharedPrefix, plan.SourceDataset,
		plan.SourceConversationReplay, plan.SourceOtelTrace, plan.SourceWekaTrace, plan.SourceAgents, plan.SourceMock,
		plan.SourcePayload, plan.SourceSessions, plan.SourceTrace,
	}
}

var traceSpec = sync.OnceValue(func() codec[plan.Trace] {
	return object(
		fieldOf("lengths", text(), func(t *plan.Trace) *string { return &t.Lengths },
			"CSV file whose prompt and answer lengths are used, row by row, instead of `input` and `output`."),
		fieldOf("once", boolean(), func(t *plan.Trace) *bool { return &t.Once }, "End a stage after the last row of `lengths`. Left out: the rows begin again."),
		fieldOf("arrivals", text(), func(t *plan.Trace) *string { return &t.Arrivals },
			"CSV file whose timestamps are used by stages with arrival `trace`."),
		fieldOf("format", word(plan.TraceFormats()...), func(t *plan.Trace) *string { return &t.Format },
			"Of `lengths` and `arrivals`: `azure`, the columns TIMESTAMP, ContextTokens, GeneratedTokens. With `source: trace`: that of `file`; left out: what its fields or columns tell."),
		fieldOf("speed", amount(mostRatio), func(t *plan.Trace) *float64 { return &t.Speed }, "With `source: trace`: factor on its speed: 2 plays it twice as fast. 0: 1."),
		fieldOf("from", duration(), func(t *plan.Trace) *plan.Duration { return &t.From }, "With `source: trace`: start of the part to play, counted from the first request."),
		fieldOf("to", duration(), func(t *plan.Trace) *plan.Duration { return &t.To }, "End of that part; 0: the end of the trace."),
		fieldOf("cap_gaps", duration(), func(t *plan.Trace) *plan.Duration { return &t.CapGaps }, "With `source: trace`: longest time between two requests, as recorded; 0: no limit."),
	)
})

func aheadSpec() codec[plan.Ahead] {
	return object(
		fieldOf("input", count[int](mostPrompts), func(a *plan.Ahead) *int { return &a.Input }, "How many lengths of prompts."),
		fieldOf("output", count[int](mostPrompts), func(a *plan.Ahead) *int { return &a.Output }, "How many lengths of answers, after those."),
	)
}

func (c *checker) ahead(d *plan.Data) {
	switch a := d.Ahead; {
	case a == plan.Ahead{}:
	case d.Source != plan.SourceSynthetic && d.Source != plan.SourceRandom:
		c.lacks("data.ahead", "data.source", "only for source: synthetic or random", "leave it out")
	case a.Input == 0 || a.Output == 0:
		c.add("data.ahead", "needs both input and output", "give both, or leave it out")
	}
}

// made reports whether a source makes prompts of the lengths that data.input has.
func made(source string) bool {
	return slices.Contains([]string{plan.SourceSynthetic, plan.SourceRandom, plan.SourceSessions}, source)
}

// inferSources fills in what follows from the part of the data that is given.
func (d *Draft) inferSources() {
	data := &d.Plan.Data
	if !made(data.Source) && !d.Given("data.input") || data.Trace.Lengths != "" && !d.Given("data.input") {
		data.Input = plan.Length{}
	}
}

func (c *checker) sources(p *plan.Plan) {
	d := &p.Data
	for _, part := range []struct {
		path, source string
		given        bool
	}{
		{"data.shared_prefix", plan.SourceSharedPrefix, !sharedPrefixSpec().zero(d.SharedPrefix)},
		{"data.dataset", plan.SourceDataset, d.Dataset != plan.Dataset{}},
		{"data.conversations", plan.SourceConversationReplay, d.Conversations != plan.Conversations{}},
		{"data.agents", plan.SourceAgents, !agentsSpec().zero(d.Agents)},
		{"data.payload", plan.SourcePayload, d.Payload != plan.Payload{}},
		{"data.sessions", plan.SourceSessions, d.Sessions != plan.Sessions{}},
	} {
		if part.given && d.Source != part.source {
			c.lacks(part.path, "data.source", "cannot be combined with source: "+d.Source, "set source to "+part.source+" or leave it out")
		}
	}
	traceSpec().check(c, "data.trace", &d.Trace)
	c.trace(d)
	if d.Trace.Lengths != "" && d.Source != plan.SourceRandom {
		c.lacks("data.trace.lengths", "data.source", "only for source: random", "set source to random or leave it out")
	}
	if d.Trace.Once && d.Trace.Lengths == "" {
		c.add("data.trace.once", "has no rows without data.trace.lengths", "name a trace, or leave it out")
	}
	c.ahead(d)
	if d.Corpus != "" && d.Source != plan.SourceSynthetic {
		c.lacks("data.corpus", "data.source", "only for source: synthetic", "leave it out")
	}
	if d.Template && d.Source != plan.SourceRandom {
		c.lacks("data.template", "data.source", "only for source: random", "leave it out")
	}
	c.sharedPrefix(d)
	c.dataset(d)
	c.conversations(d)
	c.replay(p)
	c.agents(d)
	c.media("data.media", &d.Media)
	c.mediaFor(&p.Target, "data.media", &d.Media)
	c.media("data.shared_prefix.media", &d.SharedPrefix.Media)
	c.mediaFor(&p.Target, "data.shared_prefix.media", &d.SharedPrefix.Media)
	c.adapters(d.Adapters)
	c.requests(p)
}

// trace checks what belongs to the requests of a trace.
func (c *checker) trace(d *plan.Data) {
	t := &d.Trace
	if d.Source != plan.SourceTrace {
		for _, f := range []part{{"speed", t.Speed != 0}, {"from", t.From != 0}, {"to", t.To != 0}, {"cap_gaps", t.CapGaps != 0}, {"format", t.Format != "" && t.Format != plan.TraceAzure}} {
			if f.given {
				c.lacks("data.trace."+f.name, "data.source", "only for source: trace", "set source to trace or leave it out")
			}
		}
		return
	}
	switch {
	case d.File == "":
		c.add("data.file", "is missing", "give the trace")
	case t.Lengths != "" || t.Arrivals != "":
		c.add("data.trace", "lengths and arrivals cannot be combined with source: trace, which has both", "leave them out")
	case t.To != 0 && t.To <= t.From:
		c.add("data.trace.to", "is not after from", "such as from: 10m, to: 20m")
	case d.Salt != "":
		c.lacks("data.salt", "data.source", "does not apply to source: trace", "leave it out")
	}
}

func adapterSpec() codec[plan.Adapter] {
	return object(
		fieldOf("name", text(), func(a *plan.Adapter) *string { return &a.Name }, "What requests ask for as their model."),
		fieldOf("share", share(), func(a *plan.Adapter) *float64 { return &a.Share }, "Share of the requests; the shares add up to 1."),
	)
}

func (c *checker) adapters(adapters []plan.Adapter) {
	sum, seen := 0.0, map[string]bool{}
	for i, a := range adapters {
		at := fmt.Sprintf("data.adapters[%d]", i)
		switch {
		case a.Name == "":
			c.add(at+".name", "is missing", "name the adapter as the server lists it")
		case seen[a.Name]:
			c.add(at+".name", truncate.Quote(a.Name)+" is given twice", "")
		}
		seen[a.Name] = true
		c.share(at+".share", a.Share)
		sum += a.Share
	}
	if len(adapters) > 0 && (sum < 1-1e-6 || sum > 1+1e-6) {
		c.add("data.adapters", fmt.Sprintf("the shares add up to %.6g, not to 1", sum), "")
	}
}

// mostSkew is beyond what differs from a half-normal distribution.
const mostSkew = 1e6

func (c *checker) shape(path string, l plan.Length) {
	if !(l.Skew >= -mostSkew && l.Skew <= mostSkew) {
		c.add(path+".skew", fmt.Sprintf("is %v, which is not a skew", l.Skew), "")
	} else if l.Skew != 0 && l.Dist != plan.DistSkew {
		c.lacks(path+".skew", path+".dist", "only for dist: skew_normal", "set dist to skew_normal or leave it out")
	}
	if l.Shifted && l.Dist != plan.DistLognormal {
		c.lacks(path+".shifted", path+".dist", "only for dist: lognormal", "leave it out")
	}
	if l.Dist == plan.DistPoisson && l.Stddev != 0 {
		c.add(path+".stddev", "a Poisson length has a mean alone", "leave it out")
	}
}

func themeSpec() codec[plan.Theme] {
	return object(
		fieldOf("name", named("`generic`, `db2_latency_incident`, `research_rag` or `code_change_task`", plan.ThemeNames()...), func(t *plan.Theme) *string { return &t.Name }, "What it is about."),
		fieldOf("weight", number(), func(t *plan.Theme) *float64 { return &t.Weight }, "Relative weight."),
	)
}

var agentsSpec = sync.OnceValue(func() codec[plan.Agents] {
	return object(
		fieldOf("sessions", count[int](mostPrompts), func(a *plan.Agents) *int { return &a.Sessions }, "Number of distinct sessions; later ones repeat them."),
		fieldOf("turns", tallySpec(), func(a *plan.Agents) *plan.Length { return &a.Turns }, "Turns of the user in a session."),
		fieldOf("input", tallySpec(), func(a *plan.Agents) *plan.Length { return &a.Input }, "Tokens of a user's turn, and of the task of a sub-agent."),
		fieldOf("output", tallySpec(), func(a *plan.Agents) *plan.Length { return &a.Output }, "Tokens of an answer in text."),
		fieldOf("head", count[int](mostLength), func(a *plan.Agents) *int { return &a.Head }, "Tokens of each agent's system prompt."),
		fieldOf("loop", tallySpec(), func(a *plan.Agents) *plan.Length { return &a.Loop }, "Answers that call tools, before the one in text."),
		fieldOf("catalog", tallySpec(), func(a *plan.Agents) *plan.Length { return &a.Catalog }, "Tools that an agent knows."),
		fieldOf("calls", tallySpec(), func(a *plan.Agents) *plan.Length { return &a.Calls }, "Tool calls of one answer. Left out: 1."),
		fieldOf("fanout", share(), func(a *plan.Agents) *float64 { return &a.Fanout }, "Probability that an agent starts sub-agents."),
		fieldOf("children", tallySpec(), func(a *plan.Agents) *plan.Length { return &a.Children }, "How many it starts."),
		fieldOf("depth", count[int](100), func(a *plan.Agents) *int { return &a.Depth }, "How deep sub-agents may start others; 0: there are none."),
		fieldOf("events", count[int](mostPrompts), func(a *plan.Agents) *int { return &a.Events }, "Maximum model calls in a session; 0: 64."),
		fieldOf("tool_latency_s", tallySpec(), func(a *plan.Agents) *plan.Length { return &a.ToolLatency }, "Duration of a tool call, in whole seconds."),
		fieldOf("think_s", tallySpec(), func(a *plan.Agents) *plan.Length { return &a.Think }, "Time before later turns of the user, in whole seconds."),
		fieldOf("compact_at", tallySpec(), func(a *plan.Agents) *plan.Length { return &a.CompactAt }, "Context size in tokens, tools included, at which a summary replaces it. Left out: it grows."),
		fieldOf("compact_to", tallySpec(), func(a *plan.Agents) *plan.Length { return &a.CompactTo }, "Tokens of that summary."),
		fieldOf("themes", list("list of themes", themeSpec()), func(a *plan.Agents) *[]plan.Theme { return &a.Themes }, "What sessions are about. None: all themes alike."),
		fieldOf("seed", integer[uint64](), func(a *plan.Agents) *uint64 { return &a.Seed }, "Seed for the sessions, instead of the plan's. NumPy draws the same numbers from the same seed."),
	)
})

func (c *checker) agents(d *plan.Data) {
	const at = "data.agents."
	a := &d.Agents
	agentsSpec().check(c, "data.agents", a)
	if (a.CompactAt == plan.Length{}) != (a.CompactTo == plan.Length{}) {
		c.add(at+"compact_at", "is given without compact_to, or the other way round", "give both or neither")
	}
	sum := 0.0
	for i, t := range a.Themes {
		c.choice(fmt.Sprintf("%sthemes[%d].name", at, i), t.Name, plan.ThemeNames())
		if !(t.Weight >= 0) {
			c.add(fmt.Sprintf("%sthemes[%d].weight", at, i), "must not be negative", "")
		}
		sum += t.Weight
	}
	if len(a.Themes) > 0 && !(sum > 0) {
		c.add(at+"themes", "no weight is more than 0", "")
	}
	if d.Source != plan.SourceAgents {
		return
	}
	for _, need := range []part{{"sessions", a.Sessions > 0}, {"turns", a.Turns != plan.Length{}}, {"input", a.Input != plan.Length{}}, {"output", a.Output != plan.Length{}}} {
		if !need.given {
			c.add(at+need.name, "is missing", "")
		}
	}
}
