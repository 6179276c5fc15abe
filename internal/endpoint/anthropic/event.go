package anthropic

import (
	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/record"
)

// kind is what an event or a response calls itself.
type kind uint8

const (
	other kind = iota
	messageStart
	blockStart
	blockDelta
	blockStop
	messageDelta
	messageStop
	ping
	failure
	message // a whole response
)

var kinds = map[string]kind{
	"message_start": messageStart, "content_block_start": blockStart, "content_block_delta": blockDelta, "content_block_stop": blockStop,
	"message_delta": messageDelta, "message_stop": messageStop, "ping": ping, "error": failure, "message": message,
}

// event is what one JSON object of a response says.
type event struct {
	decode.Part
	kind    kind
	content bool   // a list of content is there
	sealed  bool   // it signs thinking, or has it encrypted
	stop    []byte // the stop reason, or nil
	usage   usage
	data    []byte // the event's bytes
}

// usage is the server's count of tokens; -1: not said. What a cache gave or took is not part of
// input.
type usage struct{ input, output, read, written int }

func unknownUsage() usage { return usage{-1, -1, -1, -1} }

func (u *usage) merge(later usage) {
	for _, p := range []struct {
		to   *int
		from int
	}{{&u.input, later.input}, {&u.output, later.output}, {&u.read, later.read}, {&u.written, later.written}} {
		if p.from >= 0 {
			*p.to = p.from
		}
	}
}

// prompt is the length of the whole prompt, -1 where that is not said.
func (u usage) prompt() int {
	if u.input < 0 {
		return -1
	}
	return u.input + max(u.read, 0) + max(u.written, 0)
}

// parse reads an event and appends its text to e.Text, but on an error.
func (e *event) parse(data []byte) error {
	e.kind, e.content, e.sealed, e.stop, e.usage, e.data = other, false, false, nil, unknownUsage(), data
	before := e.Begin(data)
	s := &e.Scan
	detail := false
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "type":
			if s.Peek() == '"' {
				e.kind = kinds[string(s.Quoted())]
			} else {
				s.Skip()
			}
		case "message":
			s.Fields(e.messageField)
		case "content_block", "delta":
			e.block()
		case "error":
			if !s.Null() {
				e.kind = failure
				s.Skip()
			}
		case "detail": // an error of FastAPI, unless the event has a type
			if !s.Null() {
				detail = true
				s.Skip()
			}
		default:
			e.messageField(key)
		}
	}
	if detail && e.kind == other {
		e.kind = failure
	}
	return e.Finish(before)
}

func (e *event) messageField(key []byte) {
	s := &e.Scan
	switch string(key) {
	case "content":
		if s.Peek() != '[' {
			s.Skip()
			return
		}
		e.content = true
		s.Array()
		for s.More() {
			e.block()
		}
	case "usage":
		e.Scan.Fields(e.usageField)
	case "stop_reason":
		e.stopReason()
	default:
		s.Skip()
	}
}

func (e *event) stopReason() {
	if e.Scan.Peek() != '"' {
		e.Scan.Skip()
		return
	}
	if reason := e.Scan.Quoted(); len(reason) > 0 {
		e.stop = reason
	}
}

// block reads a block of content or a change to one. The names of their fields say
// what they hold.
func (e *event) block() {
	e.Scan.Fields(func(key []byte) {
		switch string(key) {
		case "text":
			e.AppendString(record.Content)
		case "thinking":
			e.AppendString(record.Reasoning)
		case "partial_json", "name":
			e.AppendString(record.ToolCall)
		case "input":
			e.takeInput()
		case "stop_reason":
			e.stopReason()
		case "signature", "data":
			e.sealed = decode.Holds(&e.Scan) || e.sealed
		default:
			e.Scan.Skip()
		}
	})
}

// takeInput takes what a tool is called with. An empty object only announces it.
func (e *event) takeInput() {
	s := &e.Scan
	if s.Peek() != '{' {
		s.Skip()
		return
	}
	start := s.Pos()
	fields := 0
	from := e.Text
	e.Scan.Fields(func([]byte) { fields++; s.Skip() })
	if fields == 0 || s.Err() != nil {
		return
	}
	e.Channels[record.ToolCall] = true
	e.Texts += 2 // nothing that could be learnt
	e.Text = append(from, e.data[start:s.Pos()]...)
}

func (e *event) usageField(key []byte) {
	switch string(key) {
	case "input_tokens":
		e.Count(&e.usage.input)
	case "output_tokens":
		e.Count(&e.usage.output)
	case "cache_read_input_tokens":
		e.Count(&e.usage.read)
	case "cache_creation_input_tokens":
		e.Count(&e.usage.written)
	default:
		e.Scan.Skip()
	}
}

func (e *event) label() record.EventKind {
	switch {
	case e.kind == failure:
		return record.Error
	case e.Channels[record.Content]:
		return record.Content
	case e.Channels[record.ToolCall]:
		return record.ToolCall
	case e.Channels[record.Reasoning]:
		return record.Reasoning
	case e.kind == messageDelta && e.stop != nil:
		return record.Finish
	case e.kind == messageStart:
		return record.Role
	case e.kind == messageStop:
		return record.Done
	case e.kind == ping:
		return record.Comment
	case e.kind == messageDelta && e.usage != unknownUsage():
		return record.Usage
	case e.kind == other:
		return record.Unknown
	}
	return record.Empty
}

// learnable reports whether another event that differs from this one in nothing but
// its one string of text says the same but for that text.
func (e *event) learnable() bool {
	return e.kind == blockDelta && e.Texts == 1 && e.stop == nil && e.usage == unknownUsage()
}
