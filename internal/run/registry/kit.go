// Package registry is everything that a plan can name: protocols, sources of prompts,
// tokenizers. What a run is put together from comes out of it.
package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/protocols"
	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/sources"
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
	// Ready are prompts that were made ahead, for a run of the plan that they are of; nil:
	// the run makes its own.
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
