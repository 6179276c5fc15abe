package planfile

import (
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

// mostRatio bounds the factor on delays.
const mostRatio = 1e6

// requests checks what says how requests are made of prompts.
func (c *checker) requests(p *plan.Plan) {
	d, t := &p.Data, &p.Target
	if t.Form != "" && t.Protocol != plan.ProtocolOpenAI && t.Protocol != plan.ProtocolHTTP && t.Protocol != plan.ProtocolTriton {
		c.lacks("target.form", "target.protocol", "does not apply to protocol "+truncate.Quote(t.Protocol), "leave it out")
	}
	if d.TextOnly && !t.Shaped() {
		c.lacks("data.text_only", "target.form", "only for requests of target.form", "leave it out")
	}
	if d.ModelOrder != "" && len(d.Adapters) == 0 {
		c.lacks("data.model_order", "data.adapters", "there are no models to choose from", "give %v", message.Adapters)
	}
	if d.Pool && d.Prompts == 0 && made(d.Source) {
		c.lacks("data.pool", "data.prompts", "the number of requests is missing", "give %v", message.Prompts)
	}
	if d.Pool && d.Salt != "" {
		c.lacks("data.pool", "data.salt", "cannot be combined with salt, which makes every request different", "leave one of them out")
	}
	c.worded(d)
	c.passages(p)
	c.sessions(p)
	c.systemPrompt(p)
	c.tokenIDs(p)
}

// tokenIDs checks what has prompts sent as token ids.
func (c *checker) tokenIDs(p *plan.Plan) {
	const at = "data.token_ids"
	d, t := &p.Data, &p.Target
	switch {
	case !d.TokenIDs:
	case t.Endpoint != plan.EndpointCompletions && t.Endpoint != plan.EndpointSGLang || t.Shaped():
		c.lacks(at, "target.endpoint", "only for completions and sglang", "leave it out")
	case p.Tokenizer.Name == plan.TokenizerWords || p.Tokenizer.Name == plan.TokenizerServer:
		c.lacks(at, "tokenizer.name", "tokenizer "+truncate.Quote(p.Tokenizer.Name)+" has no ids", "name the model's")
	case !d.Media.None():
		c.lacks(at, "data.media", "prompts with media cannot be sent as token ids", "leave one of them out")
	}
}

// systemPrompt checks what puts a system prompt in front of prompts that have none of their own.
func (c *checker) systemPrompt(p *plan.Plan) {
	const at = "data.system_prompt"
	d, t := &p.Data, &p.Target
	switch {
	case d.SystemPrompt == 0:
	case !t.Chats() && t.Endpoint != plan.EndpointCompletions || t.Shaped():
		c.lacks(at, "target.endpoint", "only for chats and completions", "leave it out")
	case !slices.Contains([]string{plan.SourceSynthetic, plan.SourceRandom, plan.SourceSessions, plan.SourcePayload, plan.SourceFile,
		plan.SourceDataset}, d.Source):
		c.lacks(at, "data.source", "does not apply to source: "+d.Source, "leave it out")
	case d.Salt != "":
		c.lacks(at, "data.salt", "cannot be combined with salt, which must come first", "leave one of them out")
	}
}

// worded checks what is put in front of synthetic prompts.
func (c *checker) worded(d *plan.Data) {
	switch x := &d.Prefixes; {
	case x.Share != 0 && x.Length != plan.Length{}:
		c.add("data.prefixes.share", "cannot be combined with length", "give one of them")
	case x.Share != 0 && x.Count == 0:
		c.add("data.prefixes.count", "is missing", "such as 1")
	case x.Share != 0 && d.Source == plan.SourceSessions:
		c.lacks("data.prefixes.share", "data.source", "does not apply to conversations, whose turns find those before them", "give data.prefixes.length")
	case x.Count > 0 && x.Share == 0 && x.Length == plan.Length{}:
		c.add("data.prefixes.length", "is missing", "such as 100")
	}
	for _, f := range []part{{"data.in_words", d.InWords != 0}, {"data.prefixes", d.Prefixes != plan.Prefixes{}}} {
		switch {
		case !f.given:
		case d.Source != plan.SourceSynthetic && (d.Source != plan.SourceSessions || d.InWords != 0):
			c.lacks(f.name, "data.source", "only for source: synthetic", "leave it out")
		case d.Salt != "":
			c.lacks(f.name, "data.salt", "cannot be combined with salt, which must come first", "leave one of them out")
		}
	}
}

func (c *checker) passages(p *plan.Plan) {
	d := &p.Data
	switch {
	case d.Passages == plan.Passages{}:
	case !p.Target.Ranks():
		c.lacks("data.passages", "target.endpoint", "only for rankings, reranks and scores", "leave it out")
	case d.Passages.File != "" && d.Passages.Count != 0:
		c.add("data.passages", "file and count cannot be combined", "give one of them")
	case d.Passages.Count != 0 && d.Source != plan.SourceSynthetic:
		c.lacks("data.passages.count", "data.source", "only for source: synthetic", "give a file")
	}
}

// sessions checks what belongs to sessions that are known ahead.
func (c *checker) sessions(p *plan.Plan) {
	d := &p.Data
	s := &d.Sessions
	if d.Source == plan.SourcePayload && d.File == "" {
		c.add("data.file", "is missing", "give the file of requests")
	}
	whole := p.Target.Shaped() || slices.ContainsFunc(p.Stages, func(s plan.Stage) bool { return s.Arrival == plan.ArrivalSessions })
	if d.Source == plan.SourceSessions && s.Count == 0 && (whole || d.Pool) {
		c.add("data.sessions.count", "is missing", "such as 20")
	}
	if d.Salt != "" && (d.Source == plan.SourcePayload || d.Source == plan.SourceSessions) {
		c.lacks("data.salt", "data.source", fmt.Sprintf("does not apply to source: %s", d.Source), "leave it out")
	}
}
