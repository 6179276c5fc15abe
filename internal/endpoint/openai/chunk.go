package openai

import (
	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/record"
)

// chunk is what one JSON object of a response says: an event of a stream, or a whole response.
type chunk struct {
	decode.Part
	first   bool   // only the first choice of the list counts
	choices bool   // it has a list of choices
	data    bool   // it has a list of embeddings
	hollow  bool   // one of them is empty
	failed  bool   // it is an error object
	detail  bool   // it has a detail, as the errors of FastAPI do
	role    bool   // it announces a role
	others  bool   // it has a choice other than the first
	finish  []byte // the finish reason, or nil
	usage   usage  // token counts; all -1 when it has none

	spoken     bool // it is of a transcription
	streamed   bool // or of a stream of one
	transcript bool // with a text
}

// usage is the server's own count of tokens; -1: not said.
type usage struct {
	prompt, completion, cached int
	hidden                     int // of completion, what need not be in the text
}

func unknown() usage { return usage{-1, -1, -1, -1} }

func (u usage) known() bool { return u.prompt >= 0 || u.completion >= 0 }

// parse reads a chunk and appends its text to c.Text, but on an error.
func (c *chunk) parse(data []byte) error {
	c.reset()
	before := c.Begin(data)
	s := &c.Scan
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
		case "detail", "errors":
			if !s.Null() {
				c.detail = true
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
			if c.spoken {
				c.parseSpoken(key)
			} else {
				s.Skip()
			}
		}
	}
	// Beside choices or embeddings it is a remark.
	c.failed = c.failed || c.detail && !c.choices && !c.data && !c.usage.known()
	return c.Finish(before)
}

func (c *chunk) reset() {
	c.choices, c.data, c.failed, c.role, c.others = false, false, false, false, false
	c.hollow, c.detail, c.transcript = false, false, false
	c.finish = nil
	c.usage = unknown()
}

func (c *chunk) label() record.EventKind {
	switch {
	case c.failed:
		return record.Error
	case c.Channels[record.Content]:
		return record.Content
	case c.Channels[record.ToolCall]:
		return record.ToolCall
	case c.Channels[record.Refusal]:
		return record.Refusal
	case c.Channels[record.Reasoning]:
		return record.Reasoning
	case c.finish != nil:
		return record.Finish
	case c.role:
		return record.Role
	case c.usage.known() && !c.Blank:
		return record.Usage
	case c.choices, c.transcript:
		return record.Empty
	}
	return record.Unknown
}

// learnable reports whether another chunk that differs from this one in nothing but
// its one string of text says the same but for that text.
func (c *chunk) learnable() bool {
	return c.Texts == 1 && c.finish == nil && !c.failed && !c.usage.known()
}

func (c *chunk) parseChoices() {
	s := &c.Scan
	c.choices = true
	s.Array()
	for n := 0; s.More(); n++ {
		if s.Peek() != '{' || c.first && n > 0 {
			c.others = c.others || n > 0
			s.Skip()
			continue
		}
		s.Object()
		for key, ok := s.Key(); ok; key, ok = s.Key() {
			switch string(key) {
			case "delta", "message":
				c.parseDelta()
			case "text":
				c.AppendString(record.Content)
			case "finish_reason":
				c.parseFinish()
			case "index":
				if index := decode.Count(s); index != 0 && index != -1 {
					c.others = true
				}
			default:
				s.Skip()
			}
		}
	}
}

// parseFinish reads a finish reason: its name, or an object that has it as its type.
func (c *chunk) parseFinish() {
	s := &c.Scan
	if s.Peek() == '"' {
		c.finish = notEmpty(s.Quoted())
		return
	}
	s.Fields(func(key []byte) {
		if string(key) == "type" && s.Peek() == '"' {
			c.finish = notEmpty(s.Quoted())
		} else {
			s.Skip()
		}
	})
}

func notEmpty(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

func (c *chunk) parseDelta() {
	s := &c.Scan
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
			c.AppendString(record.Reasoning)
		case "refusal":
			c.AppendString(record.Refusal)
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
// a text count. What a part has under "thinking", as Mistral sends it, is reasoning.
func (c *chunk) takeContent() {
	s := &c.Scan
	if s.Peek() != '[' {
		c.AppendString(record.Content)
		return
	}
	s.Array()
	for s.More() {
		s.Fields(func(key []byte) {
			switch string(key) {
			case "text":
				c.AppendString(record.Content)
			case "thinking":
				c.takeThinking()
			default:
				s.Skip()
			}
		})
	}
}

// takeThinking reads reasoning: a string, or a list of parts with a text.
func (c *chunk) takeThinking() {
	s := &c.Scan
	if s.Peek() != '[' {
		c.AppendString(record.Reasoning)
		return
	}
	s.Array()
	for s.More() {
		s.Fields(func(key []byte) {
			if string(key) == "text" {
				c.AppendString(record.Reasoning)
			} else {
				s.Skip()
			}
		})
	}
}

// parseToolCalls reads a list of tool calls, or of pieces of them. Their text is
// what the model wrote: the function's name and its arguments.
func (c *chunk) parseToolCalls() {
	s := &c.Scan
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
		c.Channels[record.ToolCall] = true
		s.Fields(func(key []byte) {
			if string(key) == "function" {
				c.parseFunction()
			} else {
				s.Skip()
			}
		})
	}
}

func (c *chunk) parseFunction() {
	s := &c.Scan
	if s.Peek() != '{' {
		s.Skip()
		return
	}
	c.Channels[record.ToolCall] = true
	s.Fields(func(key []byte) {
		if string(key) == "name" || string(key) == "arguments" {
			c.AppendString(record.ToolCall)
		} else {
			s.Skip()
		}
	})
}

// parseData notes whether a list of embeddings holds any, and whether one of them is
// empty.
func (c *chunk) parseData() {
	s := &c.Scan
	s.Array()
	for s.More() {
		c.data = true
		s.Fields(func(key []byte) {
			if string(key) == "embedding" {
				c.hollow = !decode.Holds(s) || c.hollow
			} else {
				s.Skip()
			}
		})
	}
}

func (c *chunk) parseUsage() {
	s := &c.Scan
	s.Fields(func(key []byte) {
		switch string(key) {
		case "prompt_tokens":
			c.Count(&c.usage.prompt)
		case "completion_tokens":
			c.Count(&c.usage.completion)
		case "prompt_cache_hit_tokens":
			c.Count(&c.usage.cached)
		case "prompt_tokens_details":
			s.Fields(func(key []byte) {
				if string(key) == "cached_tokens" {
					c.Count(&c.usage.cached)
				} else {
					s.Skip()
				}
			})
		case "completion_tokens_details":
			c.parseHidden()
		case "input_tokens", "output_tokens":
			if !c.spoken {
				s.Skip()
			} else if key[0] == 'i' {
				c.Count(&c.usage.prompt)
			} else {
				c.Count(&c.usage.completion)
			}
		default:
			s.Skip()
		}
	})
}

// parseHidden adds up the tokens of a completion that need not be in its text: reasoning,
// sound, and predictions that were not accepted.
func (c *chunk) parseHidden() {
	s := &c.Scan
	s.Fields(func(key []byte) {
		n := -1
		switch string(key) {
		case "reasoning_tokens", "audio_tokens", "image_tokens", "rejected_prediction_tokens":
			n = decode.Count(s)
		default:
			s.Skip()
		}
		if n >= 0 {
			c.usage.hidden = max(c.usage.hidden, 0) + n
		}
	})
}
