package oteltrace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/prompt"
)

// message is a recorded message: what is sent of it, and how it is told from others.
type message struct {
	role string   // as recorded
	text string   // all that it says, tool calls and results too
	ids  []string // of the tool calls in it
	wire prompt.Message
	// lost are the types of its parts that are not sent.
	lost []string
}

// same reports whether two messages say the same.
func (m *message) same(o *message) bool { return m.role == o.role && m.text == o.text }

func (m *message) quotes(text string) bool {
	return m.role == "assistant" && strings.Contains(m.text, text)
}

// rawMessage is a message as traces have it: as OpenAI's chats, or in OpenTelemetry's parts.
type rawMessage struct {
	Role         string          `json:"role"`
	Content      json.RawMessage `json:"content"`
	Parts        list            `json:"parts"`
	ToolCalls    list            `json:"tool_calls"`
	ToolCallID   *string         `json:"tool_call_id"`
	FunctionCall *part           `json:"function_call"`
}

// part is a piece of a message. A tool call is one too.
type part struct {
	Type      string          `json:"type"`
	ID        *string         `json:"id"`
	Name      string          `json:"name"`
	Text      json.RawMessage `json:"text"`
	Content   json.RawMessage `json:"content"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"`
	Result    json.RawMessage `json:"result"`
	Response  json.RawMessage `json:"response"`
	ToolUseID *string         `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Function  json.RawMessage `json:"function"`
}

// list is a list of parts. A text in it is part of text; null is no list.
type list []part

// UnmarshalJSON implements json.Unmarshaler.
func (l *list) UnmarshalJSON(b []byte) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	if raw == nil {
		return nil
	}
	*l = make(list, len(raw))
	for i, one := range raw {
		p := &(*l)[i]
		if bytes.HasPrefix(one, []byte(`"`)) {
			p.Type, p.Text = "text", one
			continue
		}
		if err := json.Unmarshal(one, p); err != nil {
			return err
		}
		var f struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		if bytes.HasPrefix(p.Function, []byte("{")) {
			if err := json.Unmarshal(p.Function, &f); err != nil {
				return err
			}
			p.Name, p.Arguments = f.Name, f.Arguments
		}
	}
	return nil
}

// given reports whether a value is there and not null.
func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// plain is a value as a text: a text itself, the texts of a list of parts, or else its JSON.
func plain(raw json.RawMessage) string {
	if !given(raw) {
		return ""
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts list
	if json.Unmarshal(raw, &parts) != nil {
		return string(raw)
	}
	for _, p := range parts {
		if given(p.Text) {
			text += plain(p.Text)
		} else {
			text += plain(p.Content)
		}
	}
	return text
}

func (p *part) said() string {
	if given(p.Text) {
		return plain(p.Text)
	}
	return plain(p.Content)
}

func (p *part) calls() bool   { return p.Type == "tool_call" || p.Type == "tool_use" }
func (p *part) results() bool { return p.Type == "tool_call_response" || p.Type == "tool_result" }

// arguments are those of a tool call, as a text of JSON; empty: none are recorded.
func (p *part) arguments() string {
	for _, raw := range []json.RawMessage{p.Arguments, p.Input} {
		if given(raw) {
			var text string
			if json.Unmarshal(raw, &text) != nil {
				text = spaced(raw)
			}
			return text
		}
	}
	return ""
}

// spaced is JSON with a space after each comma and colon, as in Python: recorded lengths are its.
func spaced(raw []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	var out strings.Builder
	quoted, escaped := false, false
	for _, c := range b.Bytes() {
		out.WriteByte(c)
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ':'):
			out.WriteByte(' ')
		}
	}
	return out.String()
}

// called is a tool call as a text. The marks stand for the special tokens that a model
// puts around one, so that its length is about right.
func (p *part) called() string {
	return "<|tool_call|>" + p.Name + "<|tool_args|>" + cmp.Or(p.arguments(), "{}") + "<|end|>"
}

// result is what a tool gave back.
func (p *part) result() string {
	for _, raw := range []json.RawMessage{p.Content, p.Result, p.Response} {
		if given(raw) {
			return plain(raw)
		}
	}
	return ""
}

func (p *part) resultOf() string {
	switch {
	case p.ToolUseID != nil:
		return *p.ToolUseID
	case p.ID != nil:
		return *p.ID
	}
	return ""
}

// text is a part as a text; false: it is of a kind that says nothing.
func (p *part) text() (string, bool) {
	switch {
	case p.calls():
		return p.called(), true
	case p.results():
		mark := ""
		if p.IsError {
			mark = " [ERROR]"
		}
		return "<tool_result: " + p.resultOf() + mark + ">\n" + p.result() + "\n</tool_result>", true
	case p.Type == "text" || p.Type == "" && (given(p.Text) || given(p.Content)):
		return p.said(), true
	}
	return "", false
}

// readMessages reads a list of messages: JSON, or a text of JSON.
func readMessages(raw json.RawMessage) ([]message, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	var all []rawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	var out []message
	for i := range all {
		list, err := all[i].read()
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		out = append(out, list...)
	}
	return out, nil
}

