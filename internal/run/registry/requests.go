package registry

import (
	"context"
	"fmt"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/batched"
	"github.com/inferometer/inferometer/internal/prompt/multimodal"
	"github.com/inferometer/inferometer/internal/prompt/pool"
	"github.com/inferometer/inferometer/internal/prompt/shaped"
	"github.com/inferometer/inferometer/internal/prompt/systemprompt"
	"github.com/inferometer/inferometer/internal/prompt/tokenids"
	"github.com/inferometer/inferometer/internal/token/loader"
)

// noter is a source that has something to tell the user.
type noter interface{ Notes() []string }

// scripted is a source that knows all turns of its sessions ahead.
type scripted interface {
	Turns(ctx context.Context) ([]prompt.Scripted, error)
}

// add puts together what one request holds: media, and several texts where there are
// several.
func (k Kit) add(ctx context.Context, p *plan.Plan, found *loader.Found, out *Prompts) error {
	if s, ok := out.Source.(prompt.Finite); ok {
		out.Sessions = s.Sessions()
	}
	if s, ok := out.Source.(noter); ok {
		out.Notes = append(out.Notes, s.Notes()...)
	}
	// Only shaped requests are listed ahead, and a trace can be long.
	if s, ok := out.Source.(scripted); ok && p.Target.Shaped() {
		var err error
		if out.Turns, err = s.Turns(ctx); err != nil {
			return err
		}
	}
	// A batch's media are its texts'; of shaped requests they are counted for the whole.
	whole := p.Target.Shaped()
	if !whole {
		out.illustrate(p)
	}
	if err := k.batch(ctx, p, found, out); err != nil {
		return err
	}
	if whole {
		out.illustrate(p)
	}
	if n := p.Data.SystemPrompt; n > 0 {
		s, err := systemprompt.New(out.Source, n, p.Target.Chats(), found.Tokenizer, p.Seed)
		if err != nil {
			return err
		}
		out.Source = s
	}
	if p.Data.TokenIDs {
		e, ok := found.Tokenizer.(tokenids.IDEncoder)
		if !ok {
			return plan.Faults{{Path: "data.token_ids", Text: "tokenizer " + found.Tokenizer.Name() + " has no ids", Hint: "name the model's tokenizer"}}
		}
		out.Source = tokenids.New(out.Source, e)
	}
	return nil
}

// illustrate puts media into prompts. Those with a shared prefix have theirs already, behind it.
func (out *Prompts) illustrate(p *plan.Plan) {
	if m := &p.Data.Media; !m.None() && p.Data.Source != plan.SourceSharedPrefix {
		out.Source = multimodal.New(out.Source, *m, p.Seed)
	}
}

func (k Kit) batch(ctx context.Context, p *plan.Plan, found *loader.Found, out *Prompts) error {
	d, ranks := &p.Data, p.Target.Ranks()
	if d.Passages == (plan.Passages{}) {
		if ranks || d.Batch > 1 {
			out.Source = batched.New(out.Source, d.Batch, ranks)
		}
		return nil
	}
	from := plan.Data{Source: plan.SourceFile, File: d.Passages.File, Limits: d.Limits}
	if d.Passages.File == "" {
		from = plan.Data{Source: plan.SourceSynthetic, Input: d.Input, Corpus: d.Corpus, Limits: d.Limits}
	}
	newSource, err := Pick(k.Sources, "data source", from.Source)
	if err != nil {
		return err
	}
	texts, err := newSource(from, found.Tokenizer, prompt.Mix(p.Seed^'p'))
	if err != nil {
		return err
	}
	n := d.Passages.Count
	if s, ok := texts.(prompt.Finite); ok && n == 0 {
		n = s.Sessions()
	}
	passages := make([]prompt.Prompt, n)
	for i := range passages {
		if passages[i], err = texts.Prompt(ctx, prompt.Position{I: uint64(i)}); err != nil {
			return fmt.Errorf("making the passages to rank: %w", err)
		}
	}
	out.Source = batched.Draw(out.Source, passages, d.Batch, p.Seed)
	return nil
}

// finish makes requests of prompts: the form of their bodies, and a pool of them.
func (out *Prompts) finish(ctx context.Context, p *plan.Plan) error {
	if p.Target.Shaped() {
		s, err := shaped.New(out.Source, p.Target, p.Data)
		if err != nil {
			return err
		}
		for i := range out.Turns {
			if out.Turns[i].Prompt, err = s.Change(out.Turns[i].Prompt); err != nil {
				return err
			}
		}
		out.Source = s
	}
	if !p.Data.Pool {
		return nil
	}
	n := p.Data.Prompts
	if out.Sessions > 0 {
		n = out.Sessions
	}
	if each := max(p.Data.Batch, 1); p.Data.Passages == (plan.Passages{}) && each > 1 && !p.Target.Ranks() {
		if n < each {
			return plan.Faults{{Path: "data.batch", Text: fmt.Sprintf("a request holds %d texts, and there are %d", each, n), Hint: "take smaller batches"}}
		}
		n /= gcd(n, each) // the last texts and the first make batches too, so that none is left out
	}
	s, err := pool.New(ctx, out.Source, n)
	if err != nil {
		return err
	}
	out.Source, out.Sessions = s, s.Sessions()
	return nil
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
