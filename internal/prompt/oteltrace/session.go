package oteltrace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/prompt"
)

// trace is a recorded session as its file has it.
type trace struct {
	SessionID string `json:"session_id"`
	TraceID   string `json:"trace_id"`
	Spans     []span `json:"spans"`
}

type span struct {
	ID         string                     `json:"span_id"`
	Parent     string                     `json:"parent_span_id"`
	Name       string                     `json:"name"`
	Start      string                     `json:"start_time"`
	End        string                     `json:"end_time"`
	Attributes map[string]json.RawMessage `json:"attributes"`
	Status     *struct {
		Code any `json:"code"`
	} `json:"status"`
}

// failed reports whether the call was recorded as an error.
func (s *span) failed() bool {
	if s.Status == nil {
		return false
	}
	switch code := s.Status.Code.(type) {
	case float64:
		return code == 2
	case string:
		return strings.HasSuffix(strings.ToUpper(code), "ERROR")
	}
	return false
}

// text is an attribute that is a text; else empty.
func (s *span) text(key string) string {
	var out string
	if json.Unmarshal(s.Attributes[key], &out) != nil {
		return ""
	}
	return out
}

// number is an attribute that is a number of tokens; false: it is none.
func (s *span) number(keys ...string) (int, bool) {
	for _, key := range keys {
		var n float64
		if raw := s.Attributes[key]; given(raw) && json.Unmarshal(raw, &n) == nil {
			return int(n), n >= 1 && n <= 1e9
		}
	}
	return 0, false
}

// mapped gives attributes other names; nil means none are wanted. One that the span does not
// have is "default", so that every request has all names.
func (s *span) mapped(names map[string]string) [][2]string {
	var out [][2]string
	for _, attribute := range slices.Sorted(maps.Keys(names)) {
		value := "default"
		if raw := s.Attributes[attribute]; given(raw) {
			value = plain(raw)
		}
		out = append(out, [2]string{names[attribute], value})
	}
	return out
}

func (s *span) calls() bool {
	chat := s.text("gen_ai.operation.name") == "chat" || strings.HasPrefix(s.Name, "chat ")
	in := string(s.Attributes["gen_ai.input.messages"])
	return chat && in != "" && in != "null" && in != `""` && in != "[]"
}

type call struct {
	span       *span
	begin, end int64 // milliseconds on one clock
	model      string
	messages   []message
	out        *output // nil means not recorded
	output     int     // tokens of the response; 0: not known
	tools      []prompt.Tool
}

// uses reports whether the response called tools that the call knew of.
func (c *call) uses() bool { return c.out != nil && len(c.out.names) > 0 && len(c.tools) > 0 }

