package openai

import (
	"inferometer/internal/endpoint/answer"
	"inferometer/internal/jsonscan"
	"inferometer/internal/record"
)

// chunk is what one JSON object of an answer says: an event of a stream, or the
// whole of an answer that was not streamed.
type chunk struct {
	choices  bool             // it has a list of choices
	data     bool             // it has a list of embeddings
	failed   bool             // it is an error object
	role     bool             // it announces a role
	others   bool             // it has a choice other than the first
	blank    bool             // it has a text that is empty
	channels [channels]bool   // what it carries
	finish   []byte           // the finish reason; nil: none
	usage    usage            // token counts; all -1 when it has none
	texts    int              // strings of text that are not empty
	start    int              // where the body of the last one starts in the chunk's bytes
	end      int              // where it ends
	scan     jsonscan.Scanner // over the chunk's bytes
	text     []byte           // the answer's text so far, to which the chunk's own is added
}

// channels is the number of labels that carry text.
const channels = int(record.Refusal) + 1

// usage is the server's own count of tokens; -1: not said.
type usage struct{ prompt, completion, cached int }

func (u usage) known() bool { return u.prompt >= 0 || u.completion >= 0 }

// parse reads a chunk. It appends the chunk's text to c.text; on an error c.text is
// as it was before.
func (c *chunk) parse(data []byte) error {
	c.reset()
	before := len(c.text)
	s := &c.scan
	s.Reset(data)
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "choices":
			if !s.Null() {
				c.parseChoices()
			}
		case "usage":
			c.parseUsage()
		case "error":
			if !s.Null() {
				c.failed = true
				s.Skip()
			}
		case "object":
			if s.Peek() == '"' {
				kind := s.Quoted()
				c.failed = c.failed || string(kind) == "error"
			} else {
				s.Skip()
			}
		case "data":
			if s.Peek() == '[' {
				c.parseData()
			} else {
				s.Skip()
			}
		default:
			s.Skip()
		}
	}
	s.End()
	if err := s.Err(); err != nil {
		c.text = c.text[:before]
		return err
	}
	return nil
}

func (c *chunk) reset() {
	c.choices, c.data, c.failed, c.role, c.others, c.blank = false, false, false, false, false, false
	c.channels = [channels]bool{}
	c.finish = nil
	c.usage = usage{-1, -1, -1}
	c.texts, c.start, c.end = 0, 0, 0
}

// label says what the chunk carried.
func (c *chunk) label() record.Label {
	switch {
	case c.failed:
		return record.Error
	case c.channels[record.Content]:
		return record.Content
	case c.channels[record.ToolCall]:
		return record.ToolCall
	case c.channels[record.Refusal]:
		return record.Refusal
	case c.channels[record.Reasoning]:
		return record.Reasoning
	case c.finish != nil:
		return record.Finish
	case c.role:
		return record.Role
	case c.usage.known() && !c.blank:
		return record.Usage
	case c.choices:
		return record.Empty
	}
	return record.Unknown
}

// learnable reports whether another chunk that differs from this one in nothing but
// its one string of text says the same but for that text.
func (c *chunk) learnable() bool {
	return c.texts == 1 && c.finish == nil && !c.failed && !c.usage.known()
}

func (c *chunk) parseChoices() {
	s := &c.scan
	c.choices = true
	s.Array()
	for s.More() {
		if s.Peek() != '{' {
			s.Skip()
			continue
		}
		s.Object()
		for key, ok := s.Key(); ok; key, ok = s.Key() {
			switch string(key) {
			case "delta", "message":
				c.parseDelta()
			case "text":
				c.take(record.Content)
			case "finish_reason":
				if s.Peek() == '"' {
					c.finish = notEmpty(s.Quoted())
				} else {
					s.Skip()
				}
			case "index":
				if index := answer.Count(&c.scan); index != 0 && index != -1 {
					c.others = true
				}
			default:
				s.Skip()
			}
		}
	}
}

func notEmpty(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// parseDelta reads a delta or a message.
func (c *chunk) parseDelta() {
	s := &c.scan
	if s.Peek() != '{' {
		s.Skip()
		return
	}
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "content":
			c.takeContent()
		case "reasoning_content", "reasoning":
			c.take(record.Reasoning)
		case "refusal":
			c.take(record.Refusal)
		case "tool_calls":
			c.parseToolCalls()
		case "function_call":
			c.parseFunction()
		case "role":
			c.role = s.Peek() == '"' || c.role
			s.Skip()
		default:
			s.Skip()
		}
	}
}

// takeContent reads visible text: a string, or a list of parts of which those with
// a text count.
func (c *chunk) takeContent() {
	s := &c.scan
	if s.Peek() != '[' {
		c.take(record.Content)
		return
	}
	s.Array()
	for s.More() {
		if s.Peek() != '{' {
			s.Skip()
			continue
		}
		s.Object()
		for key, ok := s.Key(); ok; key, ok = s.Key() {
			if string(key) == "text" {
				c.take(record.Content)
			} else {
				s.Skip()
			}
		}
	}
}

// take adds a string to the text. Anything but a string is skipped.
func (c *chunk) take(label record.Label) {
	s := &c.scan
	if s.Peek() != '"' {
		s.Skip()
		return
	}
	start := s.Pos() + 1
	body, escaped := s.String()
	if len(body) == 0 {
		c.blank = true
		return
	}
	c.channels[label] = true
	c.texts++
	c.start, c.end = start, start+len(body)
	if escaped {
		c.text = jsonscan.AppendUnescaped(c.text, body)
	} else {
		c.text = append(c.text, body...)
	}
}

// parseToolCalls reads a list of tool calls, or of pieces of them. Their text is
// what the model wrote: the function's name and its arguments.
func (c *chunk) parseToolCalls() {
	s := &c.scan
	if s.Peek() != '[' {
		s.Skip()
		return
	}
	s.Array()
	for s.More() {
		if s.Peek() != '{' {
			s.Skip()
			continue
		}
		c.channels[record.ToolCall] = true
		s.Object()
		for key, ok := s.Key(); ok; key, ok = s.Key() {
			if string(key) == "function" {
				c.parseFunction()
			} else {
				s.Skip()
			}
		}
	}
}

// parseFunction reads the function of a tool call.
func (c *chunk) parseFunction() {
	s := &c.scan
	if s.Peek() != '{' {
		s.Skip()
		return
	}
	c.channels[record.ToolCall] = true
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if string(key) == "name" || string(key) == "arguments" {
			c.take(record.ToolCall)
		} else {
			s.Skip()
		}
	}
}

// parseData notes whether a list of embeddings holds any.
func (c *chunk) parseData() {
	s := &c.scan
	s.Array()
	for s.More() {
		c.data = true
		s.Skip()
	}
}

func (c *chunk) parseUsage() {
	s := &c.scan
	if s.Peek() != '{' {
		s.Skip()
		return
	}
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "prompt_tokens":
			c.count(&c.usage.prompt)
		case "completion_tokens":
			c.count(&c.usage.completion)
		case "prompt_cache_hit_tokens":
			c.count(&c.usage.cached)
		case "prompt_tokens_details":
			c.parseDetails()
		default:
			s.Skip()
		}
	}
}

func (c *chunk) parseDetails() {
	s := &c.scan
	if s.Peek() != '{' {
		s.Skip()
		return
	}
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if string(key) == "cached_tokens" {
			c.count(&c.usage.cached)
		} else {
			s.Skip()
		}
	}
}

// count reads a number of tokens. What is no such number is as good as absent.
func (c *chunk) count(n *int) {
	if v := answer.Count(&c.scan); v >= 0 {
		*n = v
	}
}
