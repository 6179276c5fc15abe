package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/adapters"
	"github.com/inferometer/inferometer/internal/prompt/chattemplate"
	"github.com/inferometer/inferometer/internal/prompt/schedule"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/chat"
	"github.com/inferometer/inferometer/internal/token/loader"
)

// Prompts are where a plan's prompts come from.
type Prompts struct {
	Source prompt.Source
	// Templated: they are counted with the model's chat template around them.
	Templated bool
	// Sessions is how many the source has before it begins anew; 0: it does not say.
	Sessions int
	// Turns are all requests of sessions that are known ahead, each without what is said
	// before it, for tools that list them, or nil.
	Turns []prompt.Scripted
	Notes []string // worth telling the user
}

// Prompts makes the source of a plan's prompts, which ends when ctx does. The model's own tokenizer
// counts chats in its template, as the server does.
func (k Kit) Prompts(ctx context.Context, p *plan.Plan, found *loader.Found) (Prompts, error) {
	if k.Ready != nil {
		return *k.Ready, nil
	}
	p.Data.Limits = p.Limits
	out, err := k.prompts(ctx, p, found)
	if err == nil && len(p.Data.Adapters) > 0 {
		models := adapters.New(out.Source, p.Data.Adapters, p.Data.ModelOrder, p.Seed)
		models.Name(out.Turns)
		out.Source = models
	}
	if err == nil {
		err = out.finish(ctx, p)
	}
	if err == nil && p.Data.Trace.Arrivals != "" {
		out.Source, err = schedule.New(out.Source, p.Data.Trace, prompt.Files(p.Data).ReadFile)
	}
	return out, err
}

func (k Kit) prompts(ctx context.Context, p *plan.Plan, found *loader.Found) (Prompts, error) {
	var out Prompts
	newSource, err := Pick(k.Sources, "data source", p.Data.Source)
	if err != nil {
		return out, err
	}
	if e, ok := found.Tokenizer.(*token.Pipeline); ok {
		for _, note := range e.Notes() {
			out.Notes = append(out.Notes, fmt.Sprintf("%s: %s.", e.Name(), note))
		}
	}
	out.Source, err = until(ctx, func() (prompt.Source, error) { return newSource(p.Data, found.Tokenizer, p.Seed) })
	if s, ok := out.Source.(prompt.Opener); ok && err == nil {
		err = s.Open(ctx, k.use(p, found))
	}
	if err == nil {
		err = k.add(ctx, p, found, &out)
	}
	if err != nil || p.Tokenizer.StandIn() || p.Data.Source == plan.SourceTensors {
		return out, err
	}
	if !p.Target.Chats() {
		if n := specials(p, found); n > 0 {
			out.Source = chattemplate.Between(out.Source, n)
		}
		return out, nil
	}
	if p.Target.PlainCounts() {
		return out, nil
	}
	template, err := found.Chat.Template("", false)
	if errors.Is(err, chat.ErrNoTemplate) {
		out.Notes = append(out.Notes, fmt.Sprintf("%s comes without a chat template: prompts are counted without it.", found.Tokenizer.Name()))
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out.Source = chattemplate.New(out.Source, template, templateOptions(p, found), found.Tokenizer)
	out.Templated = true
	return out, nil
}

// until makes something that may take long, unless ctx ends before. What was begun by then
// goes on unseen: it reads, counts and leaves nothing behind.
func until[T any](ctx context.Context, construct func() (T, error)) (T, error) {
	type outcome struct {
		made T
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		made, err := construct()
		done <- outcome{made, err}
	}()
	select {
	case o := <-done:
		return o.made, o.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// fields reports whether a line's fields can go with its request. A shaped one has its form's
// alone.
func fields(t *plan.Target) bool {
	return !t.Shaped() && (t.Protocol == plan.ProtocolOpenAI || t.Protocol == plan.ProtocolAnthropic)
}

func (k Kit) use(p *plan.Plan, found *loader.Found) prompt.Use {
	u := prompt.Use{
		Chat: p.Target.Chats(), Fields: fields(&p.Target), Tell: k.Tell, Server: k.Server, Specials: prompt.Specials(found.Tokenizer),
	}
	template, err := found.Chat.Template("", false)
	if err != nil {
		return u
	}
	options := chat.Options{Special: found.Chat.Special, AddGenerationPrompt: true, Extra: p.Data.VLLM.Template}
	u.Wrap = func(text string) (string, error) {
		return template.Render([]chat.Message{chat.NewMessage("user", text)}, options)
	}
	return u
}
