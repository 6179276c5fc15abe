package genaiperf

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	frontend "inferometer/internal/frontend/genaiperf"
	"inferometer/internal/plan"
	"inferometer/internal/prompt"
	"inferometer/internal/prompt/synthetic"
)

// entry is one of the prompts that a run goes through again and again.
type entry struct {
	prompt prompt.Prompt
	text   string // what the user says in it: that is what is counted
	input  object // the request as inputs.json and the profile export have it
	tokens int    // of text; 0: not yet counted
	body   []byte // of the request, where it is JSON
	images []string

	more    []string // texts beside the first, of a batch or to be ranked
	session string
	delay   time.Duration
}

// source hands the entries out in turn.
type source struct {
	entries []entry
	next    int
}

// Next implements prompt.Source. It never ends.
func (s *source) Next(context.Context) (prompt.Prompt, error) {
	p := s.entries[s.next%len(s.entries)].prompt
	s.next++
	return p, nil
}

// SetStage implements prompt.Stager: each stage begins with the first.
func (s *source) SetStage(int) { s.next = 0 }

// mostEntries bounds what is kept in memory.
const mostEntries = 1_000_000

// makeEntries makes all prompts of a run.
func (t *tool) makeEntries(ctx context.Context) error {
	if t.set.Sessions > 0 || t.set.PayloadFile != "" {
		turns, err := t.turns(ctx)
		if err != nil {
			return err
		}
		if t.each = t.set.Sessions > 0 || t.set.SessionConcurrency > 0 || t.set.FixedSchedule; t.each {
			return t.makeTurns(turns)
		}
		for i := range turns {
			turns[i].session = ""
			e, err := t.turnEntry(&turns[i], nil, t.set.Models[i%len(t.set.Models)])
			if err != nil {
				return err
			}
			t.entries = append(t.entries, e)
		}
		return nil
	}
	if t.set.EndpointType == "rankings" {
		return t.makeRankings(ctx)
	}
	prompts, err := t.prompts(ctx)
	if err != nil {
		return err
	}
	if t.set.Batch > 1 {
		return t.makeBatches(prompts)
	}
	pick := rand.New(rand.NewPCG(uint64(t.set.Seed), 'm'))
	for i, p := range prompts {
		model := t.set.Models[i%len(t.set.Models)]
		if t.set.PickRandom {
			model = t.set.Models[pick.IntN(len(t.set.Models))]
		}
		e, err := t.entry(p, model)
		if err != nil {
			return err
		}
		t.entries = append(t.entries, e)
	}
	return nil
}

// makeBatches makes requests of several texts each.
func (t *tool) makeBatches(prompts []prompt.Prompt) error {
	for n := 0; n+t.set.Batch <= len(prompts); n += t.set.Batch {
		var more []string
		for _, p := range prompts[n+1 : n+t.set.Batch] {
			more = append(more, said(&p))
		}
		e, err := t.entryWith(prompts[n], t.set.Models[len(t.entries)%len(t.set.Models)], nil, more...)
		if err != nil {
			return err
		}
		t.entries = append(t.entries, e)
	}
	if len(t.entries) == 0 {
		return fmt.Errorf("--batch-size-text: there are %d texts, and a request takes %d", len(prompts), t.set.Batch)
	}
	return nil
}

// makeRankings makes requests of a query and passages each: out of the files queries
// and passages, or made up.
func (t *tool) makeRankings(ctx context.Context) error {
	var queries, passages []prompt.Prompt
	var err error
	if dir := t.set.InputFile; dir != "" {
		if queries, err = t.filePrompts(ctx, filepath.Join(dir, "queries.jsonl"), 0); err == nil {
			passages, err = t.filePrompts(ctx, filepath.Join(dir, "passages.jsonl"), 0)
		}
	} else if queries, err = t.synthetic(ctx, t.set.Prompts, 'q'); err == nil {
		passages, err = t.synthetic(ctx, t.set.Prompts*t.set.Batch, 'p')
	}
	if err != nil {
		return err
	}
	pick := rand.New(rand.NewPCG(t.plan.Seed, 'r'))
	for i, q := range queries {
		var texts []string
		for range t.set.Batch {
			texts = append(texts, said(&passages[pick.IntN(len(passages))]))
		}
		e, err := t.entryWith(q, t.set.Models[i%len(t.set.Models)], nil, texts...)
		if err != nil {
			return err
		}
		t.entries = append(t.entries, e)
	}
	return nil
}

// synthetic makes n texts.
func (t *tool) synthetic(ctx context.Context, n int, salt uint64) ([]prompt.Prompt, error) {
	made, err := synthetic.New(plan.Data{Prompts: n, Input: t.plan.Data.Input}, t.tok, prompt.Mix(t.plan.Seed^salt))
	if err != nil {
		return nil, err
	}
	return take(ctx, made, n)
}

