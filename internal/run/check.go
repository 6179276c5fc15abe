package run

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/lib/errlist"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/remote/hub"
	"github.com/inferometer/inferometer/internal/run/breaker"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/run/search"
	"github.com/inferometer/inferometer/internal/run/target"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// Check reads every file that a plan names, as a run of it would, and tells of all that is
// wrong with them. Of what the plan has made up it makes a sample. It asks no server and no hub: the kit is to be
// registry.Offline's. The notes say what could not be looked at from here.
func Check(ctx context.Context, p *plan.Plan, k registry.Kit) (notes []string, err error) {
	c := &check{plan: p, kit: k}
	secrets := c.secrets()
	_, err = breaker.New(p.Breakers, func(record.StopReason) {})
	c.add(err)
	if p.Capacity.On() {
		c.add(search.CheckObjectives(p))
	}
	c.prompts(ctx, secrets.TLS)
	return c.notes, errlist.Distinct(errors.Join(c.errs...))
}

// withFiles adds what is wrong with the plan's files to what else stands in the run's way, so
// that the user need not come back for it.
func (p *setup) withFiles(ctx context.Context, err error) error {
	if ctx.Err() != nil || p.opt.Kit.Ready != nil {
		return err
	}
	_, files := Check(ctx, p.plan, registry.Offline(p.opt.Kit.Getenv))
	return errlist.Distinct(errors.Join(err, files))
}

type check struct {
	plan  *plan.Plan
	kit   registry.Kit
	notes []string
	errs  []error
}

// add takes an error down. What only the hub could tell is none.
func (c *check) add(err error) {
	var missing *hub.Error
	switch {
	case errors.Is(err, hub.ErrOffline) && errors.As(err, &missing):
		c.notes = append(c.notes, fmt.Sprintf("the %s %s is not in the local cache: the run will fetch it, and what it holds was not checked", missing.Repo.Kind, missing.Repo.Name))
	case err != nil:
		c.errs = append(c.errs, err)
	}
}

// secrets reads the key and the certificates. A variable may well be set only where the
// plan is run.
func (c *check) secrets() target.Secrets {
	t := c.plan.Target
	if name := t.APIKey.Env; name != "" {
		t.APIKey.Env = ""
		if c.kit.Getenv(name) == "" {
			c.notes = append(c.notes, fmt.Sprintf("the API key will be wanted in the environment variable %s, which is not set here", name))
		}
	}
	t.OAuth = plan.OAuth{} // whose server the run asks
	s, err := target.ReadSecrets(context.Background(), t, c.plan.Limits, c.kit.Getenv)
	c.add(err)
	return s
}

// prompts finds the tokenizer, opens what prompts come from, and makes the first request.
func (c *check) prompts(ctx context.Context, config *tls.Config) {
	want := c.plan.Tokenizer
	if want.Name == plan.TokenizerServer {
		want.Name = plan.TokenizerBuiltin
	}
	found, err := c.kit.Tokenizers(ctx, want.Name, want.Revision, c.plan.Limits)
	if err != nil {
		if !want.Optional {
			c.add(err)
		}
		// The data can have faults of its own, whoever counts its tokens.
		if found, err = c.kit.Tokenizers(ctx, plan.TokenizerBuiltin, "", c.plan.Limits); err != nil {
			c.add(err)
			return
		}
	}
	sample := sampled(c.plan)
	prompts, err := c.kit.Prompts(ctx, sample, found)
	if err == nil {
		_, err = scheduleOf(sample, prompts.Source)
	}
	var first *prompt.Prompt
	if err == nil {
		var p prompt.Prompt
		if p, err = prompts.Source.Prompt(ctx, prompt.Position{}); err == nil && p.Play == nil && p.Late == nil {
			first = &p
		}
	}
	if !errors.Is(err, io.EOF) {
		c.add(err)
	}
	c.endpoint(endpoint.Options{Clock: timedconn.NewClock(), TLS: config, Getenv: c.kit.Getenv, Data: sample.Data,
		Tokenizer: found.Tokenizer}, first)
}

// endpoint makes what asks the server, and a request of the first prompt where there is one.
func (c *check) endpoint(o endpoint.Options, first *prompt.Prompt) {
	protocol, err := registry.Pick(c.kit.Protocols, "protocol", c.plan.Target.Protocol)
	if err != nil {
		c.add(err)
		return
	}
	if len(c.plan.Target.URLs) == 0 || protocol.Describes {
		return
	}
	e, err := protocol.Open(c.plan.Target, o)
	if err != nil {
		c.add(err)
		return
	}
	defer e.Close()
	if first != nil {
		_, err = e.Prepare(first)
		c.add(err)
	}
}
