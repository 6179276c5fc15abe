package responses

import (
	"strings"

	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/record"
)

// kind is what an event of a stream is about, or the whole of a response.
type kind uint8

const (
	foreign   kind = iota // nothing that the API has
	created               // the response begins
	part                  // something of it begins or ends, or comes again as a whole
	delta                 // a piece of text
	itemAdded             // an item of the output begins
	itemDone              // it ends, with all that is in it
	ended                 // the response is there as a whole
	failure
	object // a response in one piece
)

// kinds are the events by their types; those of text have a label in labels.
var kinds = map[string]kind{
	"response.created": created, "response.output_item.added": itemAdded, "response.output_item.done": itemDone,
	"response.completed": ended, "response.incomplete": ended, "response.failed": ended, "response.cancelled": ended, "error": failure,
}

var labels = map[string]record.EventKind{
	"response.output_text.delta":             record.Content,
	"response.refusal.delta":                 record.Refusal,
	"response.reasoning_text.delta":          record.Reasoning,
	"response.reasoning_summary_text.delta":  record.Reasoning,
	"response.reasoning.delta":               record.Reasoning,
	"response.function_call_arguments.delta": record.ToolCall,
	"response.mcp_call_arguments.delta":      record.ToolCall,
	"response.custom_tool_call_input.delta":  record.ToolCall,
}

// kindOf is what a type stands for, and the label of the text that comes with it.
func kindOf(name []byte) (kind, record.EventKind) {
	if label, ok := labels[string(name)]; ok {
		return delta, label
	}
	k, ok := kinds[string(name)]
	if !ok && strings.HasPrefix(string(name), "response.") {
		k = part
	}
	return k, record.Empty
}

// event is what one JSON object of a response says.
type event struct {
	decode.Part
	kind   kind
	text   record.EventKind // of a delta
	taking taking           // which text of an item is wanted
	output bool             // a list of output is there
	called bool             // there is a call of a tool
	told   bool             // the response holds an error
	detail bool             // it is an error of FastAPI
	status []byte
	reason []byte // of what is incomplete
	usage  usage
}

// taking is how much of an item's text is not known from deltas.
type taking uint8

const (
	takeNothing taking = iota
	takeName           // of a call, which has a delta for its arguments alone
	takeArguments
	takeAll
)

// usage is the server's own count of tokens; -1: not said.
type usage struct{ input, output, cached, hidden int }

func unknownUsage() usage { return usage{-1, -1, -1, -1} }

// begin turns to the next object of a response and finds its kind, which its fields depend on.
func (e *event) begin(data, name []byte) (before int) {
	*e = event{Part: e.Part, usage: unknownUsage()}
	if e.kind, e.text = kindOf(name); e.kind == foreign {
		var s jsonscan.Scanner
		s.Reset(data)
		s.Fields(func(key []byte) {
			switch {
			case string(key) == "type" && s.Peek() == '"':
				e.kind, e.text = kindOf(s.Quoted())
			case string(key) == "object" && s.Peek() == '"':
				if string(s.Quoted()) == "response" && e.kind == foreign {
					e.kind = object
				}
			default:
				s.Skip()
			}
		})
	}
	return e.Begin(data)
}

// parse reads an event whose kind is known and appends its text to e.Text, but on an error.
func (e *event) parse(before int) error {
	s := &e.Scan
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch {
		case string(key) == "delta" && e.kind == delta:
			e.AppendString(e.text)
		case string(key) == "item" && (e.kind == itemAdded || e.kind == itemDone):
			e.item()
		case string(key) == "response":
			s.Fields(e.responseField)
		case string(key) == "detail" && e.kind == foreign:
			e.detail = !s.Null()
			if e.detail {
				s.Skip()
			}
		default:
			e.responseField(key)
		}
	}
	if e.kind == foreign && (e.detail || e.told) {
		e.kind = failure
	}
	return e.Finish(before)
}

