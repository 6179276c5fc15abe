package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/synthetic"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/run/target"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/chat"
	"github.com/inferometer/inferometer/internal/token/learned"
	"github.com/inferometer/inferometer/internal/token/loader"
)

// Looking for the model's tokenizer ends after these times: a run without it is better than none.
const (
	hubTime    = 30 * time.Second
	serverTime = 30 * time.Second
)

// tokenizer is what makes and counts tokens: the one that the plan names, or where it wants exact
// lengths and names none of the model's, the best that is found. What it is stands in the plan then.
func (p *setup) tokenizer(ctx context.Context, secrets target.Secrets) (*loader.Found, error) {
	t := &p.plan.Tokenizer
	if t.Name == plan.TokenizerServer {
		return p.learn(ctx, secrets)
	}
	if !t.Find || !t.StandIn() || p.opt.Kit.Ready != nil {
		return p.opt.Kit.Tokenizer(ctx, p.plan, p.log())
	}
	if found := p.ofModel(ctx); found != nil {
		p.log().Printf("Prompts are made with the tokenizer of %s.\n", p.plan.Target.Model)
		t.Name, t.Optional = p.plan.Target.Model, true // workers may be without it
		return found, nil
	}
	found, err := p.learn(ctx, secrets)
	if err == nil {
		p.log().Printf("Prompts are made to the lengths that the server's /tokenize counts.\n")
		t.Name = plan.TokenizerServer
		return found, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p.log().Printf("The model's tokenizer was not found, and the server does not tokenize: prompt lengths are in GPT-2 tokens%v.\n",
		message.New("; name the model's with %v", message.Tokenizer).Or(""))
	return p.opt.Kit.Tokenizer(ctx, p.plan, p.log())
}

// ofModel is the tokenizer of the model that is served, where its name is one of the hub's or a
// directory's: from the local cache, else from the hub. nil means there is none available.
func (p *setup) ofModel(ctx context.Context) *loader.Found {
	model := p.plan.Target.Model
	if !strings.Contains(model, "/") {
		return nil
	}
	offline := registry.Offline(p.opt.Kit.Getenv).Tokenizers
	if found, err := offline(ctx, model, "", p.plan.Limits); err == nil {
		return found
	}
	ctx, cancel := context.WithTimeout(ctx, hubTime)
	defer cancel()
	found, err := p.opt.Kit.Tokenizers(ctx, model, "", p.plan.Limits)
	if err != nil {
		return nil
	}
	return found
}

// learn makes a tokenizer of what the server says of the text that prompts are cut out of.
func (p *setup) learn(ctx context.Context, secrets target.Secrets) (*loader.Found, error) {
	other, err := token.ByName(plan.TokenizerBuiltin)
	if err != nil {
		return nil, err
	}
	if len(p.plan.Target.URLs) == 0 || p.plan.Data.Corpus != "" {
		return nil, errors.New("the server's tokenizer is for prompts of the built-in text, sent to a server that has a URL")
	}
	ctx, cancel := context.WithTimeout(ctx, serverTime)
	defer cancel()
	server := target.OpenTokenServer(&p.plan.Target, secrets, p.opt.Kit.Getenv)
	defer server.Client.CloseIdleConnections()
	learnt, err := learned.New(ctx, plan.TokenizerServer, synthetic.Book(), other, server.Tokens)
	if err != nil {
		return nil, fmt.Errorf("learning the lengths of words from the server: %w", err)
	}
	return &loader.Found{Tokenizer: learnt, Chat: &chat.Config{}}, nil
}
