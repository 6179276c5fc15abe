package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/inferometer/inferometer/internal/prompt"
)

const (
	roleSystem    = "system"
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
)

// readMessages reads a list of messages in OpenAI's form, which are sent as they stand.
func readMessages(raw json.RawMessage) ([]prompt.Message, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("is not a list of messages")
	}
	out := make([]prompt.Message, 0, len(list))
	for i, one := range list {
		m, err := readMessage(one)
		if err != nil {
			return nil, fmt.Errorf("[%d] %w", i, err)
		}
		out = append(out, m)
	}
	return out, nil
}

// readMessage reads a message. One that has more than a role and a text is kept as it stands; its texts are for
// counting.
func readMessage(raw json.RawMessage) (prompt.Message, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return prompt.Message{}, errors.New("is not a message")
	}
	var m prompt.Message
	if json.Unmarshal(fields["role"], &m.Role) != nil || m.Role == "" {
		return m, errors.New("has no role")
	}
	text := json.Unmarshal(fields["content"], &m.Content) == nil && string(fields["content"]) != "null"
	if text && len(fields) == 2 {
		return m, nil
	}
	if !text {
		m.Content = partTexts(fields["content"])
	}
	m.Content += partTexts(fields["reasoning_content"]) + callTexts(fields["tool_calls"])
	var whole bytes.Buffer
	if err := json.Compact(&whole, raw); err != nil {
		return m, err
	}
	m.Raw = whole.Bytes()
	return m, nil
}

// partTexts are the texts of a content: itself, or those of its parts.
func partTexts(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts) // what is no list of parts has no text
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// callTexts are the names and arguments of tool calls.
func callTexts(raw json.RawMessage) string {
	var calls []struct {
		Function struct{ Name, Arguments string }
	}
	_ = json.Unmarshal(raw, &calls)
	var b strings.Builder
	for _, c := range calls {
		b.WriteString(c.Function.Name + c.Function.Arguments)
	}
	return b.String()
}

// sameMessages reports whether two messages are the same.
func sameMessages(a, b *prompt.Message) bool {
	return a.Role == b.Role && a.Content == b.Content && bytes.Equal(a.Raw, b.Raw)
}

// fieldsBut are the fields of an object in their order, but for those with such names: they go into a request.
func fieldsBut(raw json.RawMessage, not ...string) ([]prompt.Field, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("is not an object")
	}
	var out []prompt.Field
	for dec.More() {
		key, err := dec.Token()
		var value json.RawMessage
		if err == nil {
			err = dec.Decode(&value)
		}
		if err != nil {
			return nil, err
		}
		name := fmt.Sprint(key)
		skip := false
		for _, n := range not {
			skip = skip || n == name
		}
		if !skip {
			out = append(out, prompt.Field{Name: name, Value: value})
		}
	}
	return out, nil
}

// live are the calls of sessions in which the server's own responses stand between the messages of the file.
type live struct{ calls []prompt.GraphCall }

// add adds a call with messages of its own. With a call that it goes on from, they come after what that has sent and
// the response to it; -1: they come first. It goes once all of after have been answered, too.
func (l *live) add(from int, own []prompt.Message, after []int, call prompt.GraphCall) int {
	call.Prompt.Messages, call.After, call.User = own, after, true
	if from >= 0 {
		before := l.calls[from].Prompt.Messages
		said := append(before[:len(before):len(before)], prompt.Message{Role: roleAssistant})
		call.Prompt.Messages = append(said, own...)
		call.Segments = []prompt.Segment{{Kind: prompt.Shared, Messages: len(before), From: from}, {Kind: prompt.Output, Messages: 1, From: from}}
	}
	l.calls = append(l.calls, call)
	return len(l.calls) - 1
}
