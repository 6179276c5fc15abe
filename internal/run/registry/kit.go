// Package registry is everything that a plan can name: protocols, sources of prompts,
// tokenizers. What a run is put together from comes out of it.
package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/protocols"
	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/probe"
	"github.com/inferometer/inferometer/internal/probe/power"
	"github.com/inferometer/inferometer/internal/probe/prometheus"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/sources"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/chat"
	"github.com/inferometer/inferometer/internal/token/jinja"
	"github.com/inferometer/inferometer/internal/token/loader"
)

// Kit is what a run is put together from.
type Kit struct {
	Protocols  map[string]endpoint.Protocol
	Sources    map[string]prompt.Factory
	Pages      PageFactory
	Archives   ArchiveFactory
	Meters     MeterFactory
	Tokenizers TokenizerFinder
	// Getenv looks variables up: the API key's, and those that name proxies.
	Getenv func(string) string
	// Ready are prompts made ahead, for a run of their plan; nil: the run makes its own.
	Ready *Prompts
	// Server tokenizes as the server under test does, for prompts that are cut by it; nil means it is not asked.
	Server prompt.TokenServer
	// Tell tells the user of what takes long, before it is done; optional.
	Tell func(text string)
}

// TokenizerFinder finds the tokenizer that a user names, and its chat template.
type TokenizerFinder func(ctx context.Context, name, revision string, l plan.Limits) (*loader.Found, error)

// Offline is Default without the hub: of that it has what the local cache holds.
func Offline(getenv func(string) string) Kit {
	return Default(func(name string) string {
		if name == "HF_HUB_OFFLINE" {
			return "1"
		}
		return getenv(name)
	})
}

// Default is everything that is built in. getenv looks variables up, the hub's settings
// among them.
func Default(getenv func(string) string) Kit {
	return Kit{
		Getenv:     getenv,
		Protocols:  protocols.All(),
		Sources:    sources.All(getenv),
		Pages:      newPage,
		Archives:   newArchive,
		Meters:     newMeter,
		Tokenizers: Tokenizers(getenv),
	}
}

// Known are the names of what is built in.
func Known() planfile.Known {
	k := Default(nil)
	return planfile.Known{Protocols: slices.Sorted(maps.Keys(k.Protocols)), Sources: slices.Sorted(maps.Keys(k.Sources)), Gate: gated}
}

func gated(c plan.Condition, p *plan.Plan) (wrong, hint string) {
	g, err := gate.Read(c)
	if err == nil {
		err = g.Check(p)
	}
	var fault *gate.Error
	if errors.As(err, &fault) {
		return fault.Text, fault.Hint
	}
	return "", ""
}

// Tokenizers finds tokenizers. getenv looks up the hub's settings.
func Tokenizers(getenv func(string) string) TokenizerFinder {
	return func(ctx context.Context, name, revision string, l plan.Limits) (*loader.Found, error) {
		return loader.Finder{Env: getenv, Limits: loader.Limits{
			Files:     limitio.Limit{Name: plan.LimitTokenizer, Bytes: int64(l.Tokenizer)},
			Downloads: limitio.Limit{Name: plan.LimitDownload, Bytes: int64(l.Download)},
			Expansion: l.Expansion,
			Template:  jinja.Limits{Text: int64(l.Template), Steps: l.Steps},
		}}.Find(ctx, name, revision)
	}
}

// Pick finds a name in one of the kit's tables.
func Pick[F any](table map[string]F, what, name string) (F, error) {
	f, ok := table[name]
	if !ok {
		return f, fmt.Errorf("there is no %s %q", what, name)
	}
	return f, nil
}

// MeterFactory starts what reads the power of this machine's GPUs, and hands on what it reads.
type MeterFactory func(ctx context.Context, p *plan.Plan, every time.Duration, now func() time.Duration,
	take func(record.Power)) (probe.PowerReader, error)