// turns are the requests of a payload file or of sessions.
func (t *tool) turns(ctx context.Context) ([]turn, error) {
	if t.set.PayloadFile != "" {
		return t.payloadTurns(ctx, t.set.PayloadFile)
	}
	return t.sessionTurns(ctx)
}

// prompts are what is asked.
func (t *tool) prompts(ctx context.Context) ([]prompt.Prompt, error) {
	d := t.plan.Data
	if t.set.Dataset != "" {
		return t.datasetPrompts(ctx)
	}
	if t.set.InputFile != "" && t.set.Pictures() {
		return t.picturePrompts(t.set.InputFile)
	}
	if t.set.InputFile != "" {
		return t.filePrompts(ctx, t.set.InputFile, 0)
	}
	d.Prompts *= max(t.set.Batch, 1) // a batch takes several
	if d.Prompts > mostEntries {
		return nil, fmt.Errorf("%d distinct prompts are more than this front end keeps (%d): ask for fewer", d.Prompts, mostEntries)
	}
	made, err := synthetic.New(d, t.tok, t.plan.Seed)
	if err != nil {
		return nil, err
	}
	list, err := take(ctx, made, d.Prompts)
	if err == nil && t.set.InWords > 0 {
		list = t.ask(list)
	}
	if err == nil && t.set.Prefixes > 0 {
		err = t.prefix(ctx, list)
	}
	return list, err
}

// prefix puts one of a few common beginnings in front of each prompt.
func (t *tool) prefix(ctx context.Context, list []prompt.Prompt) error {
	d := plan.Data{Prompts: t.set.Prefixes, Input: plan.Length{Dist: plan.DistFixed, Mean: float64(t.set.PrefixLength)}}
	made, err := synthetic.New(d, t.tok, prompt.Mix(t.plan.Seed^'p'))
	if err != nil {
		return err
	}
	beginnings, err := take(ctx, made, t.set.Prefixes)
	if err != nil {
		return err
	}
	pick := rand.New(rand.NewPCG(t.plan.Seed, 'p'))
	for i := range list {
		list[i].Text = beginnings[pick.IntN(len(beginnings))].Text + " " + list[i].Text
		list[i].Tokens = t.tok.Count(list[i].Text)
	}
	return nil
}