// readCalls takes a trace's calls in the order they began. A span written twice is one.
func (s *Source) readCalls(t *trace) ([]call, error) {
	spans := make([]*span, 0, len(t.Spans))
	for i := range t.Spans {
		spans = append(spans, &t.Spans[i])
	}
	slices.SortStableFunc(spans, func(a, b *span) int { return cmp.Compare(a.ID, b.ID) })
	seen := map[string]bool{}
	var out []call
	for _, one := range spans {
		if !one.calls() || s.replay.SkipErrors && one.failed() {
			continue
		}
		key, err := json.Marshal(one.Attributes)
		if err != nil {
			return nil, err
		}
		id := one.Start + "|" + one.End + "|" + string(key)
		if seen[id] {
			continue
		}
		seen[id] = true
		c, err := s.readCall(one)
		if err != nil {
			return nil, fmt.Errorf("span %q: %w", one.ID, err)
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("it has no calls of a model: no span of operation chat, or named \"chat …\", with gen_ai.input.messages")
	}
	slices.SortStableFunc(out, func(a, b call) int { return cmp.Compare(a.begin, b.begin) })
	return out, nil
}

func (s *Source) readCall(one *span) (c call, err error) {
	c.span = one
	from, err := moment(one.Start)
	if err != nil {
		return c, fmt.Errorf("start_time: %w", err)
	}
	to := from
	if one.End != "" {
		if to, err = moment(one.End); err != nil {
			return c, fmt.Errorf("end_time: %w", err)
		}
	}
	c.begin, c.end = from.UnixMilli(), to.UnixMilli()
	c.model = one.text("gen_ai.request.model")
	if c.messages, err = readMessages(one.Attributes["gen_ai.input.messages"]); err != nil {
		return c, fmt.Errorf("gen_ai.input.messages: %w", err)
	}
	if len(c.messages) == 0 {
		return c, fmt.Errorf("gen_ai.input.messages has no messages")
	}
	if c.out, err = readOutput(one.Attributes); err != nil {
		return c, fmt.Errorf("gen_ai.output.messages: %w", err)
	}
	if c.tools, err = readTools(one.Attributes["gen_ai.tool.definitions"]); err != nil {
		return c, fmt.Errorf("gen_ai.tool.definitions: %w", err)
	}
	for _, m := range c.messages {
		for _, kind := range m.lost {
			s.lost[kind]++
		}
	}
	if c.out != nil && len(c.out.names) > 0 && len(c.tools) == 0 {
		s.bare++
	}
	var known bool
	if c.output, known = one.number("gen_ai.usage.completion_tokens", "gen_ai.usage.output_tokens"); !known {
		c.output = 0
		if c.out != nil && c.out.text != "" {
			c.output = max(1, utf8.RuneCountInString(c.out.text)/perToken)
		}
	}
	return c, nil
}

// perToken is about how many characters a token has.
const perToken = 4

func moment(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z0700"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a timestamp such as 2026-01-31T12:00:02.5Z", text)
}

// read makes the calls of a session, and says when it began.
func (s *Source) read(t *trace) (*prompt.Graph, time.Duration, error) {
	calls, err := s.readCalls(t)
	if err != nil {
		return nil, 0, err
	}
	links := link(calls)
	g := &prompt.Graph{
		Patience: time.Duration(s.replay.PredecessorTimeout), Recorded: s.replay.NoSubstitution, Repair: s.replay.BadToolCalls == "use_recorded",
	}
	kept := map[string]string{}
	for i := range calls {
		c := &calls[i]
		one := prompt.GraphCall{
			ID: fmt.Sprintf("event_%03d_%s", i, c.span.ID), After: links.after[i], Wait: links.wait(calls, i),
			Prompt: s.prompt(c), Segments: links.segments(calls, i), At: time.Duration(c.begin-calls[0].begin) * time.Millisecond,
		}
		if most := time.Duration(s.replay.MaxWait); most > 0 {
			one.Wait = min(one.Wait, most)
		}
		if s.replay.IgnoreDelays {
			one.Wait = 0
		}
		for _, m := range c.messages {
			w := m.wire
			w.Content = shared(kept, w.Content)
			one.Prompt.Messages = append(one.Prompt.Messages, w)
		}
		g.Calls = append(g.Calls, one)
	}
	links.audience(t, calls, g)
	return g, time.Duration(calls[0].begin) * time.Millisecond, nil
}

// shared is a text that is kept once: sessions send the same messages again and again.
func shared(all map[string]string, text string) string {
	if same, ok := all[text]; ok {
		return same
	}
	all[text] = text
	return text
}

// prompt is what a call asks for, without its messages.
func (s *Source) prompt(c *call) prompt.Prompt {
	r := &s.replay
	// Recorded models are another server's: without a word on them the run's own is asked for.
	p := prompt.Prompt{
		Model: cmp.Or(r.Model, r.Models[c.model]), Output: cmp.Or(c.output, r.MaxTokens, defaultOutput),
		Headers: c.span.mapped(r.Headers), Labels: c.span.mapped(r.Labels),
	}
	if len(c.tools) == 0 {
		return p
	}
	var called []string
	if c.uses() {
		called = c.out.names
		if r.ToolMaxTokens > 0 {
			// Another model may need far more tokens for the same call.
			p.Output = max(4*p.Output, r.ToolMaxTokens)
		}
	}
	p.Tools = choose(c.tools, called, r.ToolChoice == "as_recorded")
	return p
}
