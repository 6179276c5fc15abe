package plan

import (
	"fmt"
	"slices"
	"sync"
)

// Sources of prompts beside generated text, files and tensors.
const (
	SourceRandom             = "random"              // random tokens
	SourceSharedPrefix       = "shared_prefix"       // groups of prompts that begin alike
	SourceDataset            = "dataset"             // a well-known data set
	SourceConversationReplay = "conversation_replay" // generated conversations of many turns
	SourceOtelTrace          = "otel_trace"          // sessions out of OpenTelemetry traces
	SourceWekaTrace          = "weka_trace"          // sessions out of block-hash traces
	SourceMock               = "mock"                // a few words and a number
)

// TraceAzure is the form of the Azure public data set: TIMESTAMP, ContextTokens,
// GeneratedTokens.
const TraceAzure = "azure"

func sourceNames() []string {
	return []string{
		SourceSynthetic, SourceFile, SourceTensors, SourceRandom, SourceSharedPrefix, SourceDataset,
		SourceConversationReplay, SourceOtelTrace, SourceWekaTrace, SourceAgents, SourceMock,
		SourcePayload, SourceSessions,
	}
}

// Trace is a file that says when requests arrive or how long they are.
type Trace struct {
	Lengths  string // CSV file whose lengths take the place of input and output
	Once     bool   // a stage ends after the last row of it
	Arrivals string // CSV file whose moments are those of arrival: trace
	Format   string // "azure", also when empty
}

var traceSpec = sync.OnceValue(func() codec[Trace] {
	return object(
		fieldOf("lengths", text(), func(t *Trace) *string { return &t.Lengths },
			"CSV file whose prompt and answer lengths are used, row by row, instead of `input` and `output`."),
		fieldOf("once", boolean(), func(t *Trace) *bool { return &t.Once }, "End a stage after the last row of `lengths`. Left out: the rows begin again."),
		fieldOf("arrivals", text(), func(t *Trace) *string { return &t.Arrivals },
			"CSV file whose timestamps are used by stages with arrival `trace`."),
		fieldOf("format", word(TraceAzure), func(t *Trace) *string { return &t.Format },
			"Columns of the files: TIMESTAMP, ContextTokens, GeneratedTokens. Left out: `azure`."),
	)
})

// Ahead says how many lengths are drawn before a run.
type Ahead struct {
	Input  int
	Output int
}

func aheadSpec() codec[Ahead] {
	return object(
		fieldOf("input", count[int](mostPrompts), func(a *Ahead) *int { return &a.Input }, "How many lengths of prompts."),
		fieldOf("output", count[int](mostPrompts), func(a *Ahead) *int { return &a.Output }, "How many lengths of answers, after those."),
	)
}

func (c *checker) ahead(d *Data) {
	switch a := d.Ahead; {
	case a == Ahead{}:
	case d.Source != SourceSynthetic && d.Source != SourceRandom:
		c.lacks("data.ahead", "data.source", "only for source: synthetic or random", "leave it out")
	case a.Input == 0 || a.Output == 0:
		c.add("data.ahead", "needs both input and output", "give both, or leave it out")
	}
}

// made reports whether a source makes prompts of the lengths that data.input has.
func made(source string) bool {
	return slices.Contains([]string{SourceSynthetic, SourceRandom, SourceSessions}, source)
}

// inferSources fills in what follows from the part of the data that is given.
func (d *Draft) inferSources() {
	data := &d.Plan.Data
	if !made(data.Source) && !d.Given("data.input") || data.Trace.Lengths != "" && !d.Given("data.input") {
		data.Input = Length{}
	}
}

// sources checks what belongs to a source.
func (c *checker) sources(p *Plan) {
	d := &p.Data
	for _, part := range []struct {
		path, source string
		given        bool
	}{
		{"data.shared_prefix", SourceSharedPrefix, !sharedPrefixSpec().zero(d.SharedPrefix)},
		{"data.dataset", SourceDataset, d.Dataset != Dataset{}},
		{"data.conversations", SourceConversationReplay, d.Conversations != Conversations{}},
		{"data.agents", SourceAgents, !agentsSpec().zero(d.Agents)},
		{"data.payload", SourcePayload, d.Payload != Payload{}},
		{"data.sessions", SourceSessions, d.Sessions != Sessions{}},
	} {
		if part.given && d.Source != part.source {
			c.lacks(part.path, "data.source", "cannot be combined with source: "+d.Source, "set source to "+part.source+" or leave it out")
		}
	}
	traceSpec().check(c, "data.trace", &d.Trace)
	if d.Trace.Lengths != "" && d.Source != SourceRandom {
		c.lacks("data.trace.lengths", "data.source", "only for source: random", "set source to random or leave it out")
	}
	if d.Trace.Once && d.Trace.Lengths == "" {
		c.add("data.trace.once", "has no rows without data.trace.lengths", "name a trace, or leave it out")
	}
	c.ahead(d)
	if d.Corpus != "" && d.Source != SourceSynthetic {
		c.lacks("data.corpus", "data.source", "only for source: synthetic", "leave it out")
	}
	if d.Template && d.Source != SourceRandom {
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

// Adapter is one of the models that share the traffic.
type Adapter struct {
	Name  string
	Share float64 // of the requests
}

func adapterSpec() codec[Adapter] {
	return object(
		fieldOf("name", text(), func(a *Adapter) *string { return &a.Name }, "What requests ask for as their model."),
		fieldOf("share", share(), func(a *Adapter) *float64 { return &a.Share }, "Share of the requests; the shares add up to 1."),
	)
}

func (c *checker) adapters(adapters []Adapter) {
	sum, seen := 0.0, map[string]bool{}
	for i, a := range adapters {
		at := fmt.Sprintf("data.adapters[%d]", i)
		switch {
		case a.Name == "":
			c.add(at+".name", "is missing", "name the adapter as the server lists it")
		case seen[a.Name]:
			c.add(at+".name", quote(a.Name)+" is given twice", "")
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

// shape checks what only some distributions have.
func (c *checker) shape(path string, l Length) {
	if !(l.Skew >= -mostSkew && l.Skew <= mostSkew) {
		c.add(path+".skew", fmt.Sprintf("is %v, which is not a skew", l.Skew), "")
	} else if l.Skew != 0 && l.Dist != DistSkew {
		c.lacks(path+".skew", path+".dist", "only for dist: skew_normal", "set dist to skew_normal or leave it out")
	}
	if l.Shifted && l.Dist != DistLognormal {
		c.lacks(path+".shifted", path+".dist", "only for dist: lognormal", "leave it out")
	}
	if l.Dist == DistPoisson && l.Stddev != 0 {
		c.add(path+".stddev", "a Poisson length has a mean alone", "leave it out")
	}
}
