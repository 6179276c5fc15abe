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
	"inferometer/internal/plan"
	"inferometer/internal/prompt"
	"inferometer/internal/prompt/conversations"
	"inferometer/internal/prompt/dataset"
	"inferometer/internal/prompt/mockdata"
	"inferometer/internal/prompt/oteltrace"
	"inferometer/internal/prompt/promptfile"
	"inferometer/internal/prompt/random"
	"inferometer/internal/prompt/sharedprefix"
	"inferometer/internal/prompt/synthetic"
	"inferometer/internal/prompt/tensordata"
	"inferometer/internal/tokensource"
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
	// Tell tells the user of what takes long, before it is done; nil: nobody listens.
	Tell func(text string)
}

// EndpointFactory makes an endpoint of a target.
type EndpointFactory func(t plan.Target, o endpoint.Options) (endpoint.Endpoint, error)

// TokenizerFinder finds the tokenizer that a user names, and its chat template.
type TokenizerFinder func(ctx context.Context, name, revision string) (*tokensource.Found, error)

// DecoderFactory makes the decoder of an endpoint's answers. own: the tokenizer is
// that of the model.
type DecoderFactory func(t plan.Target, tok prompt.Tokenizer, own bool) endpoint.Decoder

// SourceFactory makes a source of prompts.
type SourceFactory func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error)

// Default is everything that is built in.
func Default() Kit {
	return Kit{
		Endpoints: map[string]EndpointFactory{
			plan.ProtocolOpenAI: func(t plan.Target, o endpoint.Options) (endpoint.Endpoint, error) { return openai.New(t, o) },
			plan.ProtocolAnthropic: func(t plan.Target, o endpoint.Options) (endpoint.Endpoint, error) {
				e, err := anthropic.New(t, o)
				if err != nil {
					return nil, err
				}
				return e, nil
			},
			plan.ProtocolHTTP: func(t plan.Target, o endpoint.Options) (endpoint.Endpoint, error) {
				e, err := jsonhttp.New(t, o)
				if err != nil {
					return nil, err
				}
				return e, nil
			},
			plan.ProtocolTFServing: func(t plan.Target, o endpoint.Options) (endpoint.Endpoint, error) {
				e, err := predict.NewTensorFlow(t, o)
				if err != nil {
					return nil, err
				}
				return e, nil
			},
			plan.ProtocolTorchServe: func(t plan.Target, o endpoint.Options) (endpoint.Endpoint, error) {
				e, err := predict.NewTorch(t, o)
				if err != nil {
					return nil, err
				}
				return e, nil
			},
			plan.ProtocolTriton: func(t plan.Target, o endpoint.Options) (endpoint.Endpoint, error) {
				e, err := triton.New(t, o)
				if err != nil {
					return nil, err
				}
				return e, nil
			},
		},
		Decoders: map[string]DecoderFactory{
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
		},
		Sources: map[string]SourceFactory{
			plan.SourceSynthetic: func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
				return synthetic.New(d, tok, seed)
			},
			plan.SourceFile: func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
				return promptfile.New(d, tok, seed, os.ReadFile)
			},
			plan.SourceTensors: func(d plan.Data, _ prompt.Tokenizer, seed uint64) (prompt.Source, error) {
				return tensordata.New(d, seed)
			},
			plan.SourceRandom: func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
				return random.New(d, tok, seed, os.ReadFile)
			},
			plan.SourceSharedPrefix: func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
				return sharedprefix.New(d, tok, seed)
			},
			plan.SourceConversationReplay: func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
				return conversations.New(d, tok, seed)
			},
			plan.SourceDataset: func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
				return dataset.New(d, tok, seed, os.Getenv)
			},
			plan.SourceOtelTrace: func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
				return oteltrace.New(d, tok, seed)
			},
			plan.SourceMock: func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
				return mockdata.New(d, tok, seed), nil
			},
		},
		Probes:     probes(),
		Pages:      newPage,
		Archives:   newArchive,
		Tokenizers: tokensource.Finder{Env: os.Getenv}.Find,
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
