// Package kit is the table of everything that a plan can name: endpoints, sources
// of prompts, tokenizers. It is the one place that knows the concrete types.
package kit

import (
	"context"
	"fmt"
	"os"

	"inferometer/internal/endpoint"
	"inferometer/internal/endpoint/anthropic"
	"inferometer/internal/endpoint/jsonhttp"
	"inferometer/internal/endpoint/openai"
	"inferometer/internal/endpoint/predict"
	"inferometer/internal/endpoint/triton"
	"inferometer/internal/lib/bounded"
	"inferometer/internal/plan"
	"inferometer/internal/prompt"
	"inferometer/internal/prompt/agents"
	"inferometer/internal/prompt/conversations"
	"inferometer/internal/prompt/dataset"
	"inferometer/internal/prompt/mockdata"
	"inferometer/internal/prompt/oteltrace"
	"inferometer/internal/prompt/promptfile"
	"inferometer/internal/prompt/random"
	"inferometer/internal/prompt/sharedprefix"
	"inferometer/internal/prompt/synthetic"
	"inferometer/internal/prompt/talks"
	"inferometer/internal/prompt/tensordata"
	"inferometer/internal/prompt/wekatrace"
	"inferometer/internal/token/chat"
	"inferometer/internal/token/source"
)

// Kit is what a run is put together from.
type Kit struct {
	Endpoints  map[string]EndpointFactory
	Decoders   map[string]DecoderFactory
	Sources    map[string]SourceFactory
	Probes     map[string]ProbeFactory // by protocol; some have none
	Pages      PageFactory
	Archives   ArchiveFactory
	Tokenizers TokenizerFinder
	// Ready are prompts that were made ahead, for a run of the plan that they are of; nil:
	// the run makes its own.
	Ready *Prompts
	// Tell tells the user of what takes long, before it is done; nil: nobody listens.
	Tell func(text string)
}

// EndpointFactory makes an endpoint of a target.
type EndpointFactory func(t plan.Target, o endpoint.Options) (endpoint.Endpoint, error)

// TokenizerFinder finds the tokenizer that a user names, and its chat template.
type TokenizerFinder func(ctx context.Context, name, revision string, l plan.Limits) (*source.Found, error)

// DecoderFactory makes the decoder of an endpoint's answers. own: the tokenizer is
// that of the model.
type DecoderFactory func(t plan.Target, tok prompt.Tokenizer, own bool) endpoint.Decoder

// SourceFactory makes a source of prompts.
type SourceFactory func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error)

// Default is everything that is built in.
func Default() Kit { return builtIn(os.Getenv) }

// Offline is the same without the hub: of that it has what the local cache holds.
func Offline() Kit {
	return builtIn(func(name string) string {
		if name == "HF_HUB_OFFLINE" {
			return "1"
		}
		return os.Getenv(name)
	})
}

// builtIn is everything that is built in. getenv looks up the hub's settings.
func builtIn(getenv func(string) string) Kit {
	return Kit{
		Endpoints:  endpoints(),
		Decoders:   decoders(),
		Sources:    sources(getenv),
		Probes:     probes(),
		Pages:      newPage,
		Archives:   newArchive,
		Tokenizers: Tokenizers(getenv),
	}
}

// Tokenizers finds tokenizers. getenv looks up the hub's settings.
func Tokenizers(getenv func(string) string) TokenizerFinder {
	return func(ctx context.Context, name, revision string, l plan.Limits) (*source.Found, error) {
		return source.Finder{Env: getenv, Limits: source.Limits{
			Files:     bounded.Limit{Name: plan.LimitTokenizer, Bytes: int64(l.Tokenizer)},
			Downloads: bounded.Limit{Name: plan.LimitDownload, Bytes: int64(l.Download)},
			Expansion: l.Expansion,
			Template:  chat.Limits{Text: int64(l.Template), Steps: l.Steps},
		}}.Find(ctx, name, revision)
	}
}

