package planfile

import (
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

func sourceNames() []string {
	return []string{
		plan.SourceSynthetic, plan.SourceFile, plan.SourceTensors, plan.SourceRandom, plan.SourceSharedPrefix, plan.SourceDataset,
		plan.SourceConversationReplay, plan.SourceOtelTrace, plan.SourceWekaTrace, plan.SourceAgents, plan.SourceMock,
		plan.SourcePayload, plan.SourceSessions, plan.SourceTrace, plan.SourceVLLM,
	}
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
		{"data.shared_prefix", plan.SourceSharedPrefix, !unset(&d.SharedPrefix)},
		{"data.dataset", plan.SourceDataset, d.Dataset != plan.Dataset{}},
		{"data.conversations", plan.SourceConversationReplay, d.Conversations != plan.Conversations{}},
		{"data.agents", plan.SourceAgents, !unset(&d.Agents)},
		{"data.payload", plan.SourcePayload, d.Payload != plan.Payload{}},
		{"data.sessions", plan.SourceSessions, d.Sessions != plan.Sessions{}},
		{"data.vllm_bench", plan.SourceVLLM, !unset(&d.VLLM)},
	} {
		if part.given && d.Source != part.source {
			c.lacks(part.path, "data.source", "cannot be combined with source: "+d.Source, "set source to "+part.source+" or leave it out")
		}
	}
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
	if d.Template && d.Source != plan.SourceRandom && d.VLLM.Kind != plan.VLLMRandom {
		c.lacks("data.template", "data.source", "only for source: random", "leave it out")
	}
	c.sharedPrefix(d)
	c.dataset(d)
	c.conversations(d)
	c.replay(p)
	c.agents(d)
	c.vllm(d)
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

func (c *checker) agents(d *plan.Data) {
	const at = "data.agents."
	a := &d.Agents
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

func datasetKinds() []string { return append(plan.DatasetKinds(), plan.DatasetAuto) }

func (c *checker) dataset(d *plan.Data) {
	const at = "data.dataset."
	s := &d.Dataset
	if d.Source != plan.SourceDataset {
		return
	}
	c.choice(at+"kind", s.Kind, datasetKinds())
	if s.Whole && d.Output == (plan.Length{}) && !s.Free {
		c.add(at+"whole_chats", "needs data.output: no response is left that says how long the next is", "such as 30")
	}
	if slices.Contains([]string{plan.DatasetBillsum, plan.DatasetInfinity}, s.Kind) && s.Path == "" && s.Hub.Name == "" {
		c.add(at+"path", "is missing: "+s.Kind+" has no usual place on the hub", "give %v", message.New("%v or %v", message.DatasetPath, message.DatasetHub).Or("%v", message.DatasetPath))
	}
	if s.Kind == plan.DatasetAuto && s.Path == "" {
		c.add(at+"path", "is missing: auto tells the data set from a file", "give path, or name the data set")
	}
	if s.Path != "" && s.Hub != (plan.Hub{}) {
		c.add(at+"path", "cannot be combined with hub", "give one of them")
	}
}

func (c *checker) sharedPrefix(d *plan.Data) {
	const at = "data.shared_prefix."
	s := &d.SharedPrefix
	if s.Repeat && !s.MultiTurn {
		c.add(at+"repeat", "only for multi_turn", "set multi_turn to true")
	}
	if d.Source == plan.SourceSharedPrefix && s.Question == (plan.Length{}) {
		c.add(at+"question", "is missing", "such as 50")
	}
}

func (c *checker) conversations(d *plan.Data) {
	const at = "data.conversations."
	s := &d.Conversations
	if d.Source == plan.SourceConversationReplay && s.Turns == (plan.Length{}) {
		c.add(at+"turns", "is missing", "such as 10")
	}
	if d.Source == plan.SourceConversationReplay && s.Input == (plan.Length{}) {
		c.add(at+"input", "is missing", "such as 512")
	}
}