// take takes n prompts from a source.
func take(ctx context.Context, s prompt.Source, n int) ([]prompt.Prompt, error) {
	list := make([]prompt.Prompt, 0, n)
	for range n {
		p, err := s.Next(ctx)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// ask puts the wish for a length in front of each prompt, whose own length stays what
// it was. A prompt that would be no more than that wish is left alone.
func (t *tool) ask(list []prompt.Prompt) []prompt.Prompt {
	wish := fmt.Sprintf("Write an answer of about %d tokens that goes on from this text:\n\n", t.set.InWords)
	least := 2 * t.tok.Count(wish)
	left := 0
	for i := range list {
		p := &list[i]
		text := wish + p.Text
		end, ok := t.tok.Cut(text, p.Tokens)
		if p.Tokens < least || !ok {
			left++
			continue
		}
		p.Text = text[:end]
	}
	if left > 0 {
		t.note("%d of %d prompts are too short to ask for %d tokens in words; max_tokens asks for them", left, len(list), t.set.InWords)
	}
	return list
}

// entry makes the request of a prompt.
func (t *tool) entry(p prompt.Prompt, model string) (entry, error) {
	return t.entryWith(p, model, nil)
}

// entryWith makes the request of a prompt with fields of its own.
func (t *tool) entryWith(p prompt.Prompt, model string, own object, more ...string) (entry, error) {
	e := entry{prompt: p, text: said(&p), more: more}
	e.prompt.Model = model
	if v, ok := extraInt(t.set.Extra, "max_tokens"); ok {
		e.prompt.Output = v
	}
	if t.set.ServiceKind == "triton" {
		// One text is all that such a model takes.
		e.prompt.Text, e.prompt.Messages = e.text, nil
		e.prompt.Hash = prompt.HashText(fmt.Sprint(model, "\x00", p.Output, "\x00", e.text))
		e.input = t.tritonInput(&e, model)
		return e, nil
	}
	var err error
	if t.set.Pictures() {
		if e.images, err = t.media.images(&p); err != nil {
			return e, err
		}
	}
	if e.input, err = t.payload(&e, model); err != nil {
		return e, err
	}
	for _, m := range own {
		e.input.set(m.name, m.value)
	}
	if e.body, err = compact(e.input); err != nil {
		return e, fmt.Errorf("making a request: %w", err)
	}
	if t.template != nil {
		if e.body, err = t.render(&e, model); err != nil {
			return e, err
		}
	}
	e.prompt.Hash = prompt.HashText(string(e.body))
	if t.plan.Target.Protocol == plan.ProtocolTriton { // it makes its bodies itself
		e.prompt.Text, e.prompt.Messages = e.text, nil
	} else {
		e.prompt.Body = e.body
	}
	return e, nil
}

func extraInt(list []frontend.Extra, name string) (int, bool) {
	for _, x := range list {
		if n, ok := x.Value.(int64); ok && x.Name == name {
			return int(n), true
		}
	}
	return 0, false
}

// said is the text of a prompt.
func said(p *prompt.Prompt) string {
	if len(p.Messages) == 0 {
		return p.Text
	}
	parts := make([]string, len(p.Messages))
	for i, m := range p.Messages {
		parts[i] = m.Content
	}
	return strings.Join(parts, " ")
}

// payload is the body of a request of OpenAI's protocol, in the original's order.
func (t *tool) payload(e *entry, model string) (object, error) {
	o := object{{"model", model}}
	switch t.set.EndpointType {
	case "completions":
		o.set("prompt", []string{e.text})
	case "embeddings":
		o.set("input", append([]string{e.text}, e.more...))
	case "rankings":
		o = t.rankings(e.text, e.more, model)
	case "multimodal":
		o.set("messages", []object{{{"role", "user"}, {"content", t.media.content(e.text, e.images)}}})
	case "nvclip":
		o.set("input", slices.Concat(texts(e), e.images))
	case "image_retrieval":
		var list []object
		for _, url := range e.images {
			list = append(list, object{{"type", "image_url"}, {"url", url}})
		}
		o = object{{"input", list}}
	case "huggingface_generate":
		return t.huggingFace(e, o), nil
	case "generate":
		o = object{{"text_input", []string{e.text}}}
	case "template":
		return object{}, nil // see render
	default:
		messages := e.prompt.Messages
		if len(messages) == 0 {
			messages = []prompt.Message{{Role: "user", Content: e.text}}
		}
		o.set("messages", messages)
	}
	if t.set.Streaming {
		o.set("stream", true)
	}
	if e.prompt.Output > 0 {
		o.set("max_tokens", e.prompt.Output)
	}
	for _, x := range t.set.Extra {
		if t.set.EndpointType != "rankings" || x.Name != "rankings" {
			o.set(x.Name, x.Value)
		}
	}
	return o, nil
}

// texts are all texts of a request.
func texts(e *entry) []string {
	var list []string
	if e.text != "" {
		list = append(list, e.text)
	}
	return append(list, e.more...)
}

// huggingFace is a request of Text Generation Inference: images stand in the text, and
// what the server has a parameter for is one.
func (t *tool) huggingFace(e *entry, o object) object {
	var parts []string
	for _, url := range e.images {
		parts = append(parts, "![]("+url+")")
	}
	o.set("inputs", strings.Join(append(parts, texts(e)...), " "))
	if t.set.Streaming {
		o.set("stream", true)
	}
	if e.prompt.Output > 0 {
		o.set("parameters", object{{"max_new_tokens", e.prompt.Output}})
	}
	for _, x := range t.set.Extra {
		o.set(x.Name, x.Value)
	}
	return o
}

// tritonInput are the tensors of a request, as the original writes them down.
func (t *tool) tritonInput(e *entry, model string) object {
	o := object{{"model", model}, {"text_input", e.text}}
	if t.set.Backend == "vllm" {
		o.set("exclude_input_in_output", true)
		if t.set.Streaming {
			o.set("stream", true)
		}
		if n := fmt.Sprint(e.prompt.Output); e.prompt.Output > 0 {
			sampling := object{{"max_tokens", n}}
			if t.set.Deterministic {
				sampling.set("min_tokens", n)
			}
			if text, err := compact(sampling); err == nil {
				o.set("sampling_parameters", string(text))
			}
		}
	} else {
		o.set("max_tokens", e.prompt.Output)
		o.set("exclude_input_in_output", true)
		if t.set.Streaming {
			o.set("stream", true)
		}
		if t.set.Deterministic {
			o.set("min_length", e.prompt.Output)
		}
	}
	for _, x := range t.set.Extra {
		o.set(x.Name, x.Value)
	}
	return o
}

// inputs is the file of all prompts, as Perf Analyzer reads it.
func (t *tool) inputs() ([]byte, error) {
	var data []any
	for _, e := range t.entries {
		if t.set.ServiceKind != "triton" {
			one := object{{"payload", []json.RawMessage{e.body}}}
			if e.session != "" {
				one.set("session_id", []string{e.session})
			}
			if e.delay > 0 {
				one.set("delay", []int64{e.delay.Milliseconds()})
			}
			data = append(data, one)
			continue
		}
		var lists object
		for _, m := range e.input {
			if m.name == "model" {
				lists = append(lists, m)
				continue
			}
			lists = append(lists, member{m.name, []any{m.value}})
		}
		data = append(data, lists)
	}
	text, err := compact(object{{"data", data}})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, text, "", "  ")
	return b.Bytes(), err
}