func (e *event) responseField(key []byte) {
	s := &e.Scan
	switch string(key) {
	case "output":
		if s.Peek() != '[' {
			s.Skip()
			return
		}
		e.output = true
		for s.Array(); s.More(); {
			e.item()
		}
	case "status":
		e.status = e.quoted()
	case "incomplete_details":
		s.Fields(func(key []byte) {
			if string(key) == "reason" {
				e.reason = e.quoted()
			} else {
				s.Skip()
			}
		})
	case "error":
		if !s.Null() {
			e.told = true
			s.Skip()
		}
	case "usage":
		s.Fields(e.usageField)
	default:
		s.Skip()
	}
}

func (e *event) quoted() []byte {
	if e.Scan.Peek() != '"' {
		e.Scan.Skip()
		return nil
	}
	return e.Scan.Quoted()
}

func (e *event) usageField(key []byte) {
	s := &e.Scan
	inside := func(name string, n *int) {
		s.Fields(func(key []byte) {
			if string(key) == name {
				e.Count(n)
			} else {
				s.Skip()
			}
		})
	}
	switch string(key) {
	case "input_tokens":
		e.Count(&e.usage.input)
	case "output_tokens":
		e.Count(&e.usage.output)
	case "input_tokens_details":
		inside("cached_tokens", &e.usage.cached)
	case "output_tokens_details":
		inside("reasoning_tokens", &e.usage.hidden)
	default:
		s.Skip()
	}
}

// item reads an item of the output: a message, what was thought, or a call. The names of
// its fields say what they hold, but for a text, which is a thought beside a summary.
func (e *event) item() {
	s := &e.Scan
	s.Fields(func(key []byte) {
		switch string(key) {
		case "type":
			name := string(e.quoted())
			e.called = e.called || name == "function_call" || name == "custom_tool_call"
		case "content":
			e.parts(record.Content)
		case "summary":
			e.parts(record.Reasoning)
		case "name":
			e.appendIf(e.taking == takeName || e.taking == takeAll, record.ToolCall)
		case "arguments", "input":
			e.appendIf(e.taking == takeArguments || e.taking == takeAll, record.ToolCall)
		default:
			s.Skip()
		}
	})
}

func (e *event) parts(text record.EventKind) {
	s := &e.Scan
	if s.Peek() != '[' || e.taking != takeAll {
		s.Skip()
		return
	}
	for s.Array(); s.More(); {
		label := text
		s.Fields(func(key []byte) {
			switch string(key) {
			case "type":
				if string(e.quoted()) == "reasoning_text" {
					label = record.Reasoning
				}
			case "text":
				e.AppendString(label)
			case "refusal":
				e.AppendString(record.Refusal)
			default:
				s.Skip()
			}
		})
	}
}

func (e *event) appendIf(wanted bool, label record.EventKind) {
	if !wanted {
		e.Scan.Skip()
		return
	}
	e.AppendString(label)
}

func (e *event) label() record.EventKind {
	for _, l := range [...]record.EventKind{record.Content, record.ToolCall, record.Refusal, record.Reasoning} {
		if e.Channels[l] && !e.failed() {
			return l
		}
	}
	switch {
	case e.failed():
		return record.Error
	case e.kind == ended:
		return record.Finish
	case e.kind == created:
		return record.Role
	case e.kind == foreign:
		return record.Unknown
	}
	return record.Empty
}

// failed reports whether it says that the response has failed.
func (e *event) failed() bool {
	return e.kind == failure || e.told || (e.kind == ended || e.kind == object) && string(e.status) == "failed"
}

// finish is how the response ended in the words that records use for every protocol.
func (e *event) finish(called bool) string {
	switch status, reason := string(e.status), string(e.reason); {
	case status == "incomplete" && reason == "max_output_tokens", status == "incomplete" && reason == "max_tokens":
		return "length"
	case status == "incomplete" && reason != "":
		return reason
	case status == "completed" && called:
		return "tool_calls"
	case status == "completed":
		return "stop"
	default:
		return status
	}
}
