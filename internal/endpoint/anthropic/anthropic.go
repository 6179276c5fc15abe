// Package anthropic speaks Anthropic's messages API, as Anthropic, vLLM and gateways serve it.
package anthropic

import (
	"errors"
	"net/http"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/body"
	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/endpoint/replica"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/wire/http1"
)

// path is where servers have the endpoint.
const path = "/v1/messages"

// version is the version of the API that is spoken.
const version = "2023-06-01"

// Protocol is Anthropic's.
func Protocol() endpoint.Protocol {
	return endpoint.Protocol{
		Name: plan.ProtocolAnthropic, Open: replica.Opener(New), Models: replica.ModelsURL, Preflights: true,
		Auth: func(key string) http.Header {
			h := http.Header{"Anthropic-Version": {version}}
			if key != "" {
				h.Set("X-Api-Key", key)
			}
			return h
		},
		Decoder: func(t plan.Target, tok prompt.Tokenizer, own bool) endpoint.Decoder {
			d := NewDecoder(tok, own)
			d.count.Plain = t.PlainCounts()
			return endpoint.Decoder{Decode: d.Decode, Advance: d.Advance, Longest: decode.Longest, Reply: d.Reply}
		},
	}
}

// usualLimit is asked for where the plan leaves the length to the server: the API wants one.
const usualLimit = 1024

// Endpoint is a server, or several replicas of one.
type Endpoint struct {
	*replica.Set
	start  body.Start
	limits bool // output lengths may be asked for
	tools  bool // tools may be named
}

// New makes an Endpoint of a target whose model is known. The API has no ignore_eos or min_tokens:
// a server that knows them gets them with target.body.
func New(t plan.Target, o endpoint.Options) (*Endpoint, error) {
	shared := map[string]any{"model": t.Model}
	if t.Streaming {
		shared["stream"] = true
	}
	e := &Endpoint{}
	_, given := t.Body["max_tokens"]
	e.limits = !given
	_, given = t.Body["tools"]
	e.tools = !given
	var err error
	if e.start, err = body.NewStart(shared, t.Body, "messages"); err != nil {
		return nil, err
	}
	e.Set, err = replica.New(t, o, replica.Protocol{
		Path: path, Encode: e.encode, Streamed: t.Streaming,
		Auth:   func(key string) []http1.Field { return []http1.Field{{Name: "x-api-key", Value: key}} },
		Fields: []http1.Field{{Name: "anthropic-version", Value: version}},
	})
	return e, err
}

func (e *Endpoint) encode(p *prompt.Prompt) ([]byte, error) {
	b := e.start.Begin(p)
	if e.limits {
		limit := p.Output
		if limit <= 0 {
			limit = usualLimit
		}
		b = body.AppendNumber(b, "max_tokens", limit)
	}
	if e.tools && p.Tools != nil {
		b = tools.Append(b, p.Tools)
	}
	if system := systemOf(p.Messages); system != "" {
		b = append(b, `"system":`...)
		b = append(body.AppendString(b, system), ',')
	}
	b = append(b, `"messages":[`...)
	messages := p.Messages
	if len(messages) == 0 {
		messages = []prompt.Message{{Role: "user", Content: p.Text, Parts: p.Parts}}
	}
	written := false
	for i := range messages {
		m := &messages[i]
		if m.Role == "system" {
			continue
		}
		if written {
			b = append(b, ',')
		}
		written = true
		var err error
		if b, err = appendMessage(b, m); err != nil {
			return nil, err
		}
	}
	return append(b, ']', '}'), nil
}

// systemOf joins the messages that the API has a field of its own for.
func systemOf(messages []prompt.Message) string {
	text := ""
	for i := range messages {
		if messages[i].Role != "system" {
			continue
		}
		if text != "" {
			text += "\n\n"
		}
		text += messages[i].Content
	}
	return text
}

// appendMessage appends a message. Of two roles, what is not the assistant's is the user's.
func appendMessage(b []byte, m *prompt.Message) ([]byte, error) {
	if m.ToolCallID != "" || len(m.ToolCalls) > 0 {
		return appendToolMessage(b, m), nil
	}
	if m.Raw != nil {
		return append(b, m.Raw...), nil
	}
	role := "user"
	if m.Role == "assistant" {
		role = "assistant"
	}
	b = append(append(append(b, `{"role":"`...), role...), `","content":`...)
	if m.Parts == nil {
		return append(body.AppendString(b, m.Content), '}'), nil
	}
	b = append(b, '[')
	for i := range m.Parts {
		if i > 0 {
			b = append(b, ',')
		}
		part := &m.Parts[i]
		switch {
		case part.Kind == prompt.Text:
			b = append(b, `{"type":"text","text":`...)
			b = append(body.AppendString(b, part.Text), '}')
		case part.Kind != prompt.Image:
			return nil, errors.New("Anthropic messages support text and images, not audio or video: use frames, or the OpenAI protocol")
		case part.URL != "":
			b = append(b, `{"type":"image","source":{"type":"url","url":`...)
			b = append(body.AppendString(b, part.URL), '}', '}')
		default:
			b = append(b, `{"type":"image","source":{"type":"base64","media_type":`...)
			b = body.AppendString(b, part.Type)
			b = append(b, `,"data":`...)
			b = append(body.AppendBase64(b, part.Data), '}', '}')
		}
	}
	return append(b, ']', '}'), nil
}
