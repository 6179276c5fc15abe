package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Graph is a recorded session that can be played again: calls of a model, each of which
// goes once those that it comes after were answered, so that several may be in flight at
// a time. A source makes it, and nothing changes it then; it may be played many times.
type Graph struct {
	Calls  []GraphCall // each comes after calls that stand before it
	Origin string      // the file that it was recorded in
	// Patience is how long after the session's begin a call may still be waiting for
	// those that it comes after; 0: for ever. It fails then.
	Patience time.Duration
	// Recorded: responses of the record stay in later inputs, in place of the live ones.
	Recorded bool
	// Repair: where a live response calls a tool with arguments that are no JSON, later
	// inputs have the recorded response in its place.
	Repair bool
}

// GraphCall is one call of a Graph.
type GraphCall struct {
	ID    string        // in the record; reports name it
	After []int         // places in Graph.Calls, each smaller than the call's own
	Wait  time.Duration // between the last of their responses and this call
	// NotBefore is how long after the session's begin the call goes at the earliest.
	NotBefore time.Duration
	// At is when it began in the record, counted from the session's begin; Thread is the conversation of the session
	// that it is a turn of.
	At     time.Duration
	Thread int
	// Warmup: the call belongs to the warm-up of its stage. Others of a stage that is warmed up like that go when all
	// sessions are warm, and count NotBefore from there.
	Warmup bool
	// Prompt is what is sent, with Messages as they were recorded. Seq, Session, Turn,
	// Call and Hash are filled in when it is played; Tokens too, where it is 0.
	Prompt Prompt
	// Make makes the messages and counts their tokens when the call is played, where they
	// are too long to be kept; nil means Prompt has them. It puts the tag in, and is used from
	// many goroutines. Such a call has no Segments, and no other refers to what it sent.
	Make func(tag string) (messages []Message, tokens int, err error)
	// Segments say where the messages come from, one after the other; what they do not
	// reach is the call's own.
	Segments []Segment
	// User: the response is one for the user, not for a tool or a program.
	User bool
	// Program: the response is one for a program.
	Program bool
}

// Segment is a run of messages with one origin.
type Segment struct {
	Kind     SegmentKind
	Messages int // how many; 1 of an Output or a Report
	From     int // the call that they come from: an ancestor; unused of Own
}

// SegmentKind says where messages come from.
type SegmentKind uint8

// The kinds of segments.
const (
	Own    SegmentKind = iota // recorded, and nowhere else
	Shared                    // the first messages that another call sent
	Output                    // the response to another call
	Report                    // a message of the user that holds the response to another call
)

// Play is one playing of a Graph. It is used concurrently.
type Play struct {
	Graph *Graph
	Name  string    // of the session
	Tag   string    // in front of each message that is a call's own; empty: none
	Count Tokenizer // of inputs whose length is not known; nil means they stay uncounted
	// Measure counts a call's input as the server does, with the model's chat template
	// around it; nil means it is as long as its texts are.
	Measure func(Prompt) (tokens int, err error)

	mu       sync.Mutex
	sent     [][]Message  // what each call sent
	answers  []*Response  // what each call got; nil means nothing yet
	repaired map[int]bool // calls whose responses gave way to the recorded ones
}

// FaultyRecord is the error of a call that would have to send a broken tool call: both the
// live response and the recorded one are broken.
type FaultyRecord struct{ Of string }

func (e *FaultyRecord) Error() string {
	return fmt.Sprintf("recorded fallback for %s is also malformed", e.Of)
}

// Prompt is what call i sends, made of the responses so far. All calls that it comes after
// have been answered.
func (p *Play) Prompt(i int) (Prompt, error) {
	call := &p.Graph.Calls[i]
	out := call.Prompt
	out.Session, out.Turn, out.Call = p.Name, i, call.ID
	if call.Make != nil {
		var err error
		out.Messages, out.Tokens, err = call.Make(p.Tag)
		out.Hash = HashMessages(out.Messages)
		return p.measured(out, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	messages, err := p.messages(call)
	if err != nil {
		return out, err
	}
	out.Messages = messages
	out.Hash = HashMessages(messages)
	if out.Tokens == 0 && p.Count == nil {
		out.Tokens = -1
	} else if out.Tokens == 0 {
		for _, m := range messages {
			out.Tokens += p.Count.Count(m.Content)
		}
		if out.Tools != nil { // the server tells the model of them
			out.Tokens += p.Count.Count(out.Tools.text())
		}
	}
	if p.sent == nil {
		p.sent = make([][]Message, len(p.Graph.Calls))
	}
	p.sent[i] = messages
	return p.measured(out, nil)
}

// measured counts an input as the server does, where it is known how.
func (p *Play) measured(out Prompt, err error) (Prompt, error) {
	if err == nil && p.Measure != nil {
		out.Tokens, err = p.Measure(out)
	}
	return out, err
}

// Answer takes what came back of call i.
func (p *Play) Answer(i int, a Response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.answers == nil {
		p.answers = make([]*Response, len(p.Graph.Calls))
	}
	p.answers[i] = &a
}

// Repaired are the calls whose broken responses gave way to the recorded ones, in order.
func (p *Play) Repaired() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]int, 0, len(p.repaired))
	for i := range p.repaired {
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}

