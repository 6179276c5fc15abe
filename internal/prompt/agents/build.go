package agents

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/blake2b"

	"github.com/inferometer/inferometer/internal/lib/numpy"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// The places of what is drawn: a number of a path below the session, the turn or the agent.
const (
	placeTurns, placeCatalog                         = 0, 1
	placeHead, placeThink                            = 2, 2
	placeFollowup, placeLatency                      = 3, 3
	placeAnswer, placeSpawn, placeChildren           = 4, 7, 8
	placeResult, placeCalls, placeArguments          = 9, 30, 31
	placeWords, placeIntro, placeSubject, placeFocus = 60, 61, 62, 63
	placeCompactAt, placeCompactTo, placePayload     = 64, 65, 68
	placeInput, placeLoop, placeChild                = 50, 100, 200
)

const (
	dispatch      = "dispatch_agent"
	dispatchAbout = "Start a sub-agent that works on `objective` on its own. The call returns at once with a receipt, and NOT with the result of the work: each sub-agent's report comes later, in a message of the user of its own, which has it within " +
		"<task-notification><result>...</result></task-notification>. Reports come ONE BY ONE, in the order in which sub-agents finish. Answer each of them with one sentence that acknowledges it (for instance, 'One is done, the others are at work'), and go on waiting."
	dispatchTakes = `{"type": "object", "properties": {"objective": {"type": "string", "description": "What it is to do."}}, "required": ["objective"]}`
	launched      = "The agent was launched and works in the background. You will be told when it is over."
	toReport      = "This is your last turn, and no tool will be run any more. Report to the agent that started you: say in two or three sentences of plain prose what you found and what follows. Do not call a tool."
	toAnswer      = "This is your last turn, and no tool will be run any more. Give the user your final answer to the question now, in plain prose. Do not call a tool."
	ackTokens     = 48
	callMargin    = 64 // tokens of a tool call beside its JSON
)

type builder struct {
	cfg     *plan.Agents
	replay  *plan.Replay
	theme   *theme
	heads   *heads
	tok     prompt.Tokenizer
	fit     fitter
	seed    uint64
	id      string
	payload []string
	subject map[string]string
	tools   []tool
	list    []prompt.Tool // tools as they are sent
	fanout  []prompt.Tool // and with that which starts agents
	calls   []prompt.GraphCall
}

func newBuilder(s *Source, seed uint64, session int, t *theme) *builder {
	b := &builder{cfg: &s.agents, replay: &s.replay, theme: t, heads: &s.heads, tok: s.tok, seed: seed, id: fmt.Sprintf("synthN%d", session)}
	b.fit = fitter{tok: s.tok, words: b.words(t.Filler, placeWords)}
	b.payload = b.words(t.Payload, placePayload)
	b.subject = b.drawSubject()
	b.tools = t.catalog(max(0, b.draw(b.cfg.Catalog, placeCatalog)))
	b.list = promptTools(b.tools)
	b.fanout = append(slices.Clone(b.list),
		prompt.Tool{Name: dispatch, Description: dispatchAbout, Parameters: json.RawMessage(dispatchTakes)})
	return b
}

func (b *builder) draw(l plan.Length, path ...uint32) int {
	return sample(l, numpy.New(b.seed, path...))
}

// childPath is a place below another.
func childPath(path []uint32, more ...uint32) []uint32 { return append(slices.Clone(path), more...) }

// fits reports whether so many more calls are within the session's bound, beside those that
// agents above have still to make.
func (b *builder) fits(n, reserved int) bool { return len(b.calls)+reserved+n <= b.cfg.Events }

// event is a call of the model on its way into the graph.
type event struct {
	name     string
	messages []prompt.Message
	segments []prompt.Segment
	after    []int
	wait     int // seconds
	output   int
	called   []string // tools that its response calls; none: it is a text
	tools    []prompt.Tool
}

// emit adds a call and gives its place.
func (b *builder) emit(e event) int {
	p := prompt.Prompt{Messages: e.messages, Output: e.output, Model: b.replay.Model, Tools: b.choose(e.tools, e.called)}
	if p.Output == 0 {
		p.Output = noOutput
	}
	if len(e.called) > 0 && b.replay.ToolMaxTokens > 0 {
		p.Output = max(4*p.Output, b.replay.ToolMaxTokens)
	}
	wait := time.Duration(e.wait) * time.Second
	switch {
	case b.replay.IgnoreDelays:
		wait = 0
	case b.replay.MaxWait > 0:
		wait = min(wait, time.Duration(b.replay.MaxWait))
	}
	b.calls = append(b.calls, prompt.GraphCall{
		ID: e.name, After: e.after, Wait: wait, Prompt: p, Segments: e.segments, User: len(e.called) == 0,
	})
	return len(b.calls) - 1
}

// noOutput is the length of a response of unknown length.
const noOutput = 30

// choose says how free the model is.
func (b *builder) choose(list []prompt.Tool, called []string) *prompt.Tools {
	if len(list) == 0 {
		return nil
	}
	t := &prompt.Tools{List: list}
	switch {
	case b.replay.ToolChoice == plan.ToolChoiceFree:
	case len(called) == 0:
		t.Choice = prompt.ChoiceNone
	case len(called) == 1:
		t.Choice, t.Name = prompt.ChoiceNamed, called[0]
	default:
		t.Choice = prompt.ChoiceAny
	}
	return t
}

