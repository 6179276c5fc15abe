package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"inferometer/internal/plan"
	"inferometer/internal/prompt"
)

// bodyEncoder builds request bodies. The parts that all bodies share are encoded
// once; what differs is appended by hand.
type bodyEncoder struct {
	kind      Kind
	open      []byte // every shared field, up to the prompt
	model     []byte // `"model":"…",`, the last of them; empty: none is sent
	limits    bool   // output lengths may be asked for
	minTokens bool
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
	e := bodyEncoder{kind: kind, limits: kind != Embeddings, minTokens: d.MinTokens}
	for name, value := range t.Body {
		switch {
		case value == nil:
			delete(shared, name)
		case name == "messages" || name == "prompt" || name == "input":
			return e, fmt.Errorf("the extra body field %q would replace the prompt: use a prompt file instead", name)
		default:
			shared[name] = value
		}
		switch name {
		case "max_tokens", "max_completion_tokens":
			e.limits = false
		case "min_tokens":
			e.minTokens = false
		}
	}
	names := make([]string, 0, len(shared))
	for name := range shared {
		names = append(names, name)
	}
	slices.Sort(names)
	e.open = append(e.open, '{')
	for _, name := range names {
		value, err := json.Marshal(shared[name])
		if err != nil {
			return e, fmt.Errorf("the extra body field %q cannot be written as JSON: %w", name, err)
		}
		field := appendString(nil, name)
		field = append(append(append(field, ':'), value...), ',')
		if name == "model" {
			e.model = field
		} else {
			e.open = append(e.open, field...)
		}
	}
	return e, nil
}

// encode builds the body of one request.
func (e *bodyEncoder) encode(p *prompt.Prompt) []byte {
	if p.Body != nil {
		return p.Body
	}
	b := make([]byte, 0, len(e.open)+len(e.model)+len(p.Text)+len(p.Text)/8+128)
	b = append(b, e.open...)
	if p.Model == "" {
		b = append(b, e.model...)
	} else {
		b = append(appendString(append(b, `"model":`...), p.Model), ',')
	}
	if e.limits && p.Output > 0 {
		b = append(b, `"max_tokens":`...)
		b = strconv.AppendInt(b, int64(p.Output), 10)
		b = append(b, ',')
		if e.minTokens {
			b = append(b, `"min_tokens":`...)
			b = strconv.AppendInt(b, int64(p.Output), 10)
			b = append(b, ',')
		}
	}
	switch e.kind {
	case Completions:
		b = append(b, `"prompt":`...)
		b = appendString(b, plain(p))
	case Embeddings:
		b = append(b, `"input":`...)
		b = appendString(b, plain(p))
	default:
		b = append(b, `"messages":[`...)
		b = appendMessages(b, p)
		b = append(b, ']')
	}
	return append(b, '}')
}

// plain is a prompt as one text, for endpoints without messages.
func plain(p *prompt.Prompt) string {
	if len(p.Messages) == 0 {
		return p.Text
	}
	text := ""
	for i, m := range p.Messages {
		if i > 0 {
			text += "\n"
		}
		text += m.Content
	}
	return text
}

func appendMessages(b []byte, p *prompt.Prompt) []byte {
	if len(p.Messages) == 0 {
		return appendMessage(b, "user", p.Text)
	}
	for i, m := range p.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendMessage(b, m.Role, m.Content)
	}
	return b
}

func appendMessage(b []byte, role, content string) []byte {
	b = append(b, `{"role":`...)
	b = appendString(b, role)
	b = append(b, `,"content":`...)
	b = appendString(b, content)
	return append(b, '}')
}

// appendString appends s as a JSON string.
func appendString(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			quoted, err := json.Marshal(s) // rare, and it knows about broken UTF-8
			if err == nil {
				return append(b, quoted...)
			}
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