// read makes messages of a recorded one: one, or for several results of tools one for each.
func (m *rawMessage) read() ([]message, error) {
	if m.Role == "" {
		return nil, errors.New("it has no role")
	}
	if m.Role == "developer" {
		m.Role = "system" // not every server knows the other word
	}
	var content string
	isText := given(m.Content) && json.Unmarshal(m.Content, &content) == nil
	parts := m.Parts
	if given(m.Content) && !isText {
		var inner list
		if err := json.Unmarshal(m.Content, &inner); err != nil {
			return nil, errors.New("its content is neither a text nor a list of parts")
		}
		parts = append(slices.Clone(inner), parts...)
	}
	if isText && m.ToolCalls == nil {
		out := message{role: m.Role, text: content, wire: prompt.Message{Role: m.Role, Content: content}}
		if m.Role == "tool" && m.ToolCallID != nil {
			out.wire.ToolCallID = *m.ToolCallID
		}
		return []message{out}, nil
	}
	if isText && content != "" {
		parts = append(list{{Type: "text", Text: m.Content}}, parts...)
	}
	parts = slices.Clone(parts)
	for _, c := range m.ToolCalls {
		c.Type = "tool_call"
		parts = append(parts, c)
	}
	return fromParts(m.Role, parts)
}

func fromParts(role string, parts list) ([]message, error) {
	out := message{role: role, wire: prompt.Message{Role: role}}
	var texts, said []string
	var results []part
	for i := range parts {
		p := &parts[i]
		if text, ok := p.text(); ok {
			texts = append(texts, text)
		}
		switch {
		case p.calls():
			if p.ID == nil {
				return nil, fmt.Errorf("its call of the tool %q has no id, and its result none to name", p.Name)
			}
			out.ids = append(out.ids, *p.ID)
			out.wire.ToolCalls = append(out.wire.ToolCalls, prompt.ToolCall{ID: *p.ID, Name: p.Name, Arguments: p.arguments()})
		case p.results():
			results = append(results, *p)
		default:
			text, ok := p.text()
			if ok {
				said = append(said, text)
			} else if p.Type != "reasoning" && p.Type != "thinking" { // no server asks for those
				out.lost = append(out.lost, p.Type)
			}
		}
	}
	out.text, out.wire.Content = strings.Join(texts, "\n"), strings.Join(said, "")
	switch len(results) {
	case 0:
		return []message{out}, nil
	case 1:
		out.wire.Role, out.wire.ToolCallID = "tool", results[0].resultOf()
		out.wire.Content += results[0].result()
		return []message{out}, nil
	}
	var all []message
	for i := range results {
		r := &results[i]
		text, _ := r.text()
		all = append(all, message{role: role, text: text, wire: prompt.Message{Role: "tool", ToolCallID: r.resultOf(), Content: r.result()}})
	}
	if out.wire.Content != "" {
		all = append(all, message{role: role, text: out.wire.Content, wire: prompt.Message{Role: role, Content: out.wire.Content}})
	}
	return all, nil
}

type output struct {
	text  string
	parts []outputPart // nil means it was not recorded in parts
	ids   []string     // of tool calls
	names []string     // of the tools that it calls
}

type outputPart struct {
	call bool
	text string
}

// readOutput reads the response of a call; nil means none is recorded.
func readOutput(attributes map[string]json.RawMessage) (*output, error) {
	for _, key := range []string{"gen_ai.output.text", "gen_ai.completion", "gen_ai.output"} {
		var text string
		if raw := attributes[key]; given(raw) && json.Unmarshal(raw, &text) == nil {
			return &output{text: text}, nil
		}
	}
	raw := attributes["gen_ai.output.messages"]
	if !given(raw) || string(raw) == `""` {
		return nil, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	var all []rawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, nil
	}
	if len(all) > 1 {
		return nil, fmt.Errorf("there are %d responses, and a call has one", len(all))
	}
	return all[0].output(), nil
}

func (m *rawMessage) output() *output {
	out := &output{}
	var texts, calls []string
	parts := m.Parts
	var content string
	if given(m.Content) && json.Unmarshal(m.Content, &content) == nil {
		if content != "" {
			texts = append(texts, content)
		}
	} else if given(m.Content) {
		var inner list
		if json.Unmarshal(m.Content, &inner) == nil {
			parts = append(slices.Clone(inner), parts...)
		}
	}
	call := func(p *part) {
		calls = append(calls, p.called())
		if p.ID != nil && *p.ID != "" {
			out.ids = append(out.ids, *p.ID)
		}
		if p.Name != "" {
			out.names = append(out.names, p.Name)
		}
	}
	for i := range m.ToolCalls {
		call(&m.ToolCalls[i])
	}
	for i := range parts {
		p := &parts[i]
		switch {
		case p.calls():
			call(p)
			out.parts = append(out.parts, outputPart{true, p.called()})
		case p.Type == "text":
			texts = append(texts, p.said())
			out.parts = append(out.parts, outputPart{false, p.said()})
		default:
			out.parts = append(out.parts, outputPart{false, p.said()})
		}
	}
	if m.FunctionCall != nil {
		calls = append(calls, m.FunctionCall.called())
	}
	out.text = strings.Join(append(texts, calls...), "\n")
	return out
}
