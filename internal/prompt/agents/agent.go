package agents

import (
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/internal/lib/numpy"
	"github.com/inferometer/inferometer/internal/prompt"
)

// agent is one agent at work: on a turn of the user, or on what another agent wants done.
type agent struct {
	*builder
	prefix   string
	path     []uint32 // of what it draws
	depth    int
	root     bool // it answers the user
	after    []int
	wait     int
	reserved int // calls that agents above have still to make
	// What it goes on from, with room for one message of its own; nil means it begins.
	messages []prompt.Message
	segments []prompt.Segment

	tail     int // its latest call
	pending  []prompt.ToolCall
	results  []prompt.Message // of the pending calls
	finished bool             // tail answers in text
}

// build makes the agent's calls: one with the task, one for the results of each response that
// called tools, and those around the agents that it starts. It gives the one that answers.
func (a *agent) build(task string) (answer int, ok bool) {
	if !a.fits(1, a.reserved) {
		return 0, false
	}
	task = a.fit.around(a.draw(a.cfg.Input, childPath(a.path, placeInput)...), task)
	first := a.messages
	if first == nil && a.cfg.Head > 0 {
		text := a.heads.Sub
		if a.root {
			text = pick(numpy.New(a.seed, childPath(a.path, placeHead)...), a.heads.Root)
		}
		first = []prompt.Message{{Role: "system", Content: a.fit.head(a.cfg.Head, text)}}
	}
	first = append(slices.Clone(first), prompt.Message{Role: "user", Content: task})
	loop := 0
	if len(a.tools) > 0 {
		loop = max(0, a.draw(a.cfg.Loop, childPath(a.path, placeLoop)...))
	}
	spawns := numpy.New(a.seed, childPath(a.path, placeSpawn)...).Float() < a.cfg.Fanout && a.depth < a.cfg.Depth
	e := event{name: a.prefix + ":principal", messages: first, segments: a.segments, after: a.after, wait: a.wait, tools: a.list}
	switch {
	case loop > 0:
		a.call(&e, 0)
	case !spawns:
		a.answer(&e, !a.root || len(a.tools) > 0)
	}
	a.tail = a.emit(e)
	turns := loop
	if spawns {
		turns-- // the call that starts agents takes the last results
	}
	for t := 0; t < turns && a.fits(1, a.reserved); t++ {
		e := a.next(fmt.Sprintf("%s:t%d", a.prefix, t), a.list)
		e.wait = a.draw(a.cfg.ToolLatency, childPath(a.path, uint32(t), placeLatency)...)
		if t == loop-1 && !spawns {
			a.answer(&e, true)
		} else {
			a.call(&e, t+1)
		}
		a.tail = a.emit(e)
	}
	if spawns {
		a.spawn()
	}
	a.closeCalls()
	return a.tail, true
}

// next is a call that goes on from the latest one, with the results of what that called.
func (a *agent) next(name string, tools []prompt.Tool) event {
	before := a.calls[a.tail].Prompt.Messages
	e := event{name: name, after: []int{a.tail}, tools: tools, messages: slices.Clone(before)}
	e.segments = []prompt.Segment{{Kind: prompt.Shared, Messages: len(before), From: a.tail}}
	if len(a.pending) > 0 {
		e.messages = append(e.messages, prompt.Message{Role: "assistant", ToolCalls: a.pending})
		e.segments = append(e.segments, prompt.Segment{Kind: prompt.Output, Messages: 1, From: a.tail})
		e.addMessages(a.results...)
	}
	return e
}

func (e *event) addMessages(m ...prompt.Message) {
	e.messages = append(e.messages, m...)
	if n := len(e.segments); n > 0 && e.segments[n-1].Kind == prompt.Own {
		e.segments = slices.Clone(e.segments)
		e.segments[n-1].Messages += len(m)
		return
	}
	if len(e.segments) > 0 {
		e.segments = append(slices.Clone(e.segments), prompt.Segment{Kind: prompt.Own, Messages: len(m)})
	}
}

