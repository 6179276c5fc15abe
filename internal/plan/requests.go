package plan

import (
	"fmt"
	"sync"

	"github.com/inferometer/inferometer/internal/message"
)

// FormShaped is the form of request bodies that prompt/shaped makes, before anything is
// known of the model.
const FormShaped = "genai-perf"

// Shaped reports whether requests come with whole bodies of that form.
func (t *Target) Shaped() bool { return t.Form == FormShaped }

// ClientPlain is an HTTP client that sends no headers but the user's and the least that HTTP
// needs, asks for no list of models, and takes each chunk of a response as it is handed over.
const ClientPlain = "plain"

// Plain reports whether the client is of that kind.
func (t *Target) Plain() bool { return t.Client == ClientPlain }

// Sources of whole sessions that are known ahead, but for the answers.
const (
	SourcePayload  = "payload"  // lines with moments, sessions, lengths and fields of requests
	SourceSessions = "sessions" // generated sessions of a number
)

// How a prompt gets one of several models.
const (
	OrderShares     = "shares"
	OrderRoundRobin = "round_robin"
)

// Prefixes are a few beginnings that synthetic prompts share.
type Prefixes struct {
	Count  int // 0: none
	Length Length
}

var prefixesSpec = sync.OnceValue(func() codec[Prefixes] {
	return object(
		fieldOf("count", count[int](mostPrompts), func(p *Prefixes) *int { return &p.Count }, "Number of prefixes to choose from, at random."),
		fieldOf("length", lengthSpec(), func(p *Prefixes) *Length { return &p.Length }, "Their length, in addition to the prompt's."),
	)
})

// Passages are what a query is ranked against: some are drawn for each.
type Passages struct {
	File  string // of texts; or
	Count int    // of generated ones
}

var passagesSpec = sync.OnceValue(func() codec[Passages] {
	return object(
		fieldOf("file", text(), func(p *Passages) *string { return &p.File }, "File of passages, in the form of `data.file`; or"),
		fieldOf("count", count[int](mostPrompts), func(p *Passages) *int { return &p.Count }, "number of generated ones, of length `data.input`."),
	)
})

// Payload says how the lines of a payload file are used.
type Payload struct {
	DelayRatio float64 // factor on the delays of its lines; 0 is 1
	Alone      bool    // every line is a request of its own, without what is said before it
}

var payloadSpec = sync.OnceValue(func() codec[Payload] {
	return object(
		fieldOf("delay_ratio", amount(mostRatio), func(p *Payload) *float64 { return &p.DelayRatio }, "Factor on the delays of the lines; 0: 1."),
		fieldOf("alone", boolean(), func(p *Payload) *bool { return &p.Alone }, "Send every line as a separate request, without the earlier turns of its session; with arrival `trace`, at its own timestamp."),
	)
})

// Sessions are generated: so many, each once. The lengths of a turn are Data.Input and
// Data.Output.
type Sessions struct {
	Count int
	Turns Length // of a session
	// Delay is the time between an answer and the next turn, in milliseconds.
	Delay      Length
	DelayRatio float64 // factor on it; 0 is 1
}

var sessionsSpec = sync.OnceValue(func() codec[Sessions] {
	return object(
		fieldOf("count", count[int](mostPrompts), func(s *Sessions) *int { return &s.Count }, "How many sessions."),
		fieldOf("turns", lengthSpec(), func(s *Sessions) *Length { return &s.Turns }, "Turns of a session. Left out: 1."),
		fieldOf("delay_ms", lengthSpec(), func(s *Sessions) *Length { return &s.Delay }, "Time between an answer and the next turn, in milliseconds. Left out: none."),
		fieldOf("delay_ratio", amount(mostRatio), func(s *Sessions) *float64 { return &s.DelayRatio }, "Factor on that time; 0: 1."),
	)
})

// mostRatio bounds the factor on delays.
const mostRatio = 1e6

// requests checks what says how requests are made of prompts.
func (c *checker) requests(p *Plan) {
	d, t := &p.Data, &p.Target
	if t.Form != "" {
		c.choice("target.form", t.Form, []string{FormShaped})
		if t.Protocol != ProtocolOpenAI && t.Protocol != ProtocolHTTP && t.Protocol != ProtocolTriton {
			c.lacks("target.form", "target.protocol", "does not apply to protocol "+quote(t.Protocol), "leave it out")
		}
	}
	if d.TextOnly && !t.Shaped() {
		c.lacks("data.text_only", "target.form", "only for requests of target.form", "leave it out")
	}
	if t.Client != "" {
		c.choice("target.client", t.Client, []string{ClientPlain})
	}
	if d.ModelOrder != "" {
		c.choice("data.model_order", d.ModelOrder, []string{OrderShares, OrderRoundRobin})
		if len(d.Adapters) == 0 {
			c.lacks("data.model_order", "data.adapters", "there are no models to choose from", "give %v", message.Adapters)
		}
	}
	if d.Pool && d.Prompts == 0 && made(d.Source) {
		c.lacks("data.pool", "data.prompts", "the number of requests is missing", "give %v", message.Prompts)
	}
	if d.Pool && d.Salt != "" {
		c.lacks("data.pool", "data.salt", "cannot be combined with salt, which makes every request different", "leave one of them out")
	}
	c.worded(d)
	c.passages(p)
	c.sessions(d)
}

// worded checks what is put in front of synthetic prompts.
func (c *checker) worded(d *Data) {
	c.count("data.in_words", int64(d.InWords), mostLength)
	prefixesSpec().check(c, "data.prefixes", &d.Prefixes)
	if d.Prefixes.Count > 0 && d.Prefixes.Length == (Length{}) {
		c.add("data.prefixes.length", "is missing", "such as 100")
	}
	for _, f := range []part{{"data.in_words", d.InWords != 0}, {"data.prefixes", d.Prefixes != Prefixes{}}} {
		switch {
		case !f.given:
		case d.Source != SourceSynthetic && (d.Source != SourceSessions || d.InWords != 0):
			c.lacks(f.name, "data.source", "only for source: synthetic", "leave it out")
		case d.Salt != "":
			c.lacks(f.name, "data.salt", "cannot be combined with salt, which must come first", "leave one of them out")
		}
	}
}

func (c *checker) passages(p *Plan) {
	d := &p.Data
	passagesSpec().check(c, "data.passages", &d.Passages)
	switch {
	case d.Passages == Passages{}:
	case !p.Target.Ranks():
		c.lacks("data.passages", "target.endpoint", "only for endpoints rankings and rerank", "leave it out")
	case d.Passages.File != "" && d.Passages.Count != 0:
		c.add("data.passages", "file and count cannot be combined", "give one of them")
	case d.Passages.Count != 0 && d.Source != SourceSynthetic:
		c.lacks("data.passages.count", "data.source", "only for source: synthetic", "give a file")
	}
}

// sessions checks what belongs to sessions that are known ahead.
func (c *checker) sessions(d *Data) {
	payloadSpec().check(c, "data.payload", &d.Payload)
	s := &d.Sessions
	sessionsSpec().check(c, "data.sessions", s)
	if d.Source == SourcePayload && d.File == "" {
		c.add("data.file", "is missing", "give the file of requests")
	}
	if d.Source == SourceSessions && s.Count == 0 {
		c.add("data.sessions.count", "is missing", "such as 20")
	}
	if d.Salt != "" && (d.Source == SourcePayload || d.Source == SourceSessions) {
		c.lacks("data.salt", "data.source", fmt.Sprintf("does not apply to source: %s", d.Source), "leave it out")
	}
}
