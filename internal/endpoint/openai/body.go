package openai

import (
	"errors"

	"github.com/inferometer/inferometer/internal/endpoint/body"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// bodyEncoder builds request bodies. Shared parts are encoded once; what differs is appended.
type bodyEncoder struct {
	kind      Kind
	start     body.Start
	ending    body.Start // of responses that the model itself ends
	limits    bool       // output lengths may be asked for
	minTokens bool
	tools     bool // tools may be named
}

// newBodyEncoder encodes the shared fields: our own, then those of the target's
// Body, which win over ours; a null there takes one of ours away.
func newBodyEncoder(kind Kind, t plan.Target, d plan.Data) (bodyEncoder, error) {
	shared := map[string]any{"model": t.Model}
	if kind != Embeddings {
		if t.Streaming {
			shared["stream"] = true
			shared["stream_options"] = map[string]any{"include_usage": true}
		}
		if d.IgnoreEOS {
			shared["ignore_eos"] = true
		}
	}
	e := bodyEncoder{kind: kind, limits: kind != Embeddings, minTokens: d.MinTokens, tools: kind == Chat}
	for name := range t.Body {
		switch name {
		case "max_tokens", "max_completion_tokens":
			e.limits = false
		case "min_tokens":
			e.minTokens = false
		case "tools":
			e.tools = false
		}
	}
	var err error
	if e.start, err = body.NewStart(shared, t.Body, "messages", "prompt", "input"); err != nil {
		return e, err
	}
	if d.IgnoreEOS {
		shared["ignore_eos"] = false
	}
	e.ending, err = body.NewStart(shared, t.Body, "messages", "prompt", "input")
	return e, err
}

func (e *bodyEncoder) encode(p *prompt.Prompt) ([]byte, error) {
	start := &e.start
	if p.Tools != nil {
		start = &e.ending
	}
	b := start.Begin(p)
	if e.limits && p.Output > 0 {
		b = body.AppendNumber(b, "max_tokens", p.Output)
		if e.minTokens && p.Tools == nil {
			b = body.AppendNumber(b, "min_tokens", p.Output)
		}
	}
	if e.tools && p.Tools != nil {
		b = tools.Append(b, p.Tools)
	}
	switch {
	case e.kind == Embeddings:
		b = appendInput(append(b, `"input":`...), p)
	case e.kind == Completions && hasMedia(p):
		return nil, errors.New("completions do not support images, audio or video: use chat")
	case e.kind == Completions && p.IDs != nil:
		b = body.AppendIDs(append(b, `"prompt":`...), p.IDs)
	case e.kind == Completions:
		b = append(b, `"prompt":`...)
		b = body.AppendString(b, body.Plain(p))
	default:
		b = append(b, `"messages":[`...)
		b = appendMessages(b, p)
		b = append(b, ']')
	}
	return append(b, '}'), nil
}

// appendInput appends what is to be embedded: a text, or several texts and media.
func appendInput(b []byte, p *prompt.Prompt) []byte {
	if len(p.Texts) == 0 && len(p.Parts) == 0 {
		return body.AppendString(b, body.Plain(p))
	}
	b = append(b, '[')
	for _, text := range p.Texts {
		b = append(body.AppendString(b, text), ',')
	}
	for i := range p.Parts {
		if part := &p.Parts[i]; part.Kind == prompt.Text {
			b = append(body.AppendString(b, part.Text), ',')
		} else {
			b = append(body.AppendURL(b, part), ',')
		}
	}
	b[len(b)-1] = ']'
	return b
}

func hasMedia(p *prompt.Prompt) bool {
	if p.Parts != nil {
		return true
	}
	for i := range p.Messages {
		if p.Messages[i].Parts != nil {
			return true
		}
	}
	return false
}

func appendMessages(b []byte, p *prompt.Prompt) []byte {
	if len(p.Messages) == 0 {
		return appendMessage(b, &prompt.Message{Role: "user", Content: p.Text, Parts: p.Parts})
	}
	for i := range p.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendMessage(b, &p.Messages[i])
	}
	return b
}

func appendMessage(b []byte, m *prompt.Message) []byte {
	if m.Raw != nil {
		return append(b, m.Raw...)
	}
	b = append(b, `{"role":`...)
	b = body.AppendString(b, m.Role)
	if m.ToolCallID != "" {
		b = append(b, `,"tool_call_id":`...)
		b = body.AppendString(b, m.ToolCallID)
	}
	if m.ToolCalls != nil {
		b = appendCalls(b, m.ToolCalls)
	}
	if m.Reasoning != "" { // servers know it by one of two names
		for _, name := range []string{`,"reasoning_content":`, `,"reasoning":`} {
			b = append(b, name...)
			b = body.AppendString(b, m.Reasoning)
		}
	}
	if m.ToolCalls != nil && m.Content == "" && m.Parts == nil {
		return append(b, '}')
	}
	b = append(b, `,"content":`...)
	if m.Parts == nil {
		b = body.AppendString(b, m.Content)
		return append(b, '}')
	}
	b = append(b, '[')
	for i := range m.Parts {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendPart(b, &m.Parts[i])
	}
	return append(b, ']', '}')
}

func appendPart(b []byte, p *prompt.Part) []byte {
	switch p.Kind {
	case prompt.Image:
		b = append(b, `{"type":"image_url","image_url":{"url":`...)
		return append(body.AppendURL(b, p), '}', '}')
	case prompt.Video:
		b = append(b, `{"type":"video_url","video_url":{"url":`...)
		return append(body.AppendURL(b, p), '}', '}')
	case prompt.Audio:
		if p.URL != "" {
			b = append(b, `{"type":"audio_url","audio_url":{"url":`...)
			return append(body.AppendURL(b, p), '}', '}')
		}
		b = append(b, `{"type":"input_audio","input_audio":{"data":`...)
		b = body.AppendBase64(b, p.Data)
		b = append(b, `,"format":`...)
		return append(body.AppendString(b, p.Format()), '}', '}')
	default:
		b = append(b, `{"type":"text","text":`...)
		return append(body.AppendString(b, p.Text), '}')
	}
}
