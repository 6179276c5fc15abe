package agents

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"inferometer/internal/plan"
	"inferometer/internal/prompt"
)

// The places of what is drawn: a number of a path below the session, the turn or the agent.
const (
	placeTurns, placeCatalog                         = 0, 1
	placeThink, placeLatency, placeAnswer            = 2, 3, 4
	placeSpawn, placeChildren, placeAck, placeResult = 7, 8, 10, 9
	placeCalls, placeArguments, placeInput           = 30, 31, 50
	placeWords, placeIntro, placeSubject             = 60, 61, 63
	placeCompactAt, placeCompactTo, placePayload     = 64, 65, 68
	placeLoop, placeChild                            = 100, 200
)

const (
	dispatch      = "dispatch_agent"
	dispatchAbout = "Start a sub-agent that works on `objective` on its own. The call returns at once with a receipt and not with the result: each report comes later, in a message of the user of its own, within " +
		"<task-notification><result>...</result></task-notification>. Reports come one by one, in the order in which sub-agents finish. Answer each of them with one sentence that acknowledges it, and go on waiting."
	launched   = "The agent was launched and works in the background. You will be told when it is done."
	toReport   = "This is your last turn, and no tool will be run any more. Report to the agent that started you: say in two or three sentences of plain prose what you found and what follows from it. Do not call a tool."
	toAnswer   = "This is your last turn, and no tool will be run any more. Give the user your final answer now, in plain prose. Do not call a tool."
	ackTokens  = 48
	callMargin = 64 // tokens of a tool call beside its JSON
)

// builder makes one session.
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
	b.fit = fitter{tok: s.tok, words: t.words(t.Filler, b.text(placeWords))}
	b.payload = t.words(t.Payload, b.text(placePayload))
	b.subject = t.subject(b.text(placeSubject))
	b.tools = t.catalog(max(0, b.draw(b.cfg.Catalog, placeCatalog)))
	b.list = promptTools(b.tools)
	starter := tool{Name: dispatch, About: dispatchAbout, Args: []arg{{Name: "objective", About: "What the sub-agent is to do."}}}
	b.fanout = append(slices.Clone(b.list), promptTools([]tool{starter})...)
	return b
}

// draw draws a number at a place.
func (b *builder) draw(l plan.Length, path ...uint32) int { return sample(l, newRNG(b.seed, path...)) }

// text draws words at a place.
func (b *builder) text(path ...uint32) *rand.Rand { return rand.New(newRNG(b.seed, path...)) }

// at is a place below another.
func at(path []uint32, more ...uint32) []uint32 { return append(slices.Clone(path), more...) }

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
	called   []string // tools that its answer calls; none: it is a text
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

// noOutput is the length of an answer whose length nobody gives.
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

// callTokens is the length to ask for where an answer calls tools.
func (b *builder) callTokens(calls []prompt.ToolCall) int {
	type function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	type call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	var all []call
	for _, c := range calls {
		all = append(all, call{c.ID, "function", function{c.Name, c.Arguments}})
	}
	return b.jsonTokens(all) + callMargin
}

func (b *builder) jsonTokens(v any) int {
	text, err := json.Marshal(v)
	if err != nil {
		return 0 // texts can always be written
	}
	return b.tok.Count(string(text))
}

// contextTokens is how long a context is, with the tools.
func (b *builder) contextTokens(messages []prompt.Message) int {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	type definition struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Type        string   `json:"type"`
		Function    function `json:"function"`
	}
	var tools []definition
	for _, t := range b.list {
		tools = append(tools, definition{t.Name, t.Description, "function", function{t.Name, t.Description, t.Parameters}})
	}
	n := 0
	if len(tools) > 0 {
		n = b.jsonTokens(tools)
	}
	text := ""
	for _, m := range messages {
		text += m.Content + "\n"
	}
	return n + b.tok.Count(text)
}

// objective is a task on the session's subject.
func (b *builder) objective(path ...uint32) string {
	return b.theme.render(b.theme.Objective, b.text(path...), b.subject)
}

// session makes all turns of the user.
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
			words := b.text(turn, placeIntro)
			task = b.theme.render(pick(words, b.theme.Intro), words, b.subject) + "\n" + task
		} else {
			a.wait = b.draw(b.cfg.Think, turn, placeThink)
			a.after = []int{last}
		}
		switch {
		case r == 0:
		case compactAt >= 0 && b.contextTokens(b.calls[last].Prompt.Messages) >= compactAt:
			recap := b.theme.render(b.theme.Recap, b.text(turn, placePayload), b.subject)
			task = b.fit.around(compactTo, "Summary of the work so far: "+recap) + "\n" + task
		default:
			words := b.text(turn, placeLatency)
			task = b.theme.render(pick(words, b.theme.Followups), words, b.subject)
			a.messages = append(slices.Clone(b.calls[last].Prompt.Messages), prompt.Message{Role: "assistant", Content: "(the answer before)"})
			a.segments = []prompt.Segment{
				{Kind: prompt.Shared, Messages: len(a.messages) - 1, From: last}, {Kind: prompt.Output, Messages: 1, From: last}, {Kind: prompt.Own, Messages: 1},
			}
		}
		var ok bool
		if last, ok = a.build(task); !ok {
			return
		}
	}
}
