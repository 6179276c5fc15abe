package oteltrace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"inferometer/internal/prompt"
)

// trace is a recorded session as its file has it.
type trace struct {
	SessionID string `json:"session_id"`
	TraceID   string `json:"trace_id"`
	Spans     []span `json:"spans"`
}

type span struct {
	ID         string         `json:"span_id"`
	Name       string         `json:"name"`
	Start      string         `json:"start_time"`
	End        string         `json:"end_time"`
	Attributes map[string]any `json:"attributes"`
	Status     struct {
		Code any `json:"code"`
	} `json:"status"`
}

// failed reports whether the call was recorded as an error.
func (s *span) failed() bool {
	switch code := s.Status.Code.(type) {
	case float64:
		return code == 2
	case string:
		return strings.HasSuffix(strings.ToUpper(code), "ERROR")
	}
	return false
}

// calls reports whether the span is a call of a model.
func (s *span) calls() bool {
	chat := s.Attributes["gen_ai.operation.name"] == "chat" || strings.HasPrefix(s.Name, "chat ")
	in := s.Attributes["gen_ai.input.messages"]
	return chat && in != nil && in != ""
}

// call is a recorded call of a model.
type call struct {
	id       string
	model    string
	messages []prompt.Message
	answers  []int // for each message, the call whose answer it is; -1: none
	answer   string
	output   int           // tokens of the answer; 0: not recorded
	wait     time.Duration // after the answer to the call before
}

// session are the calls of a trace, one after the other.
type session struct {
	name  string
	tag   string // in front of the first message
	calls []call
}

// read makes a session of a trace: its calls in the order of their moments, each with
// what it takes from the answers to those before. A trace that cannot be played as it was
// recorded is an error.
func read(t *trace, skipErrors bool, mostWait time.Duration) (*session, error) {
	type timed struct {
		*span
		from, to time.Time
	}
	var spans []timed
	for i := range t.Spans {
		s := &t.Spans[i]
		if !s.calls() || skipErrors && s.failed() {
			continue
		}
		from, err := moment(s.Start)
		if err != nil {
			return nil, fmt.Errorf("span %q: start_time: %w", s.ID, err)
		}
		to, err := moment(s.End)
		if err != nil {
			return nil, fmt.Errorf("span %q: end_time: %w", s.ID, err)
		}
		spans = append(spans, timed{s, from, to})
	}
	if len(spans) == 0 {
		return nil, fmt.Errorf("it has no calls of a model: no span named \"chat …\" with gen_ai.input.messages")
	}
	slices.SortStableFunc(spans, func(a, b timed) int { return cmp.Or(a.from.Compare(b.from), a.to.Compare(b.to)) })
	out := &session{name: cmp.Or(t.SessionID, t.TraceID)}
	for i, s := range spans {
		c, err := readCall(s.span)
		if err != nil {
			return nil, fmt.Errorf("span %q: %w", s.ID, err)
		}
		if i > 0 {
			before := spans[i-1]
			if s.from.Before(before.to) {
				return nil, fmt.Errorf("span %q begins before %q ends: sessions with calls at the same time cannot be played", s.ID, before.ID)
			}
			c.wait = s.from.Sub(before.to)
			if mostWait > 0 {
				c.wait = min(c.wait, mostWait)
			}
		}
		out.add(c)
	}
	return out, nil
}

// add finds out which of a call's messages are answers to earlier ones.
func (s *session) add(c call) {
	c.answers = make([]int, len(c.messages))
	for i, m := range c.messages {
		c.answers[i] = -1
		if m.Role != "assistant" {
			continue
		}
		for j, earlier := range slices.Backward(s.calls) {
			if earlier.answer != "" && strings.TrimSpace(earlier.answer) == strings.TrimSpace(m.Content) {
				c.answers[i] = j
				break
			}
		}
	}
	s.calls = append(s.calls, c)
}

func moment(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no moment such as 2026-01-31T12:00:02.5Z", text)
}

func readCall(s *span) (call, error) {
	c := call{id: s.ID}
	if tools := s.Attributes["gen_ai.tool.definitions"]; tools != nil && tools != "" && tools != "[]" {
		return c, fmt.Errorf("it has tools, and calls of tools cannot be played")
	}
	c.model, _ = s.Attributes["gen_ai.request.model"].(string)
	var err error
	if c.messages, err = messages(s.Attributes["gen_ai.input.messages"]); err != nil {
		return c, fmt.Errorf("gen_ai.input.messages: %w", err)
	}
	if len(c.messages) == 0 {
		return c, fmt.Errorf("gen_ai.input.messages has no messages")
	}
	if out := s.Attributes["gen_ai.output.messages"]; out != nil && out != "" {
		answer, err := messages(out)
		if err != nil {
			return c, fmt.Errorf("gen_ai.output.messages: %w", err)
		}
		for _, m := range answer {
			c.answer += m.Content
		}
	}
	if n, ok := s.Attributes["gen_ai.usage.output_tokens"].(float64); ok && n >= 1 && n <= 1e9 {
		c.output = int(n)
	}
	return c, nil
}

// messages reads a list of messages: JSON, or a text of JSON.
func messages(v any) ([]prompt.Message, error) {
	text, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		text = string(b)
	}
	var list []struct {
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		Parts     []part          `json:"parts"`
		ToolCalls []any           `json:"tool_calls"`
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, err
	}
	out := make([]prompt.Message, len(list))
	for i, m := range list {
		if m.Role == "tool" || len(m.ToolCalls) > 0 {
			return nil, fmt.Errorf("message %d is one of a tool, and calls of tools cannot be played", i+1)
		}
		out[i].Role = m.Role
		parts := m.Parts
		if len(m.Content) > 0 && string(m.Content) != "null" && json.Unmarshal(m.Content, &out[i].Content) != nil {
			if err := json.Unmarshal(m.Content, &parts); err != nil {
				return nil, fmt.Errorf("message %d: its content is neither a text nor a list of parts", i+1)
			}
		}
		for _, p := range parts {
			if p.Type != "text" {
				return nil, fmt.Errorf("message %d has a part of type %q, and only text can be played", i+1, p.Type)
			}
			out[i].Content += p.Content + p.Text
		}
	}
	return out, nil
}

type part struct {
	Type    string `json:"type"`
	Content string `json:"content"`
	Text    string `json:"text"`
}
