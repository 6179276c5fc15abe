// Package shaped gives the prompts of another source whole requests of one of the plan's forms:
// bodies with its fields, in its order, and for Triton's gRPC all tensors.
package shaped

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/orderedjson"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/token/chat"
)

// object keeps the order of its members.
type object = orderedjson.Object

// Source is another source whose prompts have bodies.
type Source struct {
	prompt.Wrapper
	target   plan.Target
	minimum  bool              // the output length is also the least
	eos      bool              // responses go on behind their end
	release  string            // of plan.VLLM, whose form bodies have
	template *chat.Template    // makes bodies; nil means they have a shape of their own
	model    *tensor.Signature // that is to take tensors; nil means not known, or none
	// TextOnly: media that prompts hold are left out.
	TextOnly bool
}

// New shapes the prompts of a source for a target, of responses that are as the data wants them.
func New(s prompt.Source, t plan.Target, d plan.Data) (*Source, error) {
	out := &Source{
		Wrapper: prompt.Wrapper{Source: s}, target: t, minimum: d.MinTokens, eos: d.IgnoreEOS, release: d.VLLM.Release, TextOnly: d.TextOnly,
	}
	if t.Endpoint != plan.EndpointTemplate {
		return out, nil
	}
	var err error
	out.template, err = readTemplate(t.Template)
	return out, err
}

// Prompt implements prompt.Source.
func (s *Source) Prompt(ctx context.Context, at prompt.Position) (prompt.Prompt, error) {
	return prompt.AtChanged(ctx, s.Source, at, s)
}

// Change gives a prompt its body, and those that follow it when they come. Its hash is
// that of all that sets its request apart from others.
func (s *Source) Change(p prompt.Prompt) (prompt.Prompt, error) {
	p = prompt.TransformFollowUps(p, s)
	if p.Late != nil {
		return p, nil
	}
	if p.Body != nil || p.Inputs != nil {
		return p, nil
	}
	if s.TextOnly {
		p = withoutMedia(p)
	}
	model := p.Model
	if model == "" {
		model = s.target.Model
	}
	var err error
	switch {
	case s.target.Form == plan.FormVLLM:
		p.Body, err = s.bench(&p, model)
	case s.template != nil:
		p.Body, err = s.render(&p, model)
	case s.target.Protocol != plan.ProtocolTriton:
		p.Body, err = orderedjson.Compact(s.body(&p, model))
	case s.target.Endpoint == plan.EndpointGenerate:
		p.Body, err = orderedjson.Compact(s.generate(&p))
	default:
		return s.tensored(p)
	}
	if err != nil {
		return p, fmt.Errorf("making the body of a request: %w", err)
	}
	p.Hash = prompt.HashText(string(p.Body))
	return p, nil
}

// withoutMedia is a prompt of nothing but its text.
func withoutMedia(p prompt.Prompt) prompt.Prompt {
	p.Parts = nil
	p.Messages = slices.Clone(p.Messages)
	for i := range p.Messages {
		p.Messages[i].Parts = nil
	}
	return p
}

func (s *Source) body(p *prompt.Prompt, model string) object {
	o := object{{"model", model}}
	switch s.target.Endpoint {
	case plan.EndpointCompletions:
		o.Set("prompt", prompts(p))
	case plan.EndpointEmbeddings:
		o.Set("input", append(texts(p), urls(p)...))
	case plan.EndpointRankings:
		var list []object
		for _, text := range p.Texts {
			list = append(list, object{{"text", text}})
		}
		o = object{{"query", object{{"text", plain(p, " ")}}}, {"passages", list}, {"model", model}}
	case plan.EndpointRerank:
		o = object{{"query", plain(p, " ")}, {"texts", p.Texts}}
	case plan.EndpointRetrieval:
		var list []object
		for _, url := range urls(p) {
			list = append(list, object{{"type", "image_url"}, {"url", url}})
		}
		o = object{{"input", list}}
	case plan.EndpointTGI:
		return s.huggingFace(p, o)
	default:
		o.Set("messages", messages(p))
	}
	if s.target.Streaming {
		o.Set("stream", true)
	}
	if p.Output > 0 && s.target.Generates() {
		o.Set("max_tokens", p.Output)
	}
	return s.add(o, p)
}

// add sets the fields that every request has and the prompt's own.
func (s *Source) add(o object, p *prompt.Prompt) object {
	for _, name := range slices.Sorted(maps.Keys(s.target.Body)) {
		o.Set(name, s.target.Body[name])
	}
	for _, f := range p.Fields {
		o.Set(f.Name, f.Value)
	}
	return o
}

// huggingFace is a request of Text Generation Inference: images stand in the text, parameters
// apart.
func (s *Source) huggingFace(p *prompt.Prompt, o object) object {
	var parts []string
	for _, url := range urls(p) {
		parts = append(parts, "![]("+url+")")
	}
	o.Set("inputs", strings.Join(append(parts, texts(p)...), " "))
	if s.target.Streaming {
		o.Set("stream", true)
	}
	if p.Output > 0 {
		o.Set("parameters", object{{"max_new_tokens", p.Output}})
	}
	return s.add(o, p)
}

func messages(p *prompt.Prompt) []object {
	list := p.Messages
	if len(list) == 0 {
		list = []prompt.Message{{Role: "user", Content: p.Text, Parts: p.Parts}}
	}
	out := make([]object, len(list))
	for i := range list {
		out[i] = object{{"role", list[i].Role}, {"content", content(&list[i])}}
	}
	return out
}

// content is what a message holds: a text, or a list of parts.
func content(m *prompt.Message) any {
	if m.Parts == nil {
		return m.Content
	}
	parts := make([]object, len(m.Parts))
	for i := range m.Parts {
		switch part := &m.Parts[i]; part.Kind {
		case prompt.Image:
			parts[i] = object{{"type", "image_url"}, {"image_url", object{{"url", address(part)}}}}
		case prompt.Video:
			parts[i] = object{{"type", "video_url"}, {"video_url", object{{"url", address(part)}}}}
		case prompt.Audio:
			parts[i] = object{{"type", "input_audio"}, {"input_audio", object{{"data", base64.StdEncoding.EncodeToString(part.Data)}, {"format", part.Format()}}}}
		default:
			parts[i] = object{{"type", "text"}, {"text", part.Text}}
		}
	}
	return parts
}

// address is where a medium is, or its bytes as a data URL.
func address(p *prompt.Part) string {
	if p.URL != "" {
		return p.URL
	}
	return "data:" + p.Type + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}

func urls(p *prompt.Prompt) []string {
	var list []string
	for i := range p.Parts {
		if p.Parts[i].Kind == prompt.Image {
			list = append(list, address(&p.Parts[i]))
		}
	}
	return list
}

func texts(p *prompt.Prompt) []string {
	if p.Texts != nil {
		return slices.Clone(p.Texts)
	}
	if text := plain(p, " "); text != "" {
		return []string{text}
	}
	return nil
}

// prompts are the texts of a request that has at least one, be it empty.
func prompts(p *prompt.Prompt) []string {
	if list := texts(p); list != nil {
		return list
	}
	return []string{""}
}

func plain(p *prompt.Prompt, between string) string {
	if len(p.Messages) == 0 {
		return p.Text
	}
	parts := make([]string, len(p.Messages))
	for i, m := range p.Messages {
		parts[i] = m.Content
	}
	return strings.Join(parts, between)
}
