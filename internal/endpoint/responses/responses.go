// Package responses speaks OpenAI's responses API, as OpenAI, vLLM and gateways serve it.
package responses

import (
	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/body"
	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/endpoint/replica"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// path is where servers have the endpoint.
const path = "/v1/responses"

// Protocol is OpenAI's, for this endpoint.
func Protocol() endpoint.Protocol {
	return endpoint.Protocol{
		Name: plan.ProtocolOpenAI, Open: replica.Opener(New), Models: replica.ModelsURL, Preflights: true,
		Decoder: func(t plan.Target, tok prompt.Tokenizer, own bool) endpoint.Decoder {
			d := NewDecoder(tok, own)
			d.count.Plain, d.count.Thoughts = t.PlainCounts(), true
			return endpoint.Decoder{Decode: d.Decode, Advance: d.Advance, Longest: decode.Longest, Reply: d.Reply}
		},
	}
}

// Endpoint is a server, or several replicas of one.
type Endpoint struct {
	*replica.Set
	start     body.Start
	ending    body.Start // of responses that the model itself ends
	limits    bool       // output lengths may be asked for
	minTokens bool
	tools     bool // tools may be named
}

// New makes an Endpoint of a target whose model is known. Servers keep responses only if the plan
// says so.
func New(t plan.Target, o endpoint.Options) (*Endpoint, error) {
	shared := map[string]any{"model": t.Model, "store": false}
	if t.Streaming {
		shared["stream"] = true
	}
	e := &Endpoint{limits: true, tools: true, minTokens: o.Data.MinTokens}
	for name := range t.Body {
		switch name {
		case "max_output_tokens":
			e.limits = false
		case "min_tokens":
			e.minTokens = false
		case "tools":
			e.tools = false
		}
	}
	var err error
	if e.ending, err = body.NewStart(shared, t.Body, "input"); err != nil {
		return nil, err
	}
	if o.Data.IgnoreEOS {
		shared["ignore_eos"] = true
	}
	if e.start, err = body.NewStart(shared, t.Body, "input"); err != nil {
		return nil, err
	}
	e.Set, err = replica.New(t, o, replica.Protocol{Path: path, Encode: e.encode, Streamed: t.Streaming})
	return e, err
}

func (e *Endpoint) encode(p *prompt.Prompt) ([]byte, error) {
	start := &e.start
	if p.Tools != nil {
		start = &e.ending
	}
	b := start.Begin(p)
	if e.limits && p.Output > 0 {
		b = body.AppendNumber(b, "max_output_tokens", p.Output)
		if e.minTokens && p.Tools == nil {
			b = body.AppendNumber(b, "min_tokens", p.Output)
		}
	}
	if e.tools && p.Tools != nil {
		b = tools.Append(b, p.Tools)
	}
	b = append(b, `"input":`...)
	if len(p.Messages) == 0 && p.Parts == nil {
		return append(body.AppendString(b, p.Text), '}'), nil
	}
	messages := p.Messages
	if len(messages) == 0 {
		messages = []prompt.Message{{Role: "user", Content: p.Text, Parts: p.Parts}}
	}
	b = append(b, '[')
	for i := range messages {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendMessage(b, &messages[i], i); err != nil {
			return nil, err
		}
	}
	return append(b, ']', '}'), nil
}

// tools is how a request names them.
var tools = body.ToolForm{
	Open: `{"type":"function","name":`, Schema: "parameters", Always: true, Close: "}",
	Choices: map[prompt.Choice]string{prompt.ChoiceNone: `"none"`, prompt.ChoiceAny: `"required"`},
	Named:   `{"type":"function","name":`,
}
