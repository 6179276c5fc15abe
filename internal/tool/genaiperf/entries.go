package genaiperf

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/lib/orderedjson"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/pool"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/run/registry"
)

// object keeps the order of its members.
type object = orderedjson.Object

type entry struct {
	prompt prompt.Prompt
	tokens int           // of its text; 0: not yet counted
	delay  time.Duration // after its answer, before the next turn of its session
	pauses bool          // that delay is written, be it 0
	due    time.Duration // its own time, of a schedule
}

func (e *entry) images() int {
	n := 0
	for i := range e.prompt.Parts {
		if e.prompt.Parts[i].Kind == prompt.Image {
			n++
		}
	}
	return n
}

// makeEntries makes all prompts of a run, as its plan has them.
func (t *job) makeEntries(ctx context.Context) error {
	with := t.env.Kit
	with.Tell = func(text string) { t.warn("%s", text) }
	made, err := with.Prompts(ctx, t.plan, t.found)
	if err != nil {
		return err
	}
	s, ok := made.Source.(prompt.Scheduler)
	switch timed := ok && s.Schedule() != nil; {
	case t.set.FixedSchedule && !timed:
		return fmt.Errorf("--fixed-schedule: the payload file has no timestamps: give each line one, or choose another load, such as --concurrency")
	case t.set.PayloadFile != "" && !t.set.FixedSchedule && timed:
		t.warn("The timestamps in %s have no effect without --fixed-schedule.", t.set.PayloadFile)
	}
	for _, note := range made.Notes {
		t.warn("%s", note)
	}
	made.Notes = nil // the run need not repeat them
	if pool, ok := made.Source.(*pool.Source); ok {
		pool.Warmup = uint64(t.set.Warmup)
		for _, p := range pool.All() {
			t.entries = append(t.entries, entry{prompt: p})
		}
		if t.set.ServiceKind == "triton" {
			made.Source = &fitted{Wrapper: prompt.Wrapper{Source: pool}, tool: t}
		}
		if t.set.FixedSchedule {
			for i, due := range s.Schedule().List() {
				t.entries[i].due = due
			}
		}
	} else {
		t.follow(&made)
	}
	t.ready = &made
	return nil
}

// fitted is a pool whose requests are settled once the model is known.
type fitted struct {
	prompt.Wrapper
	tool *job
}

// Fit implements prompt.ModelBinder: the files list what the model is sent.
func (f *fitted) Fit(m *tensor.Signature) error {
	if err := f.Wrapper.Fit(m); err != nil {
		return err
	}
	pool, _ := f.Source.(*pool.Source)
	t := f.tool
	t.model = m
	var lacks []string
	for i, p := range pool.All() {
		for _, was := range t.entries[i].prompt.Tensors {
			gone := !slices.ContainsFunc(p.Tensors, func(is prompt.Field) bool { return is.Name == was.Name })
			if gone && !slices.Contains(lacks, was.Name) {
				lacks = append(lacks, was.Name)
			}
		}
		t.entries[i].prompt = p
	}
	for _, name := range lacks {
		t.warn("Model %s has no input %s: it is not sent (the original fails here); %s lists what is sent.", m.Name, name, t.set.InputsFile)
	}
	return t.writeInputs()
}

// follow notes the requests of sessions, whose later turns are made during the run.
func (t *job) follow(made *registry.Prompts) {
	turns := slices.Clone(made.Turns)
	slices.SortStableFunc(turns, func(a, b prompt.Scripted) int { return a.Line - b.Line })
	scripts := map[string]prompt.Scripted{}
	for _, turn := range turns {
		t.entries = append(t.entries, entry{prompt: turn.Prompt, delay: turn.Think, pauses: turn.Pauses})
		scripts[turnName(&turn.Prompt)] = turn
	}
	t.later = &requestLog{scripts: scripts}
	made.Source = &noted{Wrapper: prompt.Wrapper{Source: made.Source}, log: t.later}
}