// call lets a call be answered by tool calls, the t-th of the agent's loop.
func (a *agent) call(e *event, t int) {
	a.pending, a.results = nil, nil
	for j := range max(1, a.draw(a.cfg.Calls, childPath(a.path, uint32(t), placeCalls)...)) {
		of := &a.tools[(t+j)%len(a.tools)]
		id := fmt.Sprintf("call_%s_%d_%d", a.prefix, t, j)
		args, said := a.arguments(of, childPath(a.path, uint32(t), placeArguments, uint32(j)))
		result := a.render(of.Result, said, childPath(a.path, uint32(t), placeResult, uint32(j))...)
		a.pending = append(a.pending, prompt.ToolCall{ID: id, Name: of.Name, Arguments: args})
		a.results = append(a.results, prompt.Message{Role: "tool", ToolCallID: id, Content: result})
		e.called = append(e.called, of.Name)
	}
	e.output = a.callTokens(a.pending)
}

// answer lets a call be answered in text, for the user or for the agent above.
func (a *agent) answer(e *event, asked bool) {
	if asked {
		e.addMessages(prompt.Message{Role: "user", Content: a.directive()})
	}
	e.output = a.draw(a.cfg.Output, childPath(a.path, placeAnswer)...)
	a.pending, a.results, a.finished = nil, nil, true
}

func (a *agent) directive() string {
	if a.root {
		return toAnswer
	}
	return toReport
}

// closeCalls lets the latest call be answered in text where the bound of the session kept the
// results of its tools from being sent.
func (a *agent) closeCalls() {
	c := &a.calls[a.tail]
	if len(a.pending) == 0 || a.finished {
		return
	}
	c.Prompt.Output, c.User = a.draw(a.cfg.Output, childPath(a.path, placeAnswer)...), true
	if c.Prompt.Tools != nil {
		c.Prompt.Tools = a.choose(c.Prompt.Tools.List, nil)
	}
}

// spawn starts other agents and hears from them one by one; the last report is answered by
// what the agent has to say. Without room for all of it there is none.
func (a *agent) spawn() {
	k := max(0, a.draw(a.cfg.Children, childPath(a.path, placeChildren)...))
	if k == 0 || !a.fits(1+k+k+1, a.reserved) {
		return
	}
	level := fmt.Sprintf("%s:d%d:", a.prefix, a.depth)
	e := a.next(level+"spawn", a.fanout)
	e.addMessages(prompt.Message{Role: "user", Content: fmt.Sprintf("Hand this work to %d sub-agent(s). Their reports are going to come one by one, as each of them finishes.", k)})
	var started []prompt.ToolCall
	var tasks []string
	var receipts []prompt.Message
	for c := range k {
		task := a.objective(childPath(a.path, uint32(c), 1)...)
		id := fmt.Sprintf("dispatch_%s_%d", a.prefix, c)
		tasks = append(tasks, task)
		started = append(started, prompt.ToolCall{ID: id, Name: dispatch, Arguments: fmt.Sprintf(`{"objective": %q}`, task)})
		receipts = append(receipts, prompt.Message{Role: "tool", ToolCallID: id, Content: launched})
		e.called = append(e.called, dispatch)
	}
	e.output = a.callTokens(started)
	was, before := a.tail, len(a.calls)
	a.tail = a.emit(e)
	starter := a.tail
	var reports []int
	for c := range k {
		child := agent{
			builder: a.builder, prefix: fmt.Sprintf("%s:d%d:sub%d", a.prefix, a.depth+1, c), path: childPath(a.path, placeChild+uint32(c)),
			depth: a.depth + 1, after: []int{starter}, reserved: a.reserved + k + 1 + k - c - 1,
		}
		report, ok := child.build(tasks[c])
		if !ok {
			break
		}
		reports = append(reports, report)
	}
	if len(reports) < k || !a.fits(k+1, a.reserved) {
		a.calls, a.tail = a.calls[:before], was
		return
	}
	a.pending, a.results = started, receipts
	a.hear(level, reports)
}

// hear takes the reports of the agents that were started.
func (a *agent) hear(level string, reports []int) {
	ack := a.next(level+"dispatch_ack", a.fanout)
	ack.output = ackTokens
	a.tail = a.emit(ack)
	a.pending, a.results = nil, nil
	for c, from := range reports {
		e := a.next(fmt.Sprintf("%snotify%d", level, c), a.fanout)
		e.after = append(e.after, from)
		e.messages = append(e.messages, prompt.Message{Role: "user", Content: "(the report of a sub-agent)"})
		e.segments = append(e.segments, prompt.Segment{Kind: prompt.Report, Messages: 1, From: from})
		if c == len(reports)-1 {
			a.answer(&e, true)
		} else {
			e.output = ackTokens
		}
		a.tail = a.emit(e)
	}
}
