// Package body is what the request bodies of JSON protocols share: fields that are
// the same in all of them, strings, and media as text.
package body

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/prompt"
)

// Start is what all bodies of a run begin with.
type Start struct {
	open  []byte // every shared field, up to the model
	names []string
	ends  []int  // of each of them in open
	model []byte // `"model":"…",`, the last of them; empty: none is sent
}

// NewStart encodes the shared fields: our own, and those that the user adds, which win; a null
// takes one of ours away. Those of taken hold the prompt.
func NewStart(own, added map[string]any, taken ...string) (Start, error) {
	var s Start
	shared := map[string]any{}
	maps.Copy(shared, own)
	for name, value := range added {
		switch {
		case value == nil:
			delete(shared, name)
		case slices.Contains(taken, name):
			return s, fmt.Errorf("the extra body field %q would replace the prompt: use a prompt file instead", name)
		default:
			shared[name] = value
		}
	}
	s.open = append(s.open, '{')
	for _, name := range slices.Sorted(maps.Keys(shared)) {
		value, err := json.Marshal(shared[name])
		if err != nil {
			return s, fmt.Errorf("the extra body field %q cannot be written as JSON: %w", name, err)
		}
		field := AppendString(nil, name)
		field = append(append(append(field, ':'), value...), ',')
		if name == "model" {
			s.model = field
		} else {
			s.open = append(s.open, field...)
			s.names, s.ends = append(s.names, name), append(s.ends, len(s.open))
		}
	}
	return s, nil
}

// Begin makes room for the body of a prompt and writes the shared fields, with the
// prompt's own model where it has one. What follows is a field or the end of one.
func (s *Start) Begin(p *prompt.Prompt) []byte {
	room := len(s.open) + len(s.model) + len(p.Text) + len(p.Text)/8 + 128
	for i := range p.Parts {
		room += len(p.Parts[i].Data)*4/3 + 96
	}
	b := make([]byte, 0, room)
	b = s.shared(b, p.Fields)
	for _, f := range p.Fields {
		b = append(append(append(AppendString(b, f.Name), ':'), f.Value...), ',')
	}
	if p.Model == "" {
		return append(b, s.model...)
	}
	return append(AppendString(append(b, `"model":`...), p.Model), ',')
}

// shared appends the shared fields, but for those that a prompt has of its own.
func (s *Start) shared(b []byte, own []prompt.Field) []byte {
	twice := slices.ContainsFunc(own, func(f prompt.Field) bool { return slices.Contains(s.names, f.Name) })
	if !twice {
		return append(b, s.open...)
	}
	b = append(b, '{')
	start := 1
	for i, name := range s.names {
		if !slices.ContainsFunc(own, func(f prompt.Field) bool { return f.Name == name }) {
			b = append(b, s.open[start:s.ends[i]]...)
		}
		start = s.ends[i]
	}
	return b
}

// Plain is a prompt as one text, for endpoints without messages.
func Plain(p *prompt.Prompt) string {
	if len(p.Messages) == 0 {
		return p.Text
	}
	texts := make([]string, len(p.Messages))
	for i, m := range p.Messages {
		texts[i] = m.Content
	}
	return strings.Join(texts, "\n")
}

// AppendString appends s as a JSON string.
func AppendString(b []byte, s string) []byte {
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

// AppendBase64 appends bytes as a JSON string of base64.
func AppendBase64(b, data []byte) []byte {
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, data)
	return append(b, '"')
}

// URL is that of a medium: where the server finds it, or its bytes as a data URL.
func URL(p *prompt.Part) string {
	if p.URL != "" {
		return p.URL
	}
	return "data:" + p.Type + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}

// AppendURL appends the URL of a medium as a JSON string.
func AppendURL(b []byte, p *prompt.Part) []byte {
	if p.URL != "" {
		return AppendString(b, p.URL)
	}
	b = append(b, '"')
	b = append(append(append(b, "data:"...), p.Type...), ";base64,"...)
	b = base64.StdEncoding.AppendEncode(b, p.Data)
	return append(b, '"')
}

// Media are the parts of a prompt, or of its messages, that are no text.
func Media(p *prompt.Prompt) []*prompt.Part {
	var list []*prompt.Part
	add := func(parts []prompt.Part) {
		for i := range parts {
			if parts[i].Kind != prompt.Text {
				list = append(list, &parts[i])
			}
		}
	}
	add(p.Parts)
	for i := range p.Messages {
		add(p.Messages[i].Parts)
	}
	return list
}

// AppendNumber appends a field of a whole number.
func AppendNumber(b []byte, name string, n int) []byte {
	b = append(AppendString(b, name), ':')
	return append(strconv.AppendInt(b, int64(n), 10), ',')
}

// AppendStrings appends texts as a JSON list.
func AppendStrings(b []byte, texts []string) []byte {
	b = append(b, '[')
	for i, text := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendString(b, text)
	}
	return append(b, ']')
}

// AppendIDs appends token ids as a JSON list.
func AppendIDs(b []byte, ids []int32) []byte {
	b = append(b, '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return append(b, ']')
}