// rename is a live response in an input whose tool results must name its calls.
type rename struct {
	at       int        // place of the response
	live     []ToolCall // its calls
	recorded []ToolCall // those of the response that it stands for
}

func (p *Play) messages(c *GraphCall) ([]Message, error) {
	recorded := c.Prompt.Messages
	out := make([]Message, 0, len(recorded))
	var renames []rename
	for _, seg := range c.Segments {
		part := recorded[len(out) : len(out)+seg.Messages]
		switch seg.Kind {
		case Shared:
			if from := p.from(seg.From); len(from) >= len(part) {
				part = from[:len(part)]
			}
			out = append(out, part...)
		case Output:
			m, live, err := p.answer(seg.From, part[0])
			if err != nil {
				return nil, err
			}
			if live && len(m.ToolCalls) > 0 {
				renames = append(renames, rename{len(out), m.ToolCalls, part[0].ToolCalls})
			}
			out = append(out, m)
		case Report:
			out = append(out, p.report(seg.From, part[0]))
		default:
			out = p.appendOwn(out, part)
		}
	}
	out = p.appendOwn(out, recorded[len(out):])
	for _, r := range renames {
		r.apply(out)
	}
	return out, nil
}

func (p *Play) appendOwn(out, part []Message) []Message {
	at := len(out)
	out = append(out, part...)
	if p.Tag != "" {
		for k := range out[at:] {
			out[at+k].Content = p.Tag + out[at+k].Content
		}
	}
	return out
}

func (p *Play) from(call int) []Message {
	if p.sent == nil {
		return nil
	}
	return p.sent[call]
}

// answer is the message that stands for the response to a call, and whether it is the live
// one. A response without any content leaves the recorded one where it is.
func (p *Play) answer(call int, recorded Message) (Message, bool, error) {
	if p.Graph.Recorded || p.answers == nil || p.answers[call] == nil || p.answers[call].Empty {
		return recorded, false, nil
	}
	a := p.answers[call]
	if p.Graph.Repair && broken(a.ToolCalls) {
		if broken(recorded.ToolCalls) {
			return recorded, false, &FaultyRecord{Of: p.Graph.Calls[call].ID}
		}
		if p.repaired == nil {
			p.repaired = map[int]bool{}
		}
		p.repaired[call] = true
		return recorded, false, nil
	}
	return Message{Role: "assistant", Content: a.Text, Reasoning: a.Reasoning, ToolCalls: a.ToolCalls}, true, nil
}

// report is a message that tells of the response to a call, as agents are told of the work of
// others.
func (p *Play) report(call int, recorded Message) Message {
	if !p.Graph.Recorded && p.answers != nil && p.answers[call] != nil && !p.answers[call].Empty {
		recorded.Content = "<task-notification>\n<result>\n" + p.answers[call].Text + "\n</result>\n</task-notification>"
	}
	return recorded
}

func broken(calls []ToolCall) bool {
	return slices.ContainsFunc(calls, func(c ToolCall) bool { return !json.Valid([]byte(c.Arguments)) })
}

// apply gives the tool results that follow a response the ids of its calls: each that of
// the first call left of the function whose result was recorded there. Where the response of
// the record has no calls, the results are taken in order.
func (r rename) apply(messages []Message) {
	used := make([]bool, len(r.live))
	n, most := 0, len(r.recorded)
	if most == 0 {
		most = len(r.live)
	}
	for i := r.at + 1; i < len(messages) && n < most; i++ {
		if messages[i].Role != "tool" {
			continue
		}
		match := n
		if len(r.recorded) > 0 {
			name := r.recorded[n].Name
			match = -1
			for k, c := range r.live {
				if !used[k] && c.Name == name {
					match = k
					break
				}
			}
		}
		n++
		if match < 0 {
			continue
		}
		used[match] = true
		if id := r.live[match].ID; id != "" {
			messages[i].ToolCallID = id
		}
	}
}