// turnName is the name of a turn of a session.
func turnName(p *prompt.Prompt) string { return fmt.Sprint(p.Session, "\x00", p.Turn) }

// requestLog keeps the requests that are made during the run, for the profile export.
type requestLog struct {
	scripts map[string]prompt.Scripted
	mu      sync.Mutex
	list    []entry
}

func (l *requestLog) add(p prompt.Prompt) prompt.Prompt {
	l.mu.Lock()
	defer l.mu.Unlock()
	script := l.scripts[turnName(&p)]
	l.list = append(l.list, entry{prompt: p, delay: script.Think, pauses: script.Pauses})
	if p.Rest != nil {
		p.Rest = notedConversation{p.Rest, l}
	}
	return p
}

// noted is a source whose requests are kept in a log.
type noted struct {
	prompt.Wrapper
	log *requestLog
}

// Prompt implements prompt.Source.
func (n *noted) Prompt(ctx context.Context, at prompt.Position) (prompt.Prompt, error) {
	p, err := n.Source.Prompt(ctx, at)
	if err != nil {
		return p, err
	}
	return n.log.add(p), nil
}

// notedConversation is a session whose turns are kept in a log.
type notedConversation struct {
	prompt.Conversation
	log *requestLog
}

// Next implements prompt.Conversation.
func (n notedConversation) Next(a prompt.Response) (prompt.Prompt, time.Duration, error) {
	p, think, err := n.Conversation.Next(a)
	if err != nil {
		return p, think, err
	}
	if rest, ok := p.Rest.(notedConversation); ok {
		p.Rest = rest.Conversation // kept once
	}
	return n.log.add(p), think, nil
}

// said is the text of a prompt: that is what is counted. A model behind Triton is given
// the messages of a chat on a line each.
func (t *job) said(p *prompt.Prompt) string {
	switch {
	case len(p.Texts) > 0:
		return strings.Join(p.Texts, " ")
	case len(p.Messages) == 0:
		return p.Text
	}
	parts := make([]string, len(p.Messages))
	for i, m := range p.Messages {
		parts[i] = m.Content
	}
	if t.set.ServiceKind == "triton" {
		return strings.Join(parts, "\n")
	}
	return strings.Join(parts, " ")
}

// input is a request as inputs.json and the profile export have it, and as it is sent.
func (t *job) input(p *prompt.Prompt) object {
	if t.set.ServiceKind != "triton" {
		return object{{"payload", json.RawMessage(p.Body)}}
	}
	o := object{{"model", cmp.Or(p.Model, t.plan.Target.Model)}}
	for _, f := range p.Tensors {
		o.Set(f.Name, f.Value)
	}
	return o
}

// inputs is the file of all prompts, as Perf Analyzer reads it: each value is a list.
func (t *job) inputs() ([]byte, error) {
	var data []any
	for i := range t.entries {
		e := &t.entries[i]
		var lists object
		for _, m := range t.input(&e.prompt) {
			if m.Name == "model" {
				lists = append(lists, m)
				continue
			}
			if raw, ok := m.Value.(json.RawMessage); ok && m.Name != "payload" && len(raw) > 0 && raw[0] == '[' {
				lists = append(lists, m) // it is one already
				continue
			}
			lists = append(lists, object{{m.Name, []any{m.Value}}}...)
		}
		if t.set.FixedSchedule {
			lists.Set("timestamp", []int64{e.due.Milliseconds()})
		}
		if e.pauses && t.set.PayloadFile != "" { // a file's stands ahead of the session
			lists.Set("delay", []int64{e.delay.Milliseconds()})
		}
		if e.prompt.Session != "" {
			lists.Set("session_id", []string{e.prompt.Session})
		}
		if e.pauses && t.set.PayloadFile == "" {
			lists.Set("delay", []int64{e.delay.Milliseconds()})
		}
		data = append(data, lists)
	}
	text, err := orderedjson.Compact(object{{"data", data}})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, text, "", "  ")
	return b.Bytes(), err
}