func newMeter(ctx context.Context, p *plan.Plan, every time.Duration, now func() time.Duration,
	take func(record.Power)) (probe.PowerReader, error) {
	m, err := power.Start(ctx, power.Options{Devices: p.Cost.Devices, Every: every, Now: now, Take: take})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Tokenizer finds the tokenizer of a plan. One that is optional and is unavailable is
// replaced by the built-in one, in the plan too, and the log says so.
func (k Kit) Tokenizer(ctx context.Context, p *plan.Plan, log message.Log) (*loader.Found, error) {
	want := p.Tokenizer
	found, err := k.Tokenizers(ctx, want.Name, want.Revision, p.Limits)
	if err == nil || !want.Optional || ctx.Err() != nil {
		return found, err
	}
	reason, _, _ := strings.Cut(err.Error(), "\n")
	log.Printf("The tokenizer %s could not be loaded: %s. Using %s instead%v.\n", want.Name, strings.TrimSuffix(reason, "."), plan.TokenizerBuiltin,
		message.New("; %v names another", message.Tokenizer).Or(""))
	p.Tokenizer = plan.Tokenizer{Name: plan.TokenizerBuiltin}
	return k.Tokenizers(ctx, plan.TokenizerBuiltin, "", p.Limits)
}

// templateOptions are what a server renders the chat template with, given the plan's extra fields.
func templateOptions(p *plan.Plan, found *loader.Found) chat.Options {
	o := chat.Options{Special: found.Chat.Special, AddGenerationPrompt: true}
	if add, ok := p.Target.Body["add_generation_prompt"].(bool); ok {
		o.AddGenerationPrompt = add
	}
	if on, ok := p.Target.Body["continue_final_message"].(bool); ok && on {
		o.ContinueFinalMessage, o.AddGenerationPrompt = true, false
	}
	o.Extra, _ = p.Target.Body["chat_template_kwargs"].(map[string]any)
	return o
}

// specials is how many special tokens a server puts around the text of a completion.
func specials(p *plan.Plan, found *loader.Found) int {
	add, given := p.Target.Body["add_special_tokens"].(bool)
	e, ok := found.Tokenizer.(*token.Pipeline)
	if !ok || given && !add || p.Data.TokenIDs ||
		p.Target.Endpoint != plan.EndpointCompletions || p.Target.Protocol != plan.ProtocolOpenAI || p.Target.Shaped() {
		return 0
	}
	return len(e.Encode("", true))
}

// PageFactory makes what reads one of the pages of metrics that a plan names.
type PageFactory func(p *plan.Plan, page int, o endpoint.Options) probe.Page

// newPage gives the API key to the servers under test alone, and asks only them from their
// addresses.
func newPage(p *plan.Plan, page int, o endpoint.Options) probe.Page {
	address := p.Pages()[page]
	opt := prometheus.PageOptions{Now: o.Clock.Now, TLS: o.TLS}
	for _, t := range p.Target.URLs {
		if sameHost(t, address) {
			if opt.Key = o.Key; o.Live != nil {
				opt.Live = o.Live
			}
		}
		if hostname(t) == hostname(address) {
			opt.Sources = p.Target.SourceAddresses
		}
	}
	return prometheus.NewPage(address, opt)
}

func sameHost(a, b string) bool {
	x, err := url.Parse(a)
	y, also := url.Parse(b)
	return err == nil && also == nil && x.Scheme == y.Scheme && x.Host == y.Host
}

func hostname(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// ArchiveFactory makes what asks the Prometheus server that a plan names.
type ArchiveFactory func(ctx context.Context, p *plan.Plan, o endpoint.Options) (probe.RangeQuerier, error)

func newArchive(ctx context.Context, p *plan.Plan, o endpoint.Options) (probe.RangeQuerier, error) {
	return prometheus.NewClient(ctx, p.Probes.Prometheus, prometheus.Options{
		Start: o.Clock.Start(), Model: p.Target.Model, TLS: o.TLS, Getenv: o.Getenv,
	})
}