// endpoints are the ways to ask a server, by protocol.
func endpoints() map[string]EndpointFactory {
	return map[string]EndpointFactory{
		plan.ProtocolOpenAI:     factory(openai.New),
		plan.ProtocolAnthropic:  factory(anthropic.New),
		plan.ProtocolHTTP:       factory(jsonhttp.New),
		plan.ProtocolTFServing:  factory(predict.NewTensorFlow),
		plan.ProtocolTorchServe: factory(predict.NewTorch),
		plan.ProtocolTriton:     factory(triton.New),
	}
}

// factory makes an Endpoint with the constructor of a concrete one. What fails is nil
// itself: a nil pointer in an interface is not.
func factory[E endpoint.Endpoint](construct func(plan.Target, endpoint.Options) (E, error)) EndpointFactory {
	return func(t plan.Target, o endpoint.Options) (endpoint.Endpoint, error) {
		e, err := construct(t, o)
		if err != nil {
			return nil, err
		}
		return e, nil
	}
}

// decoders read the answers, by protocol.
func decoders() map[string]DecoderFactory {
	return map[string]DecoderFactory{
		plan.ProtocolOpenAI: func(t plan.Target, tok prompt.Tokenizer, own bool) endpoint.Decoder {
			return openai.NewDecoder(openai.Kind(t.Endpoint), tok, own)
		},
		plan.ProtocolAnthropic: func(_ plan.Target, tok prompt.Tokenizer, own bool) endpoint.Decoder {
			return anthropic.NewDecoder(tok, own)
		},
		plan.ProtocolHTTP: func(t plan.Target, tok prompt.Tokenizer, own bool) endpoint.Decoder {
			return jsonhttp.NewDecoder(t.Endpoint, tok, own)
		},
		plan.ProtocolTFServing: func(plan.Target, prompt.Tokenizer, bool) endpoint.Decoder {
			return predict.NewDecoder(true)
		},
		plan.ProtocolTorchServe: func(plan.Target, prompt.Tokenizer, bool) endpoint.Decoder {
			return predict.NewDecoder(false)
		},
		plan.ProtocolTriton: func(t plan.Target, tok prompt.Tokenizer, own bool) endpoint.Decoder {
			return triton.NewDecoder(t, tok, own)
		},
	}
}

// sources are where prompts come from, by the name that a plan has for them.
func sources(getenv func(string) string) map[string]SourceFactory {
	return map[string]SourceFactory{
		plan.SourceSynthetic: newTexts,
		plan.SourceFile: func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
			return promptfile.New(d, tok, seed, prompt.Files(d).ReadFile)
		},
		plan.SourceTensors: func(d plan.Data, _ prompt.Tokenizer, seed uint64) (prompt.Source, error) {
			return tensordata.New(d, seed)
		},
		plan.SourceRandom: func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
			return random.New(d, tok, seed, prompt.Files(d).ReadFile)
		},
		plan.SourceSharedPrefix: func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
			return sharedprefix.New(d, tok, seed)
		},
		plan.SourceConversationReplay: func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
			return conversations.New(d, tok, seed)
		},
		plan.SourceDataset: func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
			return dataset.New(d, tok, seed, getenv)
		},
		plan.SourceOtelTrace: func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
			return oteltrace.New(d, tok, seed, getenv)
		},
		plan.SourceWekaTrace: func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
			return wekatrace.New(d, tok, seed, getenv)
		},
		plan.SourceAgents: func(d plan.Data, tok prompt.Tokenizer, _ uint64) (prompt.Source, error) {
			return agents.New(d, tok)
		},
		plan.SourcePayload: func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
			return talks.NewPayload(d, tok, seed, newTexts, prompt.Files(d).ReadFile)
		},
		plan.SourceSessions: func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
			return talks.NewSessions(d, tok, seed, newTexts)
		},
		plan.SourceMock: func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
			return mockdata.New(d, tok, seed), nil
		},
	}
}

// newTexts makes a source of synthetic texts.
func newTexts(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
	return synthetic.New(d, tok, seed)
}

// Pick finds a name in one of the kit's tables.
func Pick[F any](table map[string]F, what, name string) (F, error) {
	f, ok := table[name]
	if !ok {
		return f, fmt.Errorf("there is no %s %q", what, name)
	}
	return f, nil
}
