// Package responses speaks OpenAI's responses API, streamed and not, as OpenAI, vLLM and
// gateways serve it.
package responses

import (
	"net/url"
	"strconv"

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

// New makes an Endpoint of a target whose model is known. Responses are not kept by the
// server unless the plan says so.
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
	e.Set, err = replica.New(t, o, replica.Protocol{
		URL:      func(base string) (*url.URL, error) { return replica.URL(base, t.Path, path) },
		Streamed: t.Streaming,
	})
	return e, err
}

// Prepare encodes a request.
func (e *Endpoint) Prepare(p *prompt.Prompt) (endpoint.Call, error) {
	b, err := e.encode(p)
	if err != nil {
		return nil, err
	}
	return e.Call(p, b), nil
}

func (e *Endpoint) encode(p *prompt.Prompt) ([]byte, error) {
	if p.Body != nil {
		return p.Body, nil
	}
	start := &e.start
	if p.Tools != nil {
		start = &e.ending
	}
	b := start.Begin(p)
	if e.limits && p.Output > 0 {
		b = append(b, `"max_output_tokens":`...)
		b = append(strconv.AppendInt(b, int64(p.Output), 10), ',')
		if e.minTokens && p.Tools == nil {
			b = append(b, `"min_tokens":`...)
			b = append(strconv.AppendInt(b, int64(p.Output), 10), ',')
		}
	}
	if e.tools && p.Tools != nil {
		b = appendTools(b, p.Tools)
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

// appendTools appends what the model may call, and how free it is to.
func appendTools(b []byte, t *prompt.Tools) []byte {
	b = append(b, `"tools":[`...)
	for i := range t.List {
		tool := &t.List[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"function","name":`...)
		b = body.AppendString(b, tool.Name)
		if tool.Description != "" {
			b = append(b, `,"description":`...)
			b = body.AppendString(b, tool.Description)
		}
		b = append(b, `,"parameters":`...)
		if tool.Parameters != nil {
			b = append(b, tool.Parameters...)
		} else {
			b = append(b, `{"type":"object","properties":{}}`...)
		}
		b = append(b, '}')
	}
	b = append(b, ']', ',')
	switch t.Choice {
	case prompt.ChoiceNone:
		b = append(b, `"tool_choice":"none",`...)
	case prompt.ChoiceAny:
		b = append(b, `"tool_choice":"required",`...)
	case prompt.ChoiceNamed:
		b = append(b, `"tool_choice":{"type":"function","name":`...)
		b = append(body.AppendString(b, t.Name), '}', ',')
	}
	return b
}