// callTokens is the length to ask for where a response calls tools: that of the calls as
// Python's json module writes them, and a margin.
func (b *builder) callTokens(calls []prompt.ToolCall) int {
	var all []string
	for _, c := range calls {
		all = append(all, fmt.Sprintf(`{"id": %q, "type": "function", "function": {"name": %q, "arguments": %q}}`, c.ID, c.Name, c.Arguments))
	}
	return b.tok.Count("["+strings.Join(all, ", ")+"]") + callMargin
}

// contextTokens is how long a context is, with the tools.
func (b *builder) contextTokens(messages []prompt.Message) int {
	n := 0
	if len(b.list) > 0 {
		var all []string
		for _, t := range b.list {
			all = append(all, fmt.Sprintf(`{"name": %q, "description": %q, "type": "function", "function": {"name": %[1]q, "description": %[2]q, "parameters": %s}}`, t.Name, t.Description, t.Parameters))
		}
		n = b.tok.Count("[" + strings.Join(all, ", ") + "]")
	}
	var texts []string
	for _, m := range messages {
		texts = append(texts, m.Content)
	}
	return n + b.tok.Count(strings.Join(texts, "\n"))
}

// worded is a template with a verb that is drawn, on the session's subject.
func (b *builder) worded(template string, more map[string]string, path ...uint32) string {
	known := maps.Clone(b.subject)
	maps.Copy(known, more)
	known["verb"] = pick(numpy.New(b.seed, path...), b.theme.Verbs)
	return b.render(template, known)
}

// objective is a task on the session's subject.
func (b *builder) objective(path ...uint32) string { return b.worded(b.theme.Objective, nil, path...) }

// recap sums up what was done before a turn.
func (b *builder) recap(turn uint32) string {
	tools := map[string]string{}
	for i, name := range []string{"tool_a", "tool_b", "tool_c"} {
		tools[name] = "the tools"
		if n := len(b.tools); n > 0 {
			tools[name] = b.tools[min(i, n-1)].Name
		}
	}
	return b.worded(b.theme.Recap, tools, turn, placePayload)
}

// followup is a question of the user's on a later turn.
func (b *builder) followup(turn uint32) string {
	r := numpy.New(b.seed, turn, placeFollowup)
	return pick(r, b.theme.Connectives) + b.render(pick(r, b.theme.Followups), b.subject)
}

// intro is what the user shows first.
func (b *builder) intro(turn uint32) string {
	template := pick(numpy.New(b.seed, turn, placeIntro), b.theme.Intro)
	return b.render(template, b.subject, turn, placeIntro, 1)
}

func (b *builder) session() {
	compactAt, compactTo := -1, 0
	if b.cfg.CompactAt != (plan.Length{}) {
		compactAt, compactTo = b.draw(b.cfg.CompactAt, placeCompactAt), b.draw(b.cfg.CompactTo, placeCompactTo)
	}
	last := -1 // the call that answered the turn before
	for r := range b.draw(b.cfg.Turns, placeTurns) {
		if !b.fits(1, 0) {
			return
		}
		turn := uint32(r)
		a := agent{builder: b, prefix: fmt.Sprintf("%s:r%d", b.id, r), path: []uint32{turn}, root: true}
		task := b.objective(turn, 1)
		if r == 0 {
			task = b.intro(turn) + "\n" + task
		} else {
			a.wait = b.draw(b.cfg.Think, turn, placeThink)
			a.after = []int{last}
		}
		switch {
		case r == 0:
		case compactAt >= 0 && b.contextTokens(b.calls[last].Prompt.Messages) >= compactAt:
			task = b.fit.around(compactTo, "Summary of the work until now: "+b.recap(turn)) + "\n" + task
		default:
			task = b.followup(turn)
			a.messages = append(slices.Clone(b.calls[last].Prompt.Messages), prompt.Message{Role: "assistant", Content: "(the answer to the turn before)"})
			a.segments = []prompt.Segment{
				{Kind: prompt.Shared, Messages: len(a.messages) - 1, From: last}, {Kind: prompt.Output, Messages: 1, From: last},
				{Kind: prompt.Own, Messages: 1},
			}
		}
		var ok bool
		if last, ok = a.build(task); !ok {
			return
		}
	}
}

// sessionSeed is what all of a session is drawn from.
func sessionSeed(seed uint64, session int) (uint64, error) {
	h, err := blake2b.New(8, nil)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(h, "%d:%d", seed, session)
	return binary.BigEndian.Uint64(h.Sum(nil)), nil
}

// sample draws an integer of a distribution; the zero one gives 0.
func sample(l plan.Length, r *numpy.Generator) int {
	if l.Dist == "" {
		return int(l.Mean)
	}
	if l.Dist == plan.DistPoisson && l.Mean <= 0 {
		l.Mean = 1
	}
	return prompt.DrawLengths(l, 1, 1, r).At(0)
}
